#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# TCPlight over a lossless fabric: a leaf with PFC, and containers of a virtual switch.  All data
# is compared, and counters of hosts and ports are added up: nothing is dropped, every receiver has
# room, and few packets but DATA are sent.  Then its guarantees where packets are lost nevertheless.
# What depends on timing is checked where time is virtual.
#
#	HOST[0..3] ---- LEAF[0]		C1, C2 ---- zs0 ---- C3

. "$(dirname "$0")/lib_ndp.sh"

require_program python3 ndp_bench ndp_run
require_module ndp ndp_light sch_cee zswitch zvnic
tap_plan 40

LOSSLESS="cee dscp 0-63:3 ring 200k"

bench() { bench_hosts light "$@"; }

CONTROL="AckOut NackOut PullOut ProbeOut SignalOut CookieOut RstOut"
mark() {
	local ns

	for ns; do
		counters "$ns" >"$TMP/mark.$ns"
	done
}
# since NAMES NS...: by how much the sum of these counters has grown since mark of these
since() {
	local names=$1

	shift
	# shellcheck disable=SC2086
	echo $(($(counters "$@" | sum_of $names) - $(cat "${@/#/$TMP/mark.}" | sum_of $names)))
}

# Packets dropped by the ports of the leaf and of the hosts
dropped() {
	local h sum=0

	for ((h = 0; h < ${#HOST[@]}; h++)); do
		sum=$((sum + $(tc_stat "${LEAF[0]}" "h$h" drops)))
		sum=$((sum + $(tc_stat "${HOST[h]}" eth0 drops)))
	done
	echo $sum
}

# Is a connection of HOST[1] refused, with that message?
refused_for_losses() {
	! in_ns "${HOST[1]}" ndp_run -t light ndp_xfer connect -p tcp -s 1000 "${ADDRESS[0]}" 5000 \
		>"$TMP/err" 2>&1 && grep "Protocol not supported" "$TMP/err"
}

# Pauses that the leaf has sent to HOST[1]
pauses() { cee_stat "${LEAF[0]}" h1 3 xoff_sent; }

# nothing_lost NAME NS...: two results
nothing_lost() {
	is "$1: nothing was lost, and nobody had no room" "$(since "NoRoomIn NackOut" "${@:2}")" 0
	exact "$1: nothing was sent again" [ "$(since "DataRtx Timeouts" "${@:2}")" = 0 ]
}

leaf_spine hosts=4 spines=1 leaves=1 rate=10gbit hostq="$LOSSLESS" switchq="$LOSSLESS"

# --- Networks that nobody has declared lossless
serve "${HOST[0]}" -n 1 5000
check "refused: connect() says so" refused_for_losses
check "the kernel says why" sh -c 'dmesg | grep -q "is not known to be lossless"'
set_ndp lossless=1 "${HOST[1]}"
mark "${HOST[0]}"
check "refused by the peer, which says the same" refused_for_losses
check "counted there" [ "$(since DropTransport "${HOST[0]}")" -gt 0 ]
set_ndp lossless=1 "${HOST[@]}"
mark "${HOST[0]}"
check "ndp_run --transport light" in_ns "${HOST[1]}" ndp_run --transport light ndp_xfer connect \
	-p tcp -s 100000 "${ADDRESS[0]}" 5000
check "every byte" served
# A listener's sockets have the transport that the initiator chose.
is "by TCPlight: no ACK for each of its packets" \
	"$([ "$(since AckOut "${HOST[0]}")" -lt 20 ] && echo few)" few
says "a transport that is not there" 0 "transport nosuch: No such file" in_ns "${HOST[1]}" \
	ndp_run -t nosuch sh -c 'exec python3 -SEc "import socket; socket.socket()"'

# --- All bytes arrive
mark "${HOST[@]}"
matrix 20000000 0-\>1 1-\>2 2-\>3 3-\>0
check "four flows: every byte" bench whole --verify -f "$TMP/matrix"
say "DATA $(since DataOut "${HOST[@]}"), control $(since "$CONTROL" "${HOST[@]}")"
exact "hardly a packet but DATA" \
	[ $(($(since "$CONTROL" "${HOST[@]}") * 50)) -lt "$(since DataOut "${HOST[@]}")" ]
nothing_lost "four flows" "${HOST[@]}"
matrix 0 0-\>1 1-\>2 2-\>3 3-\>0
bench rate -f "$TMP/matrix" -t 20 -w 5
say "Gb/s $(flows_of rate "[round(x['gbps'], 2) for x in f]")"
exact "each has its link" flows_true rate "min(x['gbps'] for x in f) > 9.2"

# --- Three into one: the fabric pauses the senders, and none of them times out
mark "${HOST[@]}"
matrix 10000000 1-\>0 2-\>0 3-\>0
check "3:1: every byte" bench incast --verify -f "$TMP/matrix"
nothing_lost "3:1" "${HOST[@]}"
is "3:1: nothing was dropped by any port" "$(dropped)" 0
# Emulated hosts do not fill the link.
exact "3:1: senders were paused" [ "$(pauses)" -gt 0 ]

# --- Losses nevertheless.  Bit errors: one packet in some 800.
ip -n "${LEAF[0]}" link set h0 type netwire ber 1e-7
mark "${HOST[@]}"
matrix 20000000 1-\>0
check "bit errors: every byte" bench errors --verify -f "$TMP/matrix"
ip -n "${LEAF[0]}" link set h0 type netwire ber 0
say "found lost $(since LostByOrder "${HOST[1]}"), sent again $(since DataRtx "${HOST[1]}")," \
	"timeouts $(since Timeouts "${HOST[1]}"), doubled $(since DupIn "${HOST[0]}")"
check "bit errors: some were lost and sent again" [ "$(since DataRtx "${HOST[1]}")" -gt 0 ]
exact "and hardly a packet came twice" [ "$(since DupIn "${HOST[0]}")" -lt 20 ]

# Window updates and answers to probes are lost for a while: the sender probes again later.
for type in $PULL $ACK; do
	mark "${HOST[@]}"
	flow_serve "${HOST[1]}"
	in_ns "${HOST[0]}" sysctl -qw net.ndp.transport=light || die "no transport"
	lose_for 0.3 "$type" 0 drop
	flow_begin "${HOST[0]}" "${ADDRESS[1]}"
	lost "packets of type $type were lost"
	sleep 1
	check "and the flow ends with every byte" flow_end
	in_ns "${HOST[0]}" sysctl -qw net.ndp.transport=ndp
done

# Ports that drop, where the operator was wrong to declare the network lossless
tc -n "${LEAF[0]}" qdisc replace dev h0 root pfifo limit 30
mark "${HOST[@]}"
matrix 3000000 1-\>0 2-\>0 3-\>0
check "ports that drop: every byte" bench drops --verify -f "$TMP/matrix"
say "sent again $(since DataRtx "${HOST[@]}"), timeouts $(since Timeouts "${HOST[@]}")"
check "and they did drop" [ "$(tc_stat "${LEAF[0]}" h0 drops)" -gt 0 ]
check "all connections end" wait_for 60 quiet "${HOST[@]}"

# --- Containers of a virtual switch need no declaration.  C3 has a process that is stalled, reading
# 64 KB each half second, and one that reads on.
ns_add S C1 C2 C3
ip -n "$S" link add zs0 type zswitch fabric on
ip -n "$S" link set zs0 up
for i in 1 2 3; do
	ns=C$i
	ip -n "$S" link add "z$i" type zvnic peer name eth0 netns "${!ns}"
	ip -n "$S" link set "z$i" master zs0 up
	ip -n "${!ns}" address add "10.7.0.$i/24" dev eth0
	ip -n "${!ns}" link set eth0 up
	in_ns "${!ns}" sysctl -qw net.ndp.transport=light || die "no transport"
done
mark "$C1" "$C2" "$C3"
serve "$C3" -n 1 -w 500 5001
stalled=$SERVER
background fetch "$C1" -s 12000000 10.7.0.3 5001
culprit=$PID
some_came() { [ "$(since DataIn "$C3")" -gt 1000 ]; }
check "the stalled one fills up" wait_for 20 some_came
serve "$C3" -n 1 5002
check "beside it, from another container" fetch "$C2" -s 30000000 10.7.0.3 5002
check "every byte" served
serve "$C3" -n 1 5003
check "and from the same" fetch "$C1" -s 30000000 10.7.0.3 5003
check "every byte" served
check "the other has not ended yet" kill -0 "$culprit"
is "no frame waits for credit" \
	"$(ip -n "$S" -j -d -s link show z3 | grep -o '"held":[0-9]*' | grep -v ':0$')" ""
check "the stalled one ends well" wait "$culprit"
SERVER=$stalled
check "every byte" served
nothing_lost "containers" "$C1" "$C2" "$C3"
