#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Path MTU: a smaller one in mid-path or at one's own interface, told by ICMP or not at
# all.  Outcome of all: it goes on, and every byte arrives.
#
#	HOST[0] ==== LEAF[0] ==== SPINE[0] ==== LEAF[1] ==== HOST[1]
#	      9000         9000, or less                9000
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ingress act_gact cls_u32
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
given_up() { ndp_stat "${HOST[0]}" GivenUp; }
holes() { ndp_stat "${HOST[0]}" MtuHole; }
# How many packets FLOW_BYTES take at an MTU.
packets() { echo $((FLOW_BYTES / ($1 - ip_len - 8 - 36))); }
# Packets with payload, without those sent again.
data_out() { echo $(($(ndp_stat "${HOST[0]}" DataOut) - $(ndp_stat "${HOST[0]}" DataRtx))); }
# NAME COMMAND...: how many left since begin, in $SENT
sending() {
	local name=$1

	shift
	check "$name" "$@"
	SENT=$(($(data_out) - BEFORE))
	say "$SENT packets"
}
begin() {
	BEFORE=$(data_out)
	flow_serve "${HOST[1]}"
	flow_begin "${HOST[0]}" "${ADDRESS[1]}"
}

leaf_spine hosts=2 leaves=2 spines=1 rate=1gbit delay=10us mtu=9000

middle 1500
begin
sending "smaller from the beginning" flow_end
# Between those of 1500 and, should a slow machine have looked like a black hole, of 1280.
check "cut to it" between "$(($(packets 1500) - 100))" "$SENT" $(($(packets 1280) + 50))
check "the route knows" grep -q "mtu 1500" <(ip -n "${HOST[0]}" route get "${ADDRESS[1]}")

forget
middle 9000
begin
check "large: packets go" wait_for 20 flow_runs
middle 1500
sending "smaller in mid-flow" flow_end
check "cut to it" [ "$SENT" -gt "$(packets 9000)" ]

forget
middle 9000
begin
check "before the interface" wait_for 20 flow_runs
for end in "${HOST[0]} eth0" "${LEAF[0]} h0"; do
	# shellcheck disable=SC2086
	ip -n ${end% *} link set ${end#* } mtu 2000 || die "no MTU of $end"
done
sending "the interface's own, in mid-flow" flow_end
check "cut to it" [ "$SENT" -gt "$(packets 9000)" ]
for end in "${LEAF[0]} h0" "${HOST[0]} eth0"; do
	# shellcheck disable=SC2086
	ip -n ${end% *} link set ${end#* } mtu 9000 || die "no MTU of $end"
done
# Where time is exact.
if [ -e /proc/exitcode ]; then
	is "no black hole was suspected" "$(holes)" 0
fi

forget
hole
middle 1500
begin
sending "a black hole from the beginning" flow_end
check "it was noticed" [ "$(holes)" -gt 0 ]
check "small packets" [ "$SENT" -gt $(($(packets 1280) / 2)) ]

# Long enough for slow machines.
middle 9000
FLOW_BYTES=12000000
begin
check "before the black hole" wait_for 20 flow_runs
before=$(holes)
middle 1500
check "it is noticed in mid-flow" wait_for 20 eval "[ \$(holes) -gt $before ]"
# Written at once from here on: as large as is thought good now.
check "it is gone after a while" eval "middle 9000; sleep 5; flow_end"
FLOW_BYTES=3000000
begin
sending "and forgotten" flow_end
check "large packets" [ "$SENT" -lt $(($(packets 9000) + 100)) ]
mended
is "nobody was given up" "$(given_up)" 0
