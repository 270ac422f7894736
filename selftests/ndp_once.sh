#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each connect() leads to one accept(), whatever is duplicated or lost.
#
#	HOST[0] ---- LEAF[0] ---- HOST[1]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_netem act_gact cls_u32

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
once "all duplicated and reordered" $((1000 / FEWER)) 5000 20

for p in h0 h1; do
	tc -n "${LEAF[0]}" qdisc replace dev $p root ndp limit 8
done
# No ACK comes back for 4 s, twice the time that a brief tombstone lives.
tc -n "${LEAF[0]}" qdisc add dev h1 clsact || die "no clsact"
tc -n "${LEAF[0]}" filter add dev h1 ingress protocol ip u32 match ip protocol 17 0xff \
	match u8 0x02 0x0f at 28 action drop || die "no filter"
(
	sleep 4
	tc -n "${LEAF[0]}" qdisc del dev h1 clsact
) &
once "no ACK for 4 s" $((1000 / FEWER)) 5001 $((200 / FEWER))
