#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_NDP over bonds: one cable at a time, or both in turn; every byte arrives although
# one is pulled in mid-flow.
#
#	H0 bond0 = { eth0, eth1 } ======== { eth0, eth1 } = bond0 H1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp netwire bonding

ns_add H0 H1
lib_sysctl "$H0" "$H1"
for dev in eth0 eth1; do
	ip link add $dev netns "$H0" mtu 9000 type netwire rate 1gbit delay 10us \
		peer name $dev netns "$H1" mtu 9000 || die "no cable"
done
for mode in active-backup balance-rr; do
	for h in 0 1; do
		ns=H$h
		ip -n "${!ns}" link add bond0 mtu 9000 type bond mode $mode miimon 50 ||
			die "no bond"
		for dev in eth0 eth1; do
			ip -n "${!ns}" link set $dev down &&
				ip -n "${!ns}" link set $dev master bond0 ||
				die "no $dev in the bond"
		done
		ip -n "${!ns}" link set bond0 mtu 9000 up
		ip -n "${!ns}" address add 10.0.0.$((h + 1))/24 dev bond0
	done
	check "$mode: up" wait_for 20 in_ns "$H0" ping -c 1 -W 1 10.0.0.2
	flow_serve "$H1"
	flow_begin "$H0" 10.0.0.2
	check "$mode: packets go" wait_for 20 flow_runs
	ip -n "$H1" link set eth0 down
	check "$mode: one cable pulled, it goes on" flow_end
	ip -n "$H1" link set eth0 up
	flow_serve "$H1"
	flow_begin "$H0" 10.0.0.2
	check "$mode: put back" flow_end
	for ns in "$H0" "$H1"; do
		ip -n "$ns" link del bond0
	done
done
check "nothing is left" wait_for 40 quiet "$H0" "$H1"
