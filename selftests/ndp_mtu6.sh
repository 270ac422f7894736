#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Path MTU over IPv6: ndp_mtu.sh over IPv6.
FAMILY=6 exec "$(dirname "$0")/ndp_mtu.sh"
