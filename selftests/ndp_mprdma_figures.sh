#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rates of MP-RDMA in virtual time: its share of each link, paths that are slow or lose, and
# the queue, the fairness and the marks that the theory of the paper's section 3.2.1 predicts.

. "$(dirname "$0")/lib_mprdma.sh"

tap_plan 13
four_paths

matrix 0 "${ACROSS[@]}"
bench fair -f "$TMP/matrix" -t 8 -w 2
say "$(flows_of fair "[round(x['gbps'], 2) for x in f]")"
# Of 10 Gb/s 9.33 are payload.
exact "each has 95 % of its link, of the payload's share" \
	flows_true fair "min(x['gbps'] for x in f) > 8.86"

# A lone flow fills all its paths, of a quarter of its link's rate each: the path with the longest
# queue, if shorter than a port's marks allow, is slow, but its packets are not declared lost.
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

# One of four paths at a fortieth of the rate: its share of the load must go to others.
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
ip -n "${LEAF[0]}" link set u3 type netwire rate 10gbit

# Three of four paths lose packets: the flow takes the fourth.
matrix 0 0-\>4
for ber in 4.1e-7 8.6e-6; do
	on_paths ber $ber
	bench lossy -f "$TMP/matrix" -t 30 -w 15
	say "ber $ber: Gb/s, sent again, timeouts $(flows_of lossy \
		"[(round(x['gbps'], 2), x['retrans'], x['timeouts']) for x in f]")"
	exact "three paths lose (ber $ber): 9 of 10 Gb/s" \
		flows_true lossy "f[0]['gbps'] > 0.9 * 9.336"
done
ns_del_all

# A single bottleneck (section 3.2.1): by its equations 1 to 3, eight flows into one 10 Gb/s port
# have a window of 2 (1 - F) / F, and the part of their windows that is not on the wire is queued:
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
# Within 25 ms the fairness index is 0.991 to 0.998 by chance, within 65 ms more than 0.997.
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

# Paths of 20, 40, 60 and 80 Gb/s whose ports mark by different curves are used so that all
# mark the same share (section 3.2.1 and figure 5).  The slowest path has the longest queue in
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
# Packets that left by each path, and how many of them were marked
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
