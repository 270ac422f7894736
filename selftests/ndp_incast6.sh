#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An incast over IPv6, whose ports trim packets of IPv6: ndp_incast.sh in its words.
FAMILY=6 exec "$(dirname "$0")/ndp_incast.sh"
