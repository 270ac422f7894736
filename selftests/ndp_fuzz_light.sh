#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp_fuzz's packets over TCPlight: what is broken, lost, copied, overtaken or made up on a
# network that was taken for a lossless one.  There are fewer packets than over others, so it
# takes forty rounds of each until all has happened that the test asks for, several times over;
# under NDP_FULL=1 as many as over NDP.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp ndp_light
tap_plan 2

[ -n "${NDP_FULL-}" ] || export ROUNDS=${ROUNDS:-40}
export NDP_TRANSPORT=light
check "accidents" ndp_fuzz -t accidents
check "lies" ndp_fuzz -t lies
