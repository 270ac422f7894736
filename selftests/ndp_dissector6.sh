#!/bin/bash
# SPDX-License-Identifier: GPL-2.0

# ndp_dissector.sh over IPv6
FAMILY=6 exec "$(dirname "$0")/ndp_dissector.sh"
