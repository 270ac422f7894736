#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A transport is invisible to applications: all cases of the oracle over one that is not
# NDP's (modules/ndp_fixed.c).  Over a cable; under NDP_FULL=1 also over loopback and IPv6.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp ndp_fixed
tap_plan 6

begun() { cat /sys/module/ndp_fixed/parameters/begun; }

export NDP_TRANSPORT=fixed
[ -n "${NDP_FULL-}" ] && variants=() || variants=(-v wire)
for oracle in ndp_oracle ndp_oracle_open ndp_oracle_system; do
	before=$(begun)
	check "$oracle" "$oracle" "${variants[@]}"
	connections=$(($(begun) - before))
	[ $connections -ge 50 ] && ok "$oracle: connections had the transport" ||
		fail "$oracle: connections had the transport" "$connections"
done
