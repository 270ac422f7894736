#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# No round trip over IPv6: ndp_zerortt.sh over IPv6.
FAMILY=6 exec "$(dirname "$0")/ndp_zerortt.sh"
