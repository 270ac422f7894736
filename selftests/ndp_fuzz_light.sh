#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp_fuzz over TCPlight: packets are corrupted, lost, duplicated, reordered or forged on a
# network that is assumed to be lossless.  There are fewer packets than over other transports, so
# it takes forty rounds of each test until every event that it requires has happened several
# times; NDP_FULL=1 runs as many rounds as over NDP.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp ndp_light
tap_plan 2

[ -n "${NDP_FULL-}" ] || export ROUNDS=${ROUNDS:-40}
export NDP_TRANSPORT=light
check "accidents" ndp_fuzz -t accidents
check "lies" ndp_fuzz -t lies
