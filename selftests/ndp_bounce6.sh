#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Headers of IPv6 come back to their senders: ndp_bounce.sh in its words.
FAMILY=6 exec "$(dirname "$0")/ndp_bounce.sh"
