#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Devices of all kinds over IPv6: ndp_networks.sh over IPv6.
FAMILY=6 exec "$(dirname "$0")/ndp_networks.sh"
