#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_NDP over devices of all kinds, and changes in mid-flow.  The outcome of each is in its
# name: every byte arrives, or the application gets an error in time.
#
#	H0 eth0 ======== eth0 H1
#	   eth1 ======== eth1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ingress act_gact cls_u32
tap_plan 42

# cable DEV [MTU]: a cable between H0 and H1, up
cable() {
	ip link add "$1" netns "$H0" mtu "${2:-9000}" type netwire rate 1gbit delay 10us \
		peer name "$1" netns "$H1" mtu "${2:-9000}" || die "no cable $1"
	on_both link set "$1" up
}
on_both() {
	ip -n "$H0" "$@" && ip -n "$H1" "$@" || die "both: $*"
}
# new_address NS ADDRESS DEV
new_address() {
	# shellcheck disable=SC2046
	ip -n "$1" address add "$2" dev "$3" $(lib_at_once)
}
# address DEV NET: 10.NET.0.1 and .2, or the same in IPv6
address() {
	new_address "$H0" "$(lib_net "$2" 0 1)/$NET_LEN" "$1" &&
		new_address "$H1" "$(lib_net "$2" 0 2)/$NET_LEN" "$1" ||
		die "no addresses for $1"
}
far() { lib_net "$1" 0 2; }
# over NAME ADDRESS: a transfer of 1 MB in each direction
over() {
	PORT=$((${PORT:-5000} + 1))
	serve "$H1" -n 1 $PORT
	fetch "$H0" -s 1000000 -r 1000000 "$2" $PORT
	served
	# shellcheck disable=SC2319
	check "$1" [ $? -eq 0 ]
}
begin() {
	flow_serve "$H1"
	flow_begin "$H0" "$1" "${@:2}"
	check "$NAME: packets go" wait_for 20 flow_runs
}
stands() { check "$NAME: it stands still" wait_for 20 flow_stands; }
goes_on() {
	flow_mark
	check "$NAME: it goes on" wait_for 20 flow_runs
	check "$NAME: every byte" flow_end
}
# interrupted NAME ADDRESS NS OFF ON: run ip OFF, and ip ON when no packet gets through
interrupted() {
	NAME=$1
	begin "$2"
	# shellcheck disable=SC2086
	ip -n "$3" $4
	stands
	# shellcheck disable=SC2086
	ip -n "$3" $5
	goes_on
}
# is_told ERROR: the client fails with this error
is_told() {
	touch "$TMP/end"
	wait $FLOW
	is "$NAME: the sender is told" \
		"$(sed -n 's/^ndp_xfer: [a-z]*: //p' "$TMP"/connect.* | tail -n 1)" "$1"
	# The server has not been notified.
	ip netns pids "$H1" | xargs -r kill
	wait $SERVER
	rm -f "$TMP"/connect.*
}

ns_add H0 H1 B
lib_sysctl "$H0" "$H1" "$B"
# A killed server that was not notified waits no longer than this for the peer's FIN.
in_ns "$H1" sysctl -qw net.ipv4.tcp_fin_timeout=5

# Devices on top of a cable, and others.
cable eth0
address eth0 1
over "a cable" "$(far 1)"
on_both link add link eth0 name vlan5 type vlan id 5
on_both link set vlan5 up
address vlan5 2
over "a VLAN" "$(far 2)"
on_both link add link vlan5 name vlan5.6 type vlan id 6
on_both link set vlan5.6 up
address vlan5.6 3
over "a VLAN in a VLAN" "$(far 3)"
on_both link add vx0 type vxlan id 7 dstport 4789 dev eth0 \
	group "$([ "$FAMILY" -eq 4 ] && echo 239.1.1.1 || echo ff05::7)"
