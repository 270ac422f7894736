#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MP-RDMA over four paths between two leaves: ECN marks, bounded reordering, paths that lose,
# fail or are slow.  All data is compared, and counters of hosts and ports are added up.
# What depends on timing is checked where time is virtual; rates are ndp_mprdma_figures.sh's.

. "$(dirname "$0")/lib_mprdma.sh"

tap_plan 31

# Packets that all ports have marked since they were created
marked() {
	local ns sum=0

	for ns in "${LEAF[@]}" "${SPINE[@]}"; do
		sum=$((sum + $(tc -n "$ns" -j -s qdisc show | python3 -SE -c '
import json, sys
print(sum(q["prio3"].get("marked", 0) for q in json.load(sys.stdin) if q["kind"] == "cee"))')))
	done
	echo $sum
}

# on_ports QDISC OPTIONS...: at all ports of the switches
on_ports() {
	local ns dev

	for ns in "${LEAF[@]}" "${SPINE[@]}"; do
		for dev in $(ip -n "$ns" -br link | awk -F'[ @]' '/^[hud][0-9]/ { print $1 }'); do
			tc -n "$ns" qdisc replace dev "$dev" root "$@"
		done
	done
}

# Values that the kernel must refuse
refuse "delta of 0" parameter delta 0
refuse "slots beyond the window" parameter slots 4097
refuse "a probability above 1" parameter probe 1001

four_paths

# All bytes and all marks arrive, with two flows to one host.  A packet that two ports have
# marked, one after the other, arrives as one mark.
matrix 3000000 0-\>4 1-\>4 2-\>6 3-\>7
check "four flows over four paths: every byte" bench whole --verify --acked -f "$TMP/matrix"
arrived=$(ndp_total MarkedIn "${HOST[@]}")
check "what ports have marked arrived marked" [ "$arrived" -le "$(marked)" ]
check "and was told of" [ "$(ndp_total EceIn "${HOST[@]}")" -le "$arrived" ]
exact "each mark" flows_true whole "sum(x['marks'] for x in f) == $arrived > 0"
exact "and hardly a packet was marked twice" [ $((arrived * 20)) -gt $(($(marked) * 19)) ]
is "nobody had no room" "$(ndp_total NoRoomIn "${HOST[@]}")" 0
exact "nothing was lost, and nothing sent again" flows_true whole \
	"all(x['retrans'] == x['timeouts'] == x['early'] == 0 for x in f)"
exact "disorder is below delta" flows_true whole "0 < max(x['ooo'] for x in f) < 32"

# NDP's own packets are not ECN-capable, and its answers report no marks.
before=$(ndp_total MarkedIn "${HOST[@]}")
bench plain -p ndp -f "$TMP/matrix"
is "NDP's DATA is not marked" "$(ndp_total MarkedIn "${HOST[@]}")" "$before"

# A quarter of the receiver's slots
parameter slots 16
parameter delta 8
matrix 3000000 "${ACROSS[@]}"
check "16 slots: every byte" bench slots --verify -f "$TMP/matrix"
check "16 slots: nothing further ahead was taken" flows_true slots "max(x['ooo'] for x in f) < 16"
parameter slots 64
parameter delta 32

# One of four paths at a fortieth of the rate
on_paths rate 10gbit
ip -n "${LEAF[0]}" link set u3 type netwire rate 250mbit
matrix 2000000 "${ACROSS[@]}"
check "a path at a fortieth: every byte" bench degraded --verify -f "$TMP/matrix"
ip -n "${LEAF[0]}" link set u3 type netwire rate 10gbit

# Three of four paths lose packets
matrix 4000000 0-\>4
for ber in 4.1e-7 8.6e-6; do
	on_paths ber $ber
	check "three paths lose (ber $ber): every byte" bench lossy --verify -f "$TMP/matrix"
done
on_paths ber 0

# Three of four paths fail in the middle of a flow, one after another: packets that a leaf sends
# along them are lost.  Of 32 source ports some eight are left; in one flow of a thousand, all of
# a first window of 14 packets and ten more miss these, and time out: 24, and ten of a restart.
matrix 8000000 "${ACROSS[@]}"
bench failing --verify -f "$TMP/matrix" &
for s in 0 1 2; do
	sleep 0.002
	tc -n "${LEAF[0]}" qdisc replace dev "u$s" root blackhole
done
check "three paths fail under way: every byte" wait $!
say "timeouts, sent again $(flows_of failing "[(x['timeouts'], x['retrans']) for x in f]")"
exact "and hardly a timeout" flows_true failing "sum(x['timeouts'] for x in f) <= 34"
# A flow that begins now has to find the fourth path.
check "three paths that have failed: every byte" bench failed --verify -f "$TMP/matrix"
say "timeouts, sent again $(flows_of failed "[(x['timeouts'], x['retrans']) for x in f]")"
exact "and hardly a timeout" flows_true failed "sum(x['timeouts'] for x in f) <= 34"
for s in 0 1 2; do
	# shellcheck disable=SC2086
	tc -n "${LEAF[0]}" qdisc replace dev "u$s" root $MARKS
done

# All paths are dead for 400 us, less than a timeout: one packet after the other probes for a path,
# and packets that were in flight do not wait for their timeout.
matrix 0 "${ACROSS[@]}"
bench dead -f "$TMP/matrix" -t 20 -w 1 &
sleep 0.01
for s in 0 1 2 3; do
	tc -n "${LEAF[0]}" qdisc replace dev "u$s" root blackhole
done
sleep 0.0004
for s in 0 1 2 3; do
	# shellcheck disable=SC2086
	tc -n "${LEAF[0]}" qdisc replace dev "u$s" root $MARKS
done
check "all paths dead for a while" wait $!
say "timeouts $(flows_of dead "[x['timeouts'] for x in f]")," \
	"again $(flows_of dead "[x['retrans'] for x in f]")"
exact "and no timeout" flows_true dead "sum(x['timeouts'] for x in f) == 0"

# Three paths lose in both directions, even half of the short answers; of 32 paths some two work
# in both directions.
matrix 4000000 "${ACROSS[@]}"
for s in 0 1 2; do
	ip -n "${LEAF[0]}" link set "u$s" type netwire ber 1e-3
done
check "three paths whose answers are lost too: every byte" bench deaf --verify -f "$TMP/matrix"
say "timeouts, sent again $(flows_of deaf "[(x['timeouts'], x['retrans']) for x in f]")"
on_paths ber 0

# Ports that drop, and do not mark
on_ports pfifo limit 30
matrix 3000000 "${ACROSS[@]}"
check "ports that drop: every byte" bench drops --verify -f "$TMP/matrix"
matrix 1000000 {0,1,2,3,5,6,7}-\>4
check "7:1 through ports that drop: every byte" bench drops --verify -f "$TMP/matrix"
say "timeouts, sent again $(flows_of drops "[(x['timeouts'], x['retrans']) for x in f]")"
check "and no more than twice as many packets" flows_true drops \
	"sum(x['retrans'] for x in f) < 7 * 1000000 / 1400"

# sch_ndp trims, and marks.  Where time is real, ports are slower than what a slow machine
# sends.
slow=()
virtual_time || slow=(rate 10mbit)
on_ports ndp limit 30 ecn 10 "${slow[@]}"
before=$(ndp_total TrimmedIn "${HOST[@]}")
check "7:1 through ports that trim: every byte" bench trims --verify -f "$TMP/matrix"
check "some were trimmed" [ "$(ndp_total TrimmedIn "${HOST[@]}")" -gt "$before" ]
check "and others marked" flows_true trims "sum(x['marks'] for x in f) > 0"
check "all connections end" wait_for 20 quiet "${HOST[@]}"
