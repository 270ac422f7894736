#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each connect() leads to exactly one accept(), whatever is duplicated or lost.
#
#	HOST[0] ---- LEAF[0] ---- HOST[1]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_netem sch_ingress act_gact cls_u32
require_program python3
tap_plan 6

once() {
	local name=$1 n=$2 port=$3 bad=0	# at once: $4

	serve "${HOST[1]}" -d -n "$n" "$port"
	fetch "${HOST[0]}" -d -n "$n" -j "$4" "${ADDRESS[1]}" "$port" || bad=1
	served || bad=1
	is "$name: accepts = connects" "$(tail -n 1 "$TMP/listen")" "accepted $n failed 0"
	check "$name: all served" [ $bad -eq 0 ]
}

leaf_spine hosts=2 leaves=1 spines=1 rate=1gbit mtu=9000
for p in h0 h1; do
	tc -n "${LEAF[0]}" qdisc replace dev $p root netem duplicate 100% delay 1ms 1ms ||
		die "no netem"
done
watch_data "${HOST[1]}"
once "all duplicated and reordered" $((1000 / FEWER)) 5000 20
check "openings came twice" [ "$(watched twice)" -gt $((500 / FEWER)) ]

for p in h0 h1; do
	tc -n "${LEAF[0]}" qdisc replace dev $p root ndp limit 8
done
# Twice the lifetime of a tombstone that is kept briefly.
lose_for 4 $ACK 0 drop
once "no ACK for 4 s" $((1000 / FEWER)) 5001 $((200 / FEWER))
lost "no ACK for 4 s: some were lost"