on_both link set vx0 up
address vx0 4
over "VXLAN underneath" "$(far 4)"
on_both link add mac0 link eth0 type macvlan mode bridge
on_both link set mac0 up
address mac0 5
over "macvlan" "$(far 5)"
ip link add veth0 netns "$H0" type veth peer name veth0 netns "$H1" || die "no veth"
on_both link set veth0 up
address veth0 6
over "veth" "$(far 6)"
new_address "$H1" "$(lib_net 7 0 2)" lo &&
	ip -n "$H0" route add "$(lib_net 7 0 2)" via "$(far 1)" || die "no alias"
over "an alias of the loopback" "$(lib_net 7 0 2)"

# A bridge between the hosts.
for h in 0 1; do
	ns=H$h
	ip link add br0 netns "${!ns}" type netwire rate 1gbit delay 10us \
		peer name "p$h" netns "$B" || die "no cable to the bridge"
	ip -n "${!ns}" link set br0 up
done
ip -n "$B" link add name bridge type bridge && ip -n "$B" link set bridge up || die "no bridge"
for h in 0 1; do
	ip -n "$B" link set "p$h" master bridge up
done
address br0 8
over "a bridge" "$(far 8)"

# Changes in mid-flow.
interrupted "a cable pulled and put back" "$(far 1)" "$H1" "link set eth0 down" "link set eth0 up"
interrupted "an interface down and up" "$(far 2)" "$H0" "link set vlan5 down" "link set vlan5 up"
address="$(lib_net 1 0 1)/$NET_LEN dev eth0"
interrupted "our address removed and given back" "$(far 1)" "$H0" "address del $address" \
	"address add $address $(lib_at_once)"

NAME="our address removed for good"
begin "$(far 5)" -g 1500
ip -n "$H0" address del "$(lib_net 5 0 1)/$NET_LEN" dev mac0
is_told "Connection timed out"

address="$(far 1)/$NET_LEN dev eth0"
interrupted "the peer's address removed and given back" "$(far 1)" "$H1" "address del $address" \
	"address add $address $(lib_at_once)"

NAME="the device removed"
begin "$(far 3)" -g 8000
ip -n "$H0" link del vlan5.6
is_told "Connection timed out"

# Addresses that belong to no cable: routes alone decide.
near_alias=$(lib_net 7 0 1) alias=$(lib_net 7 0 2)
new_address "$H0" "$near_alias" lo || die "no alias"
# by CABLE: both ends send over it
by() {
	ip -n "$H0" route replace "$alias" via "$(far "$1")" src "$near_alias" &&
		ip -n "$H1" route replace "$near_alias" via "$(lib_net "$1" 0 1)" src "$alias" ||
		die "no routes by cable $1"
}
by 1

NAME="no route, and one again"
begin "$alias"
ip -n "$H0" route del "$alias"
ip -n "$H0" route add unreachable "$alias"
stands
ip -n "$H0" route del unreachable "$alias"
by 1
goes_on

# Two cables to the same host.
cable eth1
address eth1 9
NAME="another way while it flows"
begin "$alias"
by 9
ip -n "$H0" link set eth0 down
tx_packets() { in_ns "$H0" cat /sys/class/net/eth1/statistics/tx_packets; }
before=$(tx_packets)
goes_on
check "$NAME: by the other cable" [ $(($(tx_packets) - before)) -gt 50 ]

# All paths drop everything: the sender tries ever less often, then reports the error.
NAME="nothing comes through"
begin "$(far 9)" -g 15000
tc -n "$H1" qdisc add dev eth1 ingress && tc -n "$H1" filter add dev eth1 ingress protocol all \
	u32 match u32 0 0 action drop || die "no filter"
stands
before=$(tx_packets) began=$(date +%s%N)
tries() { [ "$(tx_packets)" -gt "$before" ]; }
check "$NAME: it tries" wait_for 5 tries
sleep 1
tried=$(($(tx_packets) - before)) took=$(($(date +%s%N) - began))
say "packets in $((took / 1000000)) ms: $tried"
is_told "Connection timed out"
# Five times a second a packet, cut into seven, and a PROBE.
check "$NAME: slowly" [ $tried -lt $((80 * took / 1000000000)) ]

check "nothing is left" wait_for 40 quiet "$H0" "$H1"
