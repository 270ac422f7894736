#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_NDP over IPv6 delivers every byte once and in order: ndp_integrity.sh over IPv6.
FAMILY=6 exec "$(dirname "$0")/ndp_integrity.sh"
