#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Functions that the tests of AF_NDP share beyond lib.sh, which this file sources.
#
#	ndp_stat NS NAME...	a counter, or the sum of several
#	ndp_total NAME NS...	sum of a counter over namespaces
#	ip_stat NS Ip|Udp NAME	a counter of IP's or UDP's own
#	tc_stat NS DEV NAME...	sum of counters of a port's qdisc
#	serve NS ARGS...	run ndp_xfer listen ARGS..., and return once it listens; then
#	served			wait for its end and return its exit code; its output is in
#				$TMP/listen
#	fetch NS ARGS...	ndp_xfer connect ARGS...; a remark if it fails
#	transfer NAME FROM TO ADDRESS BYTES...	a result: each size both ways, one after the
#				other, from the NS FROM to the ADDRESS at which the NS TO listens
#	flow_serve NS		as serve, for one flow
#	flow_begin NS ADDRESS [ARGS...]	send 64 KB every 20 ms from NS to ADDRESS, where
#			flow_serve listens, until flow_end; ARGS to the client
#	flow_runs [N]		have more than N (50) ACKs of the flow arrived since it began,
#				or since flow_mark?
#	flow_stands		does no ACK arrive within a second?  Also a flow_mark
#	flow_end		end the flow; fails unless every byte has arrived
#	lose TYPE FLAGS ACTION...	at LEAF[0], apply this tc action, as drop, to packets of
#				that type with those flags from HOST[0] and HOST[1]; then
#	lose_none		stop that; prints how many were lost
#	lose_for SECONDS TYPE FLAGS ACTION...	as lose, until SECONDS after the first loss; then
#	lost NAME		a result: at least one packet was lost
#	incast N BYTES		HOST[1] to HOST[N] of a leaf_spine send BYTES each to HOST[0]
#	incast_sums BYTES	results: the counters of HOSTs and of LEAF[0]'s port h0 add up,
#				over all that was sent so far, BYTES of payload in all
#	senders NAME...		sum of counters of the other HOSTs, as of the last incast_sums
#	watch_data NS		observe DATA packets that arrive at NS's eth0; then
#	watched twice|late	how many of them, retransmissions aside, were duplicates, or
#				arrived behind a later one
#	quiet NS...		is no socket left there?
#	has_monitor NS		does a process there listen to ndp's events?
#	entropies COMMAND N	add or delete N paths from HOST[0] to HOST[1], whose ports are
#				50000, 50097, and so on
#	oracles_over TRANSPORT	the whole test: all programs of the oracle over it
#	json FILE EXPRESSION	evaluate it over ndp_bench's output: flows (by id), total, ports
#	bench_hosts PROTO NAME ARGS...	ndp_bench over HOST and ADDRESS, into $TMP/NAME; then
#	flows_of NAME EXPRESSION	evaluate it over that file; f is the list of flows
#	flows_true NAME EXPRESSION	is its value True?
#	matrix SIZE SENDER->RECEIVER...	write these flows to $TMP/matrix, for ndp_bench -f
#	set_ndp NAME=VALUE NS...	set net.ndp.NAME
#	unload_transports	unload transports that earlier tests on the same machine have
#				left loaded, as these keep ndp loaded

. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034
NDP_PORT=13141

# Counters whose sum is all packets that NDP has sent
ALL_OUT="DataOut OpenOut FinOut AckOut NackOut PullOut ProbeOut CookieOut RstOut"

# The counters of namespaces, one after the other
counters() {
	local ns

	for ns; do
		in_ns "$ns" cat /proc/net/ndp_stat || die "no counters of $ns"
	done
}

# sum_of NAME...: sum of these counters on standard input.  A missing one gives no number.
sum_of() {
	awk -v names="$*" 'BEGIN { n = split(names, name); for (i = 1; i <= n; i++) want[name[i]] }
		$1 in want { sum += $2; seen[$1] }
		END { for (i in want) if (!(i in seen)) { print "no counter " i; exit }
			print sum }'
}

ndp_stat() { counters "$1" | sum_of "${@:2}"; }
ndp_total() { counters "${@:2}" | sum_of "$1"; }

