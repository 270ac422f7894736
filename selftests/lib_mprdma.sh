# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the tests of MP-RDMA: its parameters, which they may change, and a fabric with four
# paths between two leaves.  The paper's values are those of its section 5: RED at 20 KB, four
# paths, delta 32, 64 slots.
#
#	HOST[0..3] - LEAF[0] = SPINE[0..3] = LEAF[1] - HOST[4..7]
#
#	parameter NAME VALUE	set a parameter of the module until the test ends
#	bench NAME ARGS...	bench_hosts with MP-RDMA
#	four_paths		the fabric
#	on_paths OPTIONS...	set netwire options on the first three paths to LEAF[1]

. "$(dirname "$0")/lib_ndp.sh"

require_program python3 ndp_bench ethtool
require_module ndp ndp_mprdma sch_cee

LOSSLESS="cee dscp 0-63:3 ring 200k"
MARKS="$LOSSLESS prio 3 ecn red min 20000 max 20000"
PARAMETERS=/sys/module/ndp_mprdma/parameters
# Flows from each host of the first leaf to one of the second
# shellcheck disable=SC2034
ACROSS=("0->4" "1->5" "2->6" "3->7")

parameter() { echo "$2" >$PARAMETERS/"$1"; }
trap 'parameter delta 32; parameter slots 64; lib_cleanup' EXIT

bench() { bench_hosts mprdma "$@"; }

four_paths() {
	leaf_spine hosts=8 spines=4 leaves=2 rate=10gbit hostq="$LOSSLESS" switchq="$MARKS"
	set_ndp base_rtt_us=15 "${HOST[@]}"
}

on_paths() {
	local s

	for s in 0 1 2; do
		ip -n "${LEAF[0]}" link set "u$s" type netwire "$@"
		ip -n "${SPINE[s]}" link set d1 type netwire "$@"
	done
}
