#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Entropy that learns: one of two ways to a host has a tenth of the rate, and the ports of all
# paths lead there.  Random paths whose packets are trimmed get new ports, with other routes,
# until nothing is trimmed any more; paths that are configured keep their ports.
#
#	        eth0 == h LEAF[0] u == d0
#	HOST[0]                          SPINE h == eth0 HOST[1]
#	        eth1 == h LEAF[1] u == d1		a tenth of the rate
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp netwire sch_ndp
tap_plan 17

PATHS=4

# paths FIELD: a property of all paths to HOST[1], summed, counted or listed
paths() {
	in_ns "${HOST[0]}" ndp -j path live "$there" | python3 -SE -c '
import json, sys
p = [x for peer in json.load(sys.stdin) for x in peer["paths"]]
print({"all": len(p), "replaced": sum(x["replaced"] for x in p),
       "fresh": sum(x["replaced"] > 0 for x in p),
       "ports": " ".join(str(x["entropy"]) for x in p)}[sys.argv[1]])' "$1"
}

trimmed() { tc_stat "${LEAF[1]}" u trimmed_arrival trimmed_tail; }
by_leaf() { tc_stat "${LEAF[$1]}" u data_sent; }

# send_over NAME BYTES
send_over() {
	serve "${HOST[1]}" -n 1 5000
	check "$1" fetch "${HOST[0]}" -s "$2" "$there" 5000
	check "every byte" served
}

lib_settings rate=200mbit delay=10us mtu=9000
HOST=() LEAF=() SPINE=()
lib_nodes HOST 2
lib_nodes LEAF 2
lib_nodes SPINE 1
lib_sysctl "${HOST[@]}" "${LEAF[@]}" "${SPINE[0]}"
here=$(lib_net 8 1 1) there=$(lib_net 8 2 1)

# cable NUMBER NS1 DEV1 NS2 DEV2 [QDISC1]: a cable, whose ends have the addresses .1 and .2
cable() {
	lib_cable "${@:2:4}" "$1"
	lib_ends "$2" "$3" "$(lib_net 1 "$1" 1)" "$4" "$5" "$(lib_net 1 "$1" 2)" "$1"
	lib_qdisc "$2" "$3" "${6-ndp limit 8}"
	lib_qdisc "$4" "$5" "ndp limit 8"
}

cable 0 "${HOST[1]}" eth0 "${SPINE[0]}" h "ndp mode host"
cable 1 "${HOST[0]}" eth0 "${LEAF[0]}" h "ndp mode host"
cable 2 "${HOST[0]}" eth1 "${LEAF[1]}" h "ndp mode host"
cable 3 "${LEAF[0]}" u "${SPINE[0]}" d0
# shellcheck disable=SC2034
rate=20mbit
cable 4 "${LEAF[1]}" u "${SPINE[0]}" d1
for i in 0 1; do
	lib_ip "${LEAF[i]}" route add "$here" via "$(lib_net 1 $((1 + i)) 1)"
	lib_ip "${LEAF[i]}" route add "$there" via "$(lib_net 1 $((3 + i)) 2)"
done
lib_ip "${SPINE[0]}" route add "$here" via "$(lib_net 1 3 1)"
lib_ip "${SPINE[0]}" route add "$there" via "$(lib_net 1 0 1)"
lib_ip "${HOST[0]}" address add "$here" dev lo
lib_ip "${HOST[1]}" address add "$there" dev lo
lib_ip "${HOST[1]}" route add "$here" via "$(lib_net 1 0 2)" src "$there"
lib_ip "${HOST[0]}" route add "$there" via "$(lib_net 1 1 2)" src "$here"
lib_ip "${HOST[0]}" route add "$there" via "$(lib_net 1 2 2)" src "$here" table 100
lib_commit ip "${HOST[@]}" "${LEAF[@]}" "${SPINE[0]}"
lib_commit tc "${HOST[@]}" "${LEAF[@]}" "${SPINE[0]}"
in_ns "${HOST[0]}" sysctl -qw net.ndp.paths=$PATHS || die "no sysctl"

send_over "a few packets" 20000
is "as many paths as net.ndp.paths" "$(paths all)" $PATHS
# slow PORT...: packets from these ports take the slower way from now on
slow() {
	local port

	# Ports are drawn at random: two may be the same.
	for port in $(printf '%s\n' "$@" | sort -u); do
		ip -n "${HOST[0]}" rule add ipproto udp sport "$port" lookup 100 || die "no rule"
	done
}
# shellcheck disable=SC2046
slow $(paths ports)
send_over "a transfer" 20000000
check "packets were trimmed" [ "$(trimmed)" -gt 0 ]
is "and nowhere else" "$(ndp_stat "${HOST[0]}" NackIn)" "$(trimmed)"
check "paths were replaced" [ "$(paths replaced)" -gt 0 ]
is "which is counted" "$(ndp_stat "${HOST[0]}" EntropyReplaced)" "$(paths replaced)"
say "$(trimmed) trimmed, $(paths replaced) replaced"

# What was learnt is kept for the next connection: it starts with the new ports.
before=$(trimmed) far=$(by_leaf 1) near=$(by_leaf 0)
send_over "another transfer" 5000000
is "of which nothing is trimmed" "$(trimmed)" "$before"
far=$(($(by_leaf 1) - far)) near=$(($(by_leaf 0) - near))
say "$near packets by the faster way, $far by the slower"
# Without new ports all would take the slower way.  A slow machine's timeouts try other paths.
exact "and the faster way carries most" [ $near -gt $((2 * far)) ]

# Paths that an operator has configured are not replaced.
for port in 50001 50002; do
	in_ns "${HOST[0]}" ndp path add "$there" entropy $port || die "no path"
done
slow 50001 50002
replaced=$(ndp_stat "${HOST[0]}" EntropyReplaced)
send_over "by paths that are configured" 5000000
check "packets are trimmed" [ "$(trimmed)" -gt "$before" ]
is "and the paths stay" "$(ndp_stat "${HOST[0]}" EntropyReplaced)" "$replaced"
