#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Path MTU: a smaller one in mid-path or at the sender's interface, reported by ICMP or not
# at all.  In all cases the flow goes on, and every byte arrives.
#
#	HOST[0] ==== LEAF[0] ==== SPINE[0] ==== LEAF[1] ==== HOST[1]
#	      9000         9000, or less                9000
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ingress act_gact cls_u32
tap_plan 23
ip_len=$((FAMILY == 4 ? 20 : 40))

middle() {
	ip -n "${LEAF[0]}" link set u0 mtu "$1" && ip -n "${SPINE[0]}" link set d0 mtu "$1" ||
		die "no MTU of $1"
}
# ICMP does not reach HOST[0]: a black hole
hole() {
	local ethertype=ipv6 match=(ip6 protocol 58)

	if [ "$FAMILY" -eq 4 ]; then
		ethertype=ip
		match[0]=ip match[2]=1
	fi
	tc -n "${HOST[0]}" qdisc add dev eth0 ingress || die "no ingress"
	tc -n "${HOST[0]}" filter add dev eth0 ingress protocol $ethertype u32 \
		match "${match[@]}" 0xff action drop || die "no filter"
}
mended() { tc -n "${HOST[0]}" qdisc del dev eth0 ingress || die "no ingress"; }
forget() { ip -n "${HOST[0]}" "-$FAMILY" route flush cache; }
holes() { ndp_stat "${HOST[0]}" MtuHole; }
more_holes() { [ "$(holes)" -gt "$1" ]; }
sent() { ndp_stat "${HOST[0]}" "$1"; }
sent_beyond() { [ "$(sent DataOut)" -ge "$1" ]; }
# Are the packets that leave now as large as the MTU allows, but for those that end a write?
fit() {
	local most=$(($1 - ip_len - 8 - 36)) packets bytes

	packets=$(sent DataOut) bytes=$(sent DataBytesOut)
	wait_for 20 sent_beyond $((packets + 200)) || return
	packets=$(($(sent DataOut) - packets)) bytes=$(($(sent DataBytesOut) - bytes))
	between $((most * 85 / 100)) $((bytes / packets)) $most
}
begin() {
	flow_serve "${HOST[1]}"
	flow_begin "${HOST[0]}" "${ADDRESS[1]}"
	check "$1: packets go" wait_for 20 flow_runs
}
# cut NAME MTU: packets soon fit this MTU, and the flow ends well
cut() {
	check "$1: packets for an MTU of $2" wait_for 20 fit "$2"
	check "$1: every byte" flow_end
}

leaf_spine hosts=2 leaves=2 spines=1 rate=1gbit delay=10us mtu=9000

middle 1500
begin "smaller from the beginning"
cut "smaller from the beginning" 1500
check "the route knows" grep -q "mtu 1500" <(ip -n "${HOST[0]}" route get "${ADDRESS[1]}")

forget
middle 9000
begin "smaller in mid-flow"
check "smaller in mid-flow: large before" wait_for 20 fit 9000
middle 1500
cut "smaller in mid-flow" 1500

forget
middle 9000
begin "the interface's own"
check "the interface's own: large before" wait_for 20 fit 9000
for end in "${HOST[0]} eth0" "${LEAF[0]} h0"; do
	# shellcheck disable=SC2086
	ip -n ${end% *} link set ${end#* } mtu 2000 || die "no MTU of $end"
done
cut "the interface's own" 2000
for end in "${LEAF[0]} h0" "${HOST[0]} eth0"; do
	# shellcheck disable=SC2086
	ip -n ${end% *} link set ${end#* } mtu 9000 || die "no MTU of $end"
done
# A packet that is late looks like a black hole.
exact "no black hole was suspected" [ "$(holes)" -eq 0 ]

forget
hole
middle 1500
before=$(holes)
begin "a black hole"
check "a black hole: it is noticed" wait_for 20 more_holes "$before"
cut "a black hole" 1280

middle 9000
begin "a black hole in mid-flow"
check "a black hole in mid-flow: large before" wait_for 20 fit 9000
before=$(holes)
middle 1500
check "a black hole in mid-flow: it is noticed" wait_for 20 more_holes "$before"
middle 9000
# Larger packets are tried after one second, two, four ...
cut "gone again" 9000
mended
is "nobody was given up" "$(ndp_stat "${HOST[0]}" GivenUp)" 0
