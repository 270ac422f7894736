#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Containers that share a host's device share its pull queue (NDP paper, section 3.2):
# together they pull as much as the link carries, and next to nothing is trimmed.
#
#	HOST[0] ----			      ---- C0, macvlan on eth0
#	HOST[1] ---- LEAF[0] ---- HOST[2] eth0
#					      ---- C1, macvlan or ipvlan on eth0
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
tap_plan 8

port() { tc_stat "${LEAF[0]}" h2 "$@"; }
container() {
	local ns=$1 kind=$2 number=$3

	ip -n "${HOST[2]}" link add "c$number" link eth0 type $kind &&
		ip -n "${HOST[2]}" link set "c$number" netns "$ns" &&
		ip -n "$ns" link set "c$number" mtu 9000 up &&
		ip -n "$ns" address add 10.1.2.1$number/24 dev "c$number" &&
		ip -n "$ns" route add default via 10.1.2.1 || die "no container $number"
}
# Send to both containers at once; sets DATA and TRIMMED: packets that the port got, and trimmed.
both() {
	local n trimmed data pids=()

	data=$(port data_in) trimmed=$(port trimmed_arrival trimmed_tail)
	for n in 0 1; do
		ns=C$n
		in_ns "${!ns}" timeout 200 ndp_xfer listen -n 1 500$n >"$TMP/listen.$n" 2>&1 &
		pids+=($!)
		wait_for 20 grep -q listening "$TMP/listen.$n" || die "no listener"
	done
	for n in 0 1; do
		fetch "${HOST[n]}" -s 6000000 10.1.2.1$n 500$n &
		pids+=($!)
	done
	for n in "${pids[@]}"; do
		wait "$n" || return 1
	done
	DATA=$(($(port data_in) - data)) TRIMMED=$(($(port trimmed_arrival trimmed_tail) - trimmed))
	say "of $DATA packets $TRIMMED were trimmed"
}

leaf_spine hosts=3 leaves=1 spines=1 rate=100mbit delay=10us mtu=9000
ns_add C0 C1
container "$C0" "macvlan mode bridge" 0
container "$C1" "macvlan mode bridge" 1
check "two macvlans: every byte" both
exact "little is trimmed" [ $((TRIMMED * 10)) -lt $DATA ]
# The queue is the host's: a pull rate that a container sets has no effect.
few=$TRIMMED
in_ns "$C0" sysctl -qw net.ndp.pull_rate_mbit=1
in_ns "$C1" sysctl -qw net.ndp.pull_rate_mbit=400
check "rates of the containers' own: every byte" both
exact "they are not heeded" [ $((TRIMMED * 10)) -lt $DATA ]
# To show that the queue is the cause: if the host pulls faster, more is trimmed.
in_ns "${HOST[2]}" sysctl -qw net.ndp.pull_rate_mbit=400
check "pulling too fast: every byte" both
exact "more is trimmed" [ $TRIMMED -gt $((2 * few)) ]
in_ns "${HOST[2]}" sysctl -qw net.ndp.pull_rate_mbit=0
ip -n "$C0" link del c0 && ip -n "$C1" link del c1 || die "no end of containers"
ip -n "${LEAF[0]}" neighbour flush dev h2
container "$C0" "ipvlan mode l2" 0
container "$C1" "ipvlan mode l2" 1
check "two ipvlans: every byte" both
exact "little is trimmed" [ $((TRIMMED * 10)) -lt $DATA ]
