#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp_fuzz's packets over DCQCN: what is broken, lost, copied, overtaken or made up meets
# go-back-N.  Ten rounds of each have all happen that the test asks for, several times over;
# under NDP_FULL=1 as many as over NDP.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp ndp_dcqcn
tap_plan 2

[ -n "${NDP_FULL-}" ] || export ROUNDS=${ROUNDS:-10}
export NDP_TRANSPORT=dcqcn
check "accidents" ndp_fuzz -t accidents
check "lies" ndp_fuzz -t lies
