#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A transport is invisible to applications: all cases of the oracle over TCPlight, where the
# fabric provides reliability.  Over a cable; under NDP_FULL=1 also over loopback and IPv6.
. "$(dirname "$0")/lib_ndp.sh"

oracles_over light
