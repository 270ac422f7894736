#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MP-RDMA over four paths between two leaves, and over one port: marks, the window that
# follows them, disorder within bounds, paths that lose, fail or are slow.  What is sent is
# compared whole, and counters of hosts and ports are added up.  What hangs on time is
# asked where it is virtual.
#
#	HOST[0..3] - LEAF[0] = SPINE[0..3] = LEAF[1] - HOST[4..7]
#
# The paper's values are those of its section 5: RED at 20 KB, four paths, delta 32, 64 slots.

. "$(dirname "$0")/lib_ndp.sh"

require_program python3 ndp_bench ethtool
require_module ndp ndp_mprdma sch_cee
tap_plan 44

LOSSLESS="cee dscp 0-63:3 ring 200k"
MARKS="$LOSSLESS prio 3 ecn red min 20000 max 20000"
PARAMETERS=/sys/module/ndp_mprdma/parameters

parameter() { echo "$2" >$PARAMETERS/"$1"; }
trap 'parameter delta 32; parameter slots 64; lib_cleanup' EXIT

bench() { bench_hosts mprdma "$@"; }
# Those of the first leaf to those of the other
ACROSS=("0->4" "1->5" "2->6" "3->7")

# Marks that all ports have set since they were made
marked() {
	local ns sum=0

	for ns in "${LEAF[@]}" "${SPINE[@]}"; do
		sum=$((sum + $(tc -n "$ns" -j -s qdisc show | python3 -SE -c '
import json, sys
print(sum(q["prio3"].get("marked", 0) for q in json.load(sys.stdin) if q["kind"] == "cee"))')))
	done
	echo $sum
}

# QDISC OPTIONS...: at all ports of the switches
on_ports() {
	local ns dev

	for ns in "${LEAF[@]}" "${SPINE[@]}"; do
		for dev in $(ip -n "$ns" -br link | awk -F'[ @]' '/^[hud][0-9]/ { print $1 }'); do
			tc -n "$ns" qdisc replace dev "$dev" root "$@"
		done
	done
}

on_paths() {
	local s

	for s in 0 1 2; do
		ip -n "${LEAF[0]}" link set "u$s" type netwire "$@"
		ip -n "${SPINE[s]}" link set d1 type netwire "$@"
	done
}

# Numbers that no kernel would take
refuse "delta of 0" parameter delta 0
refuse "slots beyond the window" parameter slots 4097
refuse "a probability above 1" parameter probe 1001

leaf_spine hosts=8 spines=4 leaves=2 rate=10gbit hostq="$LOSSLESS" switchq="$MARKS"
set_ndp base_rtt_us=15 "${HOST[@]}"

# All of the bytes, and all of the marks: two go to one host.  What two ports have marked, one
# behind the other, arrives as one.
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

# NDP's own are not ECN-capable, and its answers tell of no marks.
before=$(ndp_total MarkedIn "${HOST[@]}")
bench plain -p ndp -f "$TMP/matrix"
is "NDP's DATA is not marked" "$(ndp_total MarkedIn "${HOST[@]}")" "$before"

matrix 0 "${ACROSS[@]}"
bench fair -f "$TMP/matrix" -t 8 -w 2
say "$(flows_of fair "[round(x['gbps'], 2) for x in f]")"
# Of 10 Gb/s 9.33 are payload.
exact "each has 95 % of its link, of the payload's share" \
	flows_true fair "min(x['gbps'] for x in f) > 8.86"

# A lone flow whose paths are each a quarter of its link fills them all: a path whose queue is
# the longest, by less than a port's marks allow, is slow and no more than that.
for s in 0 1 2 3; do
	ip -n "${LEAF[0]}" link set "u$s" type netwire rate 2500mbit
	ip -n "${SPINE[s]}" link set d1 type netwire rate 2500mbit
done
matrix 0 0-\>4
bench lone -f "$TMP/matrix" -t 60 -w 30
say "lone: Gb/s, sent again, disorder" \
	"$(flows_of lone "[(round(x['gbps'], 2), x['retrans'], x['ooo']) for x in f]")"
exact "a lone flow over four paths of a quarter each: 90 %" \
	flows_true lone "f[0]['gbps'] > 0.9 * 9.336"
exact "and hardly a packet is taken for lost" flows_true lone "f[0]['retrans'] < 40"
on_paths rate 10gbit
ip -n "${LEAF[0]}" link set u3 type netwire rate 10gbit
ip -n "${SPINE[3]}" link set d1 type netwire rate 10gbit

# A third of the receiver's slots
parameter slots 16
parameter delta 8
matrix 3000000 "${ACROSS[@]}"
check "16 slots: every byte" bench slots --verify -f "$TMP/matrix"
check "16 slots: nothing further ahead was taken" flows_true slots "max(x['ooo'] for x in f) < 16"
parameter slots 64
parameter delta 32

# One of four paths at a fortieth: its share of the load must go to others.
on_paths rate 10gbit
ip -n "${LEAF[0]}" link set u3 type netwire rate 250mbit
matrix 0 "${ACROSS[@]}"
parameter slots 4096
bench degraded -f "$TMP/matrix" -t 20 -w 10
say "delta 32: disorder and Gb/s" \
	"$(flows_of degraded "[(x['ooo'], round(x['gbps'], 2)) for x in f]")"
parameter slots 64
bench degraded -f "$TMP/matrix" -t 20 -w 10
say "64 slots: refused and Gb/s" \
	"$(flows_of degraded "[(x['early'], round(x['gbps'], 2)) for x in f]")"
exact "a path at a fortieth: 95 % of what is left" \
	flows_true degraded "sum(x['gbps'] for x in f) > 0.95 * (30.25 * 0.9336)"
matrix 2000000 "${ACROSS[@]}"
check "and every byte" bench degraded --verify -f "$TMP/matrix"
ip -n "${LEAF[0]}" link set u3 type netwire rate 10gbit

# Three of four paths lose: the flow goes by the fourth.
for ber in 4.1e-7 8.6e-6; do
	on_paths ber $ber
	matrix 0 0-\>4
	bench lossy -f "$TMP/matrix" -t 30 -w 15
	say "ber $ber: Gb/s, sent again, timeouts $(flows_of lossy \
		"[(round(x['gbps'], 2), x['retrans'], x['timeouts']) for x in f]")"
	exact "three paths lose (ber $ber): 9 of 10 Gb/s" \
		flows_true lossy "f[0]['gbps'] > 0.9 * 9.336"
	matrix 4000000 0-\>4
	check "and every byte" bench lossy --verify -f "$TMP/matrix"
done
on_paths ber 0

# Three of four paths fail in the middle of a flow, one after another: what a leaf sends along
# them is lost.  Of 32 source ports some eight are left; in one flow of a thousand a first
# window of 14 packets and ten more take none of these, and time out: 24, and ten of a restart.
matrix 8000000 "${ACROSS[@]}"
bench failing --verify -f "$TMP/matrix" &
for s in 0 1 2; do
	sleep 0.002
	tc -n "${LEAF[0]}" qdisc replace dev "u$s" root blackhole
done
check "three paths fail under way: every byte" wait $!
say "timeouts, sent again $(flows_of failing "[(x['timeouts'], x['retrans']) for x in f]")"
exact "and hardly a timeout" flows_true failing "sum(x['timeouts'] for x in f) <= 34"
# A flow that begins now has to find the fourth.
check "three paths that have failed: every byte" bench failed --verify -f "$TMP/matrix"
say "timeouts, sent again $(flows_of failed "[(x['timeouts'], x['retrans']) for x in f]")"
exact "and hardly a timeout" flows_true failed "sum(x['timeouts'] for x in f) <= 34"
for s in 0 1 2; do
	# shellcheck disable=SC2086
	tc -n "${LEAF[0]}" qdisc replace dev "u$s" root $MARKS
done

# All paths are dead for 400 us, less than a timeout: one packet after the other asks for a way,
# and what was in flight does not wait for its timeout.
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

# Both ways lose: half of the answers by these paths as well, and a path is whole if both of
# its ways are, some two of 32.
matrix 4000000 "${ACROSS[@]}"
for s in 0 1 2; do
	ip -n "${LEAF[0]}" link set "u$s" type netwire ber 1e-3
done
check "three paths whose answers are lost too: every byte" bench deaf --verify -f "$TMP/matrix"
say "timeouts, sent again $(flows_of deaf "[(x['timeouts'], x['retrans']) for x in f]")"
on_paths ber 0

# Where nobody marks and ports drop
on_ports pfifo limit 30
matrix 3000000 "${ACROSS[@]}"
check "ports that drop: every byte" bench drops --verify -f "$TMP/matrix"
matrix 1000000 {0,1,2,3,5,6,7}-\>4
check "7:1 through ports that drop: every byte" bench drops --verify -f "$TMP/matrix"
say "timeouts, sent again $(flows_of drops "[(x['timeouts'], x['retrans']) for x in f]")"
check "and no more than twice as many packets" flows_true drops \
	"sum(x['retrans'] for x in f) < 7 * 1000000 / 1400"

# sch_ndp trims it, and marks.
on_ports ndp limit 30 ecn 10
before=$(ndp_total TrimmedIn "${HOST[@]}")
check "7:1 through ports that trim: every byte" bench trims --verify -f "$TMP/matrix"
check "some were trimmed" [ "$(ndp_total TrimmedIn "${HOST[@]}")" -gt "$before" ]
check "and others marked" flows_true trims "sum(x['marks'] for x in f) > 0"
check "all connections end" wait_for 20 quiet "${HOST[@]}"
ns_del_all

# A single bottleneck (section 3.2.1): by its equations 1 to 3 eight flows of 10 Gb/s into one
# have a window of 2 (1 - F) / F, and what of their windows is not on the wire waits:
# q = N W - C d.  With RED (20, 200, 0.8), d = 100 us and packets of 1514 bytes q is 45.
HOSTS_Q="cee dscp 0-63:3 cable 25us"
leaf_spine hosts=9 spines=1 leaves=1 rate=10gbit delay=24300ns hostq="$HOSTS_Q" \
	switchq="$HOSTS_Q prio 3 ecn red min 30280 max 302800 probability 0.8"
set_ndp base_rtt_us=20 "${HOST[@]}"
matrix 0 {1..8}-\>0
queue() {
	local i

	for ((i = 0; i < 100; i++)); do
		sleep 0.0001
		tc_stat "${LEAF[0]}" h0 qlen
	done | awk '{ sum += $1 } END { print sum / NR }'
}
# In 25 ms the index of fairness is 0.991 to 0.998 by chance, in 65 ms more than 0.997.
bench fixpoint -f "$TMP/matrix" -t 80 -w 15 &
sleep 0.02
q=$(queue)
wait $!
say "queue $q, $(flows_of fixpoint "[round(x['gbps'], 3) for x in f]")"
exact "one port: the queue that theory says, within 10 %" \
	awk -v q="$q" 'BEGIN { exit !(q > 40.5 && q < 49.5) }'
exact "and all of its rate" flows_true fixpoint "sum(x['gbps'] for x in f) > 0.98 * 9.336"
exact "shared fairly" flows_true fixpoint \
	"sum(x['gbps'] for x in f) ** 2 / 8 / sum(x['gbps'] ** 2 for x in f) > 0.99"
check "all connections end" wait_for 20 quiet "${HOST[@]}"
ns_del_all

# Paths of 20, 40, 60 and 80 Gb/s whose ports mark by curves of their own are used so that all
# mark the same share (section 3.2.1 and figure 5).  The queue of the slowest is the longest in
# time: with the usual delta its packets would be late, and it would be used less than that.
parameter slots 1024
parameter delta 512
HOSTS_Q="cee dscp 0-63:3 ring 200k"
leaf_spine hosts=20 spines=4 leaves=2 rate=40gbit delay=1900ns hostq="$HOSTS_Q" \
	switchq="$HOSTS_Q"
set_ndp base_rtt_us=16 "${HOST[@]}"
for s in 0 1 2 3; do
	ip -n "${LEAF[0]}" link set "u$s" type netwire rate $((20 * s + 20))gbit
	ip -n "${SPINE[s]}" link set d1 type netwire rate $((20 * s + 20))gbit
	tc -n "${LEAF[0]}" qdisc replace dev "u$s" root cee dscp 0-63:3 ring 200k \
		prio 3 ecn red min 30280 max 302800 probability "0.$((2 * s + 2))" || die "no RED"
done
matrix 0 {0-\>10,1-\>11,2-\>12,3-\>13,4-\>14,5-\>15,6-\>16,7-\>17,8-\>18,9-\>19}
# Packets that left by each path, and how many of them marked
passed() {
	local s

	for s in 0 1 2 3; do
		tc -n "${LEAF[0]}" -j -s qdisc show dev "u$s" | python3 -SE -c '
import json, sys
p = json.load(sys.stdin)[0]["prio3"]
print(p["sent"], p["marked"])'
	done
}
bench marking -f "$TMP/matrix" -t 15 -w 10 &
sleep 0.01
passed >"$TMP/before"
wait $!
passed >"$TMP/after"
shares() {
	paste "$TMP/before" "$TMP/after" | awk '{ printf "%.4f ", ($4 - $2) / ($3 - $1) }'
}
say "marked $(shares), Gb/s $(flows_of marking "round(sum(x['gbps'] for x in f), 1)")"
exact "four paths: none marks 15 % more or less than all" awk -v shares="$(shares)" '
	BEGIN {
		n = split(shares, f)
		for (i = 1; i <= n; i++)
			sum += f[i]
		for (i = 1; i <= n; i++)
			bad += f[i] < 0.85 * sum / n || f[i] > 1.15 * sum / n
		exit n != 4 || bad
	}'
exact "and all of their rate" flows_true marking "sum(x['gbps'] for x in f) > 0.95 * 186.7"
check "all connections end" wait_for 20 quiet "${HOST[@]}"
