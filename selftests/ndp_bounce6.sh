#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Headers of IPv6 are returned to their senders: ndp_bounce.sh over IPv6.
FAMILY=6 exec "$(dirname "$0")/ndp_bounce.sh"
