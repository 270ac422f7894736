#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Paths by routing mark (NDP paper, section 3.1.1), as Documentation/paths.md has them:
# its commands are run as they stand, and both ways of each example carry packets.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp 8021q mpls_router mpls_iptunnel
tap_plan 14
DOC=$(dirname "$0")/../Documentation/paths.md

# run NS SECTION START: run the block of commands behind the line that contains START
run() {
	awk -v section="## $2" -v start="$3" '
		/^## / { in_section = $0 == section; at = 0 }
		in_section && index($0, start) { at = 1 }
		at && /^    / { print; seen = 1 }
		at && seen && !/^    / { exit }' "$DOC" >"$TMP/commands"
	[ -s "$TMP/commands" ] || die "$2: no commands: $3"
	in_ns "$1" bash -e "$TMP/commands" >"$TMP/run" 2>&1 || die "$2: $3: $(cat "$TMP/run")"
}
packets() { in_ns "$1" cat "/sys/class/net/$2/statistics/${3}_packets"; }
# over NAME FAR NS1 DEV1 NS2 DEV2: a transfer of 3 MB, whose packets arrive by both devices
over() {
	local one two

	one=$(packets "$3" "$4" rx) two=$(packets "$5" "$6" rx)
	PORT=$((${PORT:-5000} + 1))
	serve "$H1" -n 1 $PORT
	check "$1: there and back" fetch "$H0" -s 3000000 -r 100000 "$2" $PORT
	check "$1: every byte" served
	one=$(($(packets "$3" "$4" rx) - one)) two=$(($(packets "$5" "$6" rx) - two))
	say "$1: $one packets by the one way, $two by the other"
	# Equal parts would be too much to ask of slow machines: there, late packets are
	# declared lost, and their path is left out for a while.
	check "$1: many" [ $((one + two)) -gt 300 ]
	check "$1: both ways" [ $((one < two ? one : two)) -gt 20 ]
}

wire_pair rate=1gbit delay=10us mtu=9000
run "$H0" VLANs "On the first host:"
run "$H1" VLANs "On the second host:"
over VLANs 10.255.0.2 "$H1" eth0.101 "$H1" eth0.102
is "as many paths as marks" "$(in_ns "$H0" ndp path show 10.255.0.2 | grep -c mark)" 2

fabric() {
	leaf_spine hosts=2 leaves=2 spines=2 rate=1gbit delay=10us mtu=9000
	H0=${HOST[0]} H1=${HOST[1]}
}
fabric
run "${LEAF[0]}" MPLS "On its leaf"
run "$H0" MPLS "On the first host"
ip -n "$H1" address add 10.255.0.2/32 dev lo &&
	ip -n "$H1" route add 10.255.0.1 via 10.1.1.1 src 10.255.0.2 &&
	ip -n "${LEAF[1]}" route add 10.255.0.2 via "${ADDRESS[1]}" &&
	ip -n "${LEAF[1]}" route add 10.255.0.1 via 10.2.2.2 || die "no routes"
for s in 0 1; do
	ip -n "${SPINE[s]}" route add 10.255.0.2 via 10.2.$((2 + s)).1 &&
		ip -n "${SPINE[s]}" route add 10.255.0.1 via 10.2.$s.1 || die "no routes"
done
over MPLS 10.255.0.2 "${SPINE[0]}" d0 "${SPINE[1]}" d0
for ns in "${HOST[@]}" "${LEAF[@]}" "${SPINE[@]}"; do
	ip netns del "$ns"
done

# shellcheck disable=SC2034
FAMILY=6 NET_LEN=64
fabric
run "$H0" SRv6 "On the first host"
run "${LEAF[0]}" SRv6 "On its leaf"
run "${SPINE[0]}" SRv6 "On s0"
in_ns "${SPINE[1]}" bash -e <(sed -n '/^On s0/,/^On the second/s/^    //p' "$DOC" |
	sed 's/5e60/5e61/') >"$TMP/run" 2>&1 || die "SRv6: s1: $(cat "$TMP/run")"
run "$H1" SRv6 "On the second host"
ip -n "${LEAF[1]}" route add fd00:ffff::2 via "${ADDRESS[1]}" &&
	ip -n "${LEAF[1]}" route add fd00:ffff::1 via fd00:3:3::2 || die "no routes"
for s in 0 1; do
	ip -n "${SPINE[s]}" route add fd00:ffff::2 via fd00:3:$((3 + s))::1 &&
		ip -n "${SPINE[s]}" route add fd00:ffff::1 via fd00:3:$((1 + s))::1 ||
		die "no routes"
done
over SRv6 fd00:ffff::2 "${SPINE[0]}" d0 "${SPINE[1]}" d0
is "nobody was given up" "$(ndp_total GivenUp "$H0" "$H1")" 0