# -SE, here and elsewhere: no site module and no environment, so Python starts twice as fast
tc_stat() {
	tc -n "$1" -j -s qdisc show dev "$2" | python3 -SE -c '
import json, sys
def find(o, name):
    if isinstance(o, dict):
        if name in o:
            return o[name]
        o = list(o.values())
    if isinstance(o, list):
        for x in o:
            r = find(x, name)
            if r is not None:
                return r
q = json.load(sys.stdin)
print(sum(find(q, name) for name in sys.argv[1:]))' "${@:3}"
}

# says NAME CODE PATTERN COMMAND...: COMMAND exits with CODE and prints PATTERN to standard error
says() {
	local name=$1 code=$2 pattern=$3 got

	shift 3
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	got=$?
	is "$name: exit code" $got "$code"
	check "$name: '$pattern'" grep -q -- "$pattern" "$TMP/err"
}

json() {
	python3 -SE -c '
import json, sys
flows, ports, total = {}, {}, {}
for line in open(sys.argv[1]):
    r = json.loads(line)
    if "id" in r:
        flows[r["id"]] = r
    elif "ports" in r:
        ports[r["ports"]] = r
    else:
        total = r
print(eval(sys.argv[2]))' "$@"
}

flows_of() { json "$TMP/$1" "(lambda f: $2)(list(flows.values()))"; }
flows_true() { [ "$(flows_of "$@")" = True ]; }

