#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Life and death of AF_NDP sockets: processes are killed, cables and namespaces
# deleted under traffic, the module is kept from being unloaded and then unloaded,
# and nothing is left behind.  Silent errors show in the kernel log.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_netem
tap_plan 28

# Each struct sock holds the module until it is freed.
unused() { [ "$(cat /sys/module/ndp/refcnt)" -eq 0 ]; }

# Is ndp.ko's slab cache empty, once objects kept for reuse are given back?
no_objects() {
	unused || return 1
	echo 1 >/sys/kernel/slab/NDP/shrink
	[ "$(awk '{ print $1 }' /sys/kernel/slab/NDP/objects)" -eq 0 ]
}

# objects_gone NAME SECONDS: are they within that time?  Skipped where the kernel has merged
# the cache with others.
objects_gone() {
	if [ -L /sys/kernel/slab/NDP ]; then
		skip "$1" "the slab cache is shared"
	else
		check "$1" wait_for "$2" no_objects
	fi
}

tombstones() { ndp_total Tombstones "$@"; }
no_tombstones() { [ "$(tombstones "$@")" -eq 0 ]; }

# endless FROM TO ADDRESS PORT: a transfer that does not end by itself, under way;
# its processes in $SERVER and $CLIENT
endless() {
	serve "$2" "$4"
	background in_ns "$1" ndp_xfer connect -s 1000000000000 -r 1000000000000 "$3" "$4" \
		>"$TMP/client" 2>&1
	CLIENT=$PID
	local before
	before=$(ndp_stat "$2" DataIn)
	wait_for 20 moves "$2" $((before + 50)) || die "nothing moves"
}

moves() { [ "$(ndp_stat "$1" DataIn)" -gt "$2" ]; }

# slay NS: kill a program and its children, which share its namespace.
slay() {
	local p

	for p in $(ip netns pids "$1"); do
		kill -9 "$p"
	done
}

ended() { ! kill -0 "$1" 2>/dev/null; }

objects_gone "a fresh start" 90

# 1. Processes that are killed.
wire_pair rate=100mbit delay=10us mtu=9000
endless "$H0" "$H1" 10.0.0.2 5000
slay "$H1"
check "receiver killed: the sender ends" wait_for 20 ended $CLIENT
check "with a reset" grep -q "reset\|Broken pipe" "$TMP/client"
endless "$H0" "$H1" 10.0.0.2 5001
slay "$H0"
check "sender killed: the receiver ends" wait_for 20 ended $SERVER
check "sockets are gone" wait_for 20 quiet "$H0" "$H1"

# Many sockets die at once, with their packets still in a slow queue.
tc -n "$H0" qdisc replace dev eth0 root netem delay 5s limit 10000 || die "no netem"
serve "$H1" -n 100 5002
background in_ns "$H0" ndp_xfer connect -n 20 -j 20 -s 100000000 10.0.0.2 5002 >/dev/null 2>&1
all_accepted() { [ "$(ndp_stat "$H1" SockInUse)" -eq 21 ]; }
check "20 connections" wait_for 20 all_accepted
held() { tc_stat "$H0" eth0 qlen; }
check "their packets are in the qdisc" wait_for 20 eval '[ "$(held)" -gt 20 ]'
slay "$H0"
slay "$H1"
check "and are when they are killed" [ "$(held)" -gt 0 ]
tc -n "$H0" qdisc replace dev eth0 root pfifo || die "no pfifo"
check "sockets are gone" wait_for 60 quiet "$H0" "$H1"

# 2. Many connections, one after the other and 20 at once.
many=$((200 / FEWER))
serve "$H1" -d -n $many 5003
check "$many connections" fetch "$H0" -d -n $many -j 20 10.0.0.2 5003
check "$many accepted" served
check "sockets are gone" wait_for 20 quiet "$H0" "$H1"
check "tombstones are gone" wait_for 60 no_tombstones "$H0" "$H1"
objects_gone "objects are gone" 10
is "memory is given back" "$(ndp_stat "$H1" MemPages)" 0

# 3. The module while sockets live.
unload_transports
serve "$H1" 5004
says "rmmod while a socket listens" 1 "in use" rmmod ndp
slay "$H1"

# 4. Cable and namespaces that are deleted under traffic.
endless "$H0" "$H1" 10.0.0.2 5005
ip -n "$H0" link del eth0 || die "cannot delete the cable"
sleep 1
slay "$H0"
slay "$H1"
ns_add A B
ip -n "$A" link add eth0 type netwire rate 100mbit delay 10us peer name eth0 netns "$B" ||
	die "no cable"
for n in "$A 10.0.0.1" "$B 10.0.0.2"; do
	ip -n "${n% *}" address add "${n#* }/24" dev eth0
	ip -n "${n% *}" link set eth0 up
done
endless "$A" "$B" 10.0.0.2 5006
# The sender's namespace ends with its processes; the other end loses its cable.
pids=$(ip netns pids "$A")
ip netns del "$A"
# shellcheck disable=SC2086
kill -9 $pids
check "a namespace dies, and its cable" wait_for 20 eval '! ip -n "$B" link show eth0'
slay "$B"
ip netns del "$B"

# A closed socket whose peer is silent gives up after 30 s; then the namespaces are freed.
check "no socket holds the module" wait_for 90 unused
objects_gone "objects are gone" 20
check "rmmod" rmmod ndp
check "loaded again" modprobe ndp
serve "$H1" -d -n 1 5007
check "and working" fetch "$H1" -d 127.0.0.1 5007
check "its end" served
check "no socket holds the module" wait_for 20 unused
check "rmmod with tombstones" rmmod ndp

# Over and over, each time with new sockets, tombstones and timers.
reloads=$((10 / FEWER + 2))
for ((i = 0; i < reloads; i++)); do
	modprobe ndp || break
	serve "$H1" -d -n 3 5008
	fetch "$H1" -d -n 3 -j 3 127.0.0.1 5008 && served || break
	wait_for 20 unused && rmmod ndp || break
done
is "loaded, used and given up, times" $i $reloads

# 5. The module is unloaded while packets arrive.  With many rules a route lookup takes
# long: each packet is answered in the receive path, and stays long in it.
# UDP hands packets to NDP until the end, as there is another tunnel.
if [ "$(nproc)" -eq 1 ]; then
	skip "unloaded while packets arrive" "one processor"
	exit
fi
ns_add C
ip -n "$C" link add vx0 type vxlan id 1 local 127.0.0.1 dstport 4789 || die "no tunnel"
ip -n "$C" link set vx0 up
for ((i = 1000; i < 4000; i++)); do
	echo "rule add from 192.0.2.1 priority $i"
done | ip -n "$C" -batch - || die "no rules"
cpu=$(($(nproc) - 1))
comes() { [ "$(ndp_stat "$C" DropNoListener)" -gt 20 ]; }
unloads=$((5 / FEWER + 2))
for ((i = 0; i < unloads; i++)); do
	modprobe ndp || break
	in_ns "$C" sysctl -qw net.ndp.rst_rate=0
	# The first socket of a namespace enables reception.
	serve "$C" -d -n 1 5009
	fetch "$C" -d 127.0.0.1 5009 && served || break
	background in_ns "$C" taskset -c $cpu ndp_forge -n 10000000 -s 127.0.0.1 open \
		127.0.0.1 5999 >/dev/null 2>&1
	flood=$PID
	wait_for 60 comes || break
	wait_for 60 unused && rmmod ndp || break
	kill -9 $flood
	wait $flood 2>/dev/null
done
is "unloaded while packets arrive, times" $i $unloads
