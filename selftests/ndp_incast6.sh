#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An incast over IPv6, whose ports trim IPv6 packets: ndp_incast.sh over IPv6.
FAMILY=6 exec "$(dirname "$0")/ndp_incast.sh"