bench_hosts() {
	local proto=$1 name=$2 h

	shift 2
	for ((h = 0; h < ${#HOST[@]}; h++)); do
		echo "${HOST[h]} ${ADDRESS[h]}"
	done >"$TMP/hosts"
	timeout 300 ndp_bench -H "$TMP/hosts" -p "$proto" "$@" >"$TMP/$name"
}

matrix() {
	local flow size=$1

	shift
	for flow; do
		echo "$flow id ${flow%%-*} start 0 size $size"
	done >"$TMP/matrix"
}

set_ndp() {
	local ns setting=$1

	shift
	for ns; do
		in_ns "$ns" sysctl -qw "net.ndp.$setting" || die "no $setting"
	done
}

# Sockets of a deleted namespace may hold the modules for a while.
unload_transports() { wait_for 20 transports_unloaded; }
transports_unloaded() {
	local module

	for module in ndp_mprdma ndp_dcqcn ndp_light ndp_fixed; do
		[ ! -e /sys/module/$module ] || rmmod $module || return
	done
}

serve() {
	local ns=$1 family=()

	shift
	[ "$FAMILY" -eq 4 ] || family=(-6)
	: >"$TMP/listen"
	in_ns "$ns" timeout 200 ndp_xfer listen "${family[@]}" "$@" >"$TMP/listen" 2>&1 &
	SERVER=$!
	wait_for 20 grep -q listening "$TMP/listen" || die "no listener"
}

served() {
	wait $SERVER && return
	say "listener: $(sort "$TMP/listen" | uniq -c | head -n 5 | tr '\n' ';')"
	return 1
}

fetch() {
	local ns=$1 out=$TMP/connect.$BASHPID code

	shift
	in_ns "$ns" timeout 200 ndp_xfer connect "$@" >"$out" 2>&1
	code=$?
	[ $code -eq 0 ] || say "$*: $(sort "$out" | uniq -c | head -n 5 | tr '\n' ';')"
	return $code
}

transfer() {
	local name=$1 from=$2 to=$3 address=$4 n bad=0

	shift 4
	for n; do
		TRANSFER_PORT=$((${TRANSFER_PORT:-5000} + 1))
		serve "$to" $TRANSFER_PORT
		fetch "$from" -s "$n" -r "$n" "$address" $TRANSFER_PORT || bad=1
		served || bad=1
	done
	check "$name" [ $bad -eq 0 ]
}

flow_begin() {
	rm -f "$TMP/end"
	FLOW_NS=$1
	flow_mark
	background fetch "$1" -i 20 -u "$TMP/end" "${@:3}" "$2" "$FLOW_PORT"
	FLOW=$PID
}
flow_serve() {
	FLOW_PORT=$((${FLOW_PORT:-6000} + 1))
	serve "$1" -n 1 $FLOW_PORT
}
flow_mark() { FLOW_BEFORE=$(ndp_stat "$FLOW_NS" AckIn); }
flow_runs() { [ "$(ndp_stat "$FLOW_NS" AckIn)" -gt $((FLOW_BEFORE + ${1:-50})) ]; }
flow_stands() {
	flow_mark
	sleep 1
	! flow_runs 0
}
flow_end() {
	local bad=0

	touch "$TMP/end"
	wait $FLOW || bad=1
	served || bad=1
	return $bad
}

# Packet types, as on the wire
# shellcheck disable=SC2034
DATA=1 ACK=2 PULL=4 FIN=6

# IPv4 only: the NDP header begins behind 20 bytes of IP and 8 of UDP.
lose() {
	local dev

	for dev in h0 h1; do
		tc -n "${LEAF[0]}" qdisc add dev $dev clsact &&
			tc -n "${LEAF[0]}" filter add dev $dev ingress protocol ip u32 \
				match ip protocol 17 0xff match ip dport $NDP_PORT 0xffff \
				match u8 "$1" 0x0f at 28 match u8 "$2" "$2" at 29 \
				action "${@:3}" || die "cannot lose packets"
	done
}

how_many_lost() {
	local dev

	for dev in h0 h1; do
		tc -n "${LEAF[0]}" -s filter show dev $dev ingress
	done | awk -F'dropped ' '/\(dropped / { n += $2 } END { print n + 0 }'
}

lose_none() {
	local dev

	how_many_lost
	for dev in h0 h1; do
		tc -n "${LEAF[0]}" qdisc del dev $dev clsact
	done
}

some_lost() { [ "$(how_many_lost)" -gt 0 ]; }

lose_for() {
	local seconds=$1

	shift
	lose "$@"
	(
		wait_for 60 some_lost
		sleep "$seconds"
		lose_none >"$TMP/lost"
	) &
	LOSING=$!
}

lost() {
	wait $LOSING
	check "$1" [ "$(cat "$TMP/lost")" -gt 0 ]
}

watch_data() {
	[ -z "${WATCHING-}" ] || kill "$WATCHING"
	# Not in_ns: $PID must be the watcher itself, not a subshell.
	background ip netns exec "$1" python3 -SE -c '
import socket, sys
DATA, RTX = 1, 0x10
packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
packets.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)      # SO_RCVBUFFORCE
packets.bind(("eth0", 3))
highest, seen, twice, late = {}, set(), 0, 0
while True:
    print("twice", twice, "late", late, flush=True)
    packet, where = packets.recvfrom(65536)
    at = 40 if packet[0] >> 4 == 6 else 20
    if where[2] == socket.PACKET_OUTGOING or packet[at + 2:at + 4] != b"\x33\x55":
        continue
    header = packet[at + 8:]
    if header[0] & 15 != DATA or header[1] & RTX:
        continue
    connection, psn = header[8:16], int.from_bytes(header[16:20], "big")
    if (connection, psn) in seen:
        twice += 1
        continue
    seen.add((connection, psn))
    behind = (highest.setdefault(connection, psn) - psn) & 0xffffffff
    if behind < 1 << 31:
        late += behind > 0
    else:
        highest[connection] = psn' >"$TMP/watched" 2>&1
	WATCHING=$PID
	wait_for 20 grep -q twice "$TMP/watched" || die "no watcher: $(cat "$TMP/watched")"
}
watched() { tail -n 1 "$TMP/watched" | grep -o "$1 [0-9]*" | cut -d" " -f2; }

ip_stat() {
	if [ "$FAMILY" -eq 6 ]; then
		in_ns "$1" awk -v name="${2}6$3" '$1 == name { print $2 }' /proc/net/snmp6
		return
	fi
	in_ns "$1" awk -v proto="$2:" -v want="$3" '
		$1 == proto && !n { n = split($0, name); next }
		$1 == proto { for (i = 1; i <= n; i++) if (name[i] == want) print $i }' \
		/proc/net/snmp
}

see_senders() { counters "${HOST[@]:1}" >"$TMP/senders"; }
senders() { sum_of "$@" <"$TMP/senders"; }
port() { tc_stat "${LEAF[0]}" h0 "$@"; }

incast() {
	local senders=$1 bytes=$2 h bad=0 pids=()

	serve "${HOST[0]}" -n "$senders" 5000
	for ((h = 1; h <= senders; h++)); do
		fetch "${HOST[h]}" -s "$bytes" "${ADDRESS[0]}" 5000 &
		pids+=($!)
	done
	for h in "${pids[@]}"; do
		wait "$h" || bad=$((bad + 1))
	done
	served || bad=$((bad + 1))
	check "$senders:1 of $bytes bytes, all of them" [ $bad -eq 0 ]
}

# Run each program of the oracle, with the transport in all namespaces that it makes.
oracles_over() {
	local oracle variants=(-v wire)

	require_module "ndp_$1"
	tap_plan 3
	[ -z "${NDP_FULL-}" ] || variants=()
	export NDP_TRANSPORT=$1
	for oracle in ndp_oracle ndp_oracle_open ndp_oracle_system; do
		check "$oracle over $1" "$oracle" "${variants[@]}"
	done
}

entropies() {
	local i

	for ((i = 0; i < $2; i++)); do
		in_ns "${HOST[0]}" ndp path "$1" "${ADDRESS[1]}" entropy $((50000 + 97 * i)) ||
			die "no path"
	done
}

between() { [ "$1" -le "$2" ] && [ "$2" -le "$3" ]; }
quiet() { [ "$(ndp_total SockInUse "$@")" -eq 0 ]; }

# The kernel's own socket of generic netlink is in no multicast group.
has_monitor() {
	in_ns "$1" grep -qE '^[0-9a-f]+ 16 +[0-9]+ +0*[1-9a-f]' /proc/net/netlink
}

# Account for every packet by its type: each one that left the senders reached the receiver,
# whole or trimmed, or was returned, or was dropped by the port.
incast_sums() {
	local sent data got trims bounced arrived dropped late numbered whole

	check "all connections end" wait_for 20 quiet "${HOST[@]}"
	see_senders
	# shellcheck disable=SC2086
	sent=$(senders $ALL_OUT)
	data=$(senders DataOut)
	got=$(ndp_stat "${HOST[0]}" DataIn)
	trims=$(ndp_stat "${HOST[0]}" TrimmedIn)
	# Packets that arrived after their connection had ended are not counted by type.
	late=$(ndp_stat "${HOST[0]}" TombstoneHits DropClosed DropNoConn)
	arrived=$((late + $(ndp_stat "${HOST[0]}" DataIn TrimmedIn OpenIn FinIn AckIn NackIn \
		PullIn ProbeIn CookieIn RstIn)))
	bounced=$(senders BouncedIn)
	dropped=$(port drop_data drop_header)
	say "packets $sent; of them data $data: whole $got, trimmed $trims, returned $bounced"
	say "timeouts $(senders Timeouts), retransmitted $(senders DataRtx), late $late," \
		"cookies $(senders CookieOut)"
	is "sent = arrived + returned + dropped" "$sent" $((arrived + bounced + dropped))
	# FIN and openings are returned as well.
	numbered=$(senders DataOut FinOut OpenOut)
	whole=$(ndp_stat "${HOST[0]}" DataIn FinIn OpenIn)
	check "numbered and sent = whole + trimmed + returned + dropped + late" \
		between 0 $((numbered - whole - trims - bounced)) $((dropped + late))
	check "trimmed by the port = data sent - whole - late" \
		between 0 $((data - got - $(port trimmed_arrival trimmed_tail))) $late
	# Packets that arrived in fragments are other traffic to the port.
	check "what the port sent whole arrived whole" \
		between 0 $(($(port data_sent) + $(ip_stat "${HOST[0]}" Ip ReasmOKs) - got)) $late
	is "every payload byte arrived" "$(ndp_stat "${HOST[0]}" DataBytesIn)" "$1"
}

TRACING=/sys/kernel/tracing
# require_trace PATH: skip the test unless tracefs has PATH
require_trace() {
	[ -d $TRACING/events ] || mount -t tracefs trace $TRACING 2>"$TMP/err"
	[ -d "$TRACING/$1" ] || skip_all "no tracefs, or no events: $(cat "$TMP/err")"
}

# Use a trace buffer of our own, $T, so that other users of tracing are not disturbed.
trace_instance() {
	T=$TRACING/instances/${TMP##*/}
	mkdir "$T" || die "no instance of tracefs"
	trap 'trace_end; lib_cleanup' EXIT
	echo 8192 >"$T/buffer_size_kb"
}
trace_end() {
	local code=$?

	echo 0 >"$T/events/enable"
	rmdir "$T"
	return $code
}
