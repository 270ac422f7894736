#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_NDP over bonds that use one cable at a time, or both in turn: every byte arrives although
# a cable is pulled in mid-flow, over the cable that is left.
#
#	H0 bond0 = { eth0, eth1 } ======== { eth0, eth1 } = bond0 H1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp netwire bonding
tap_plan 13

tx_packets() { in_ns "$H0" cat "/sys/class/net/$1/statistics/tx_packets"; }
sent_beyond() { [ "$(ndp_stat "$H0" DataOut)" -ge "$1" ]; }
# by CABLE...: do the packets that leave from now on take each of these, and no other?
by() {
	local dev used=
	local -A before

	for dev in eth0 eth1; do
		before[$dev]=$(tx_packets $dev)
	done
	wait_for 20 sent_beyond $(($(ndp_stat "$H0" DataOut) + 100)) || return
	for dev in eth0 eth1; do
		[ $(($(tx_packets $dev) - before[$dev])) -lt 20 ] || used+=" $dev"
	done
	[ "$used" = "$(printf " %s" "$@")" ]
}
active() { in_ns "$H0" cat /sys/class/net/bond0/bonding/active_slave; }

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
	pulled=eth0 other=eth1 all="eth0 eth1"
	if [ $mode = active-backup ]; then
		all=$(active)
		[ "$all" = eth0 ] || pulled=eth1 other=eth0
	fi
	flow_serve "$H1"
	flow_begin "$H0" 10.0.0.2
	check "$mode: packets go" wait_for 20 flow_runs
	# shellcheck disable=SC2086
	check "$mode: by $all" wait_for 20 by $all
	ip -n "$H1" link set $pulled down
	check "$mode: $pulled pulled, by $other alone" wait_for 20 by $other
	ip -n "$H1" link set $pulled up
	if [ $mode = balance-rr ]; then
		check "$mode: put back, by both" wait_for 20 by eth0 eth1
	else
		ip -n "$H1" link set $other down
		check "$mode: put back, and the other pulled" wait_for 20 by $pulled
		ip -n "$H1" link set $other up
	fi
	check "$mode: every byte" flow_end
	for ns in "$H0" "$H1"; do
		ip -n "$ns" link del bond0
	done
done
check "nothing is left" wait_for 40 quiet "$H0" "$H1"
