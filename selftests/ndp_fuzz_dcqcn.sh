#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp_fuzz over DCQCN, whose go-back-N meets packets that are corrupted, lost, duplicated,
# reordered or forged.  In ten rounds of each test, every event that it requires happens several
# times; NDP_FULL=1 runs as many rounds as over NDP.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp ndp_dcqcn
tap_plan 2

[ -n "${NDP_FULL-}" ] || export ROUNDS=${ROUNDS:-10}
export NDP_TRANSPORT=dcqcn
check "accidents" ndp_fuzz -t accidents
check "lies" ndp_fuzz -t lies
