#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The path scoreboard over IPv6: ndp_paths.sh over IPv6.
FAMILY=6 exec "$(dirname "$0")/ndp_paths.sh"
