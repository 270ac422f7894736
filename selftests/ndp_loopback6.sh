#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_NDP over IPv6 within a host: ndp_loopback.sh over IPv6.
FAMILY=6 exec "$(dirname "$0")/ndp_loopback.sh"
