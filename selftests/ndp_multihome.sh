#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A host with two NICs that a sender sprays over: each connection keeps the pull queue of
# one NIC, and moves when its DATA arrives by the other NIC alone.
#
#	H0 eth0 ======== eth0 H1
#	H0 eth1 ======== eth1 H1	by an alias address of H1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp netwire sch_netem
tap_plan 9

ns_add H0 H1
lib_sysctl "$H0" "$H1"
for i in 0 1; do
	ip link add eth$i netns "$H0" mtu 9000 type netwire rate 1gbit delay 10us \
		peer name eth$i netns "$H1" mtu 9000 || die "no cable"
	ip -n "$H0" address add 10.0.$i.1/24 dev eth$i && ip -n "$H0" link set eth$i up &&
		ip -n "$H1" address add 10.0.$i.2/24 dev eth$i &&
		ip -n "$H1" link set eth$i up || die "no eth$i"
done
# The cable that drops everything would drop ARP too, and the answers would have no way.
mac() { in_ns "$1" cat "/sys/class/net/$2/address"; }
for i in 0 1; do
	ip -n "$H0" neighbour replace 10.0.$i.2 lladdr "$(mac "$H1" eth$i)" dev eth$i &&
		ip -n "$H1" neighbour replace 10.0.$i.1 lladdr "$(mac "$H0" eth$i)" \
			dev eth$i || die "no neighbour"
done
in_ns "$H0" ndp path add 10.0.0.2 || die "no path"
in_ns "$H0" ndp path add 10.0.0.2 via 10.0.1.2 || die "no path"
# A port drops packets until the kernel has started its queue, some time after the carrier.
check "a ping by either cable" wait_for 20 in_ns "$H0" ping -c 1 -W 1 10.0.0.2
check "the other" wait_for 20 in_ns "$H0" ping -c 1 -W 1 10.0.1.2

arrived() { in_ns "$H1" cat "/sys/class/net/$1/statistics/rx_packets"; }
before=("$(arrived eth0)" "$(arrived eth1)")
serve "$H1" -n 1 5000
check "a transfer by both" fetch "$H0" -s 20000000 10.0.0.2 5000
check "every byte" served
for i in 0 1; do
	check "eth$i carried its share" [ $(($(arrived eth$i) - before[i])) -gt 500 ]
done
is "pull queue kept" "$(ndp_stat "$H1" PullqMoved)" 0

# Packets that one cable drops are carried by the other.
flow_serve "$H1"
flow_begin "$H0" 10.0.0.2
wait_for 20 flow_runs || die "no flow"
for dev in eth0 eth1; do
	moved=$(ndp_stat "$H1" PullqMoved)
	tc -n "$H0" qdisc replace dev $dev root netem loss 100% || die "no netem"
	goes() { [ "$(ndp_stat "$H1" PullqMoved)" -gt "$moved" ]; }
	if wait_for 10 goes; then
		break
	fi
	tc -n "$H0" qdisc del dev $dev root
done
check "moved to the cable that is left" goes
check "every byte arrives" flow_end
