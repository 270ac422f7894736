#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp_reflect over TCPlight: what a forged opening makes a server send to a third host, where the
# transport has no window of its own to limit it.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp ndp_light
tap_plan 1

NDP_TRANSPORT=light check "forged openings" ndp_reflect -v ip4
