#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of AF_NDP share beyond lib.sh, which it sources.
#
#	ndp_stat NS NAME	a counter
#	ndp_total NAME NS...	its sum over namespaces
#	ndp_sum NS NAME...	sum of one's counters
#	tc_stat NS DEV NAME...	sum of counters of a port's qdisc
#	serve NS ARGS...	ndp_xfer listen ARGS..., once it listens; then
#	served			wait for its end: its exit code, its output in
#				$TMP/listen
#	fetch NS ARGS...	ndp_xfer connect ARGS...; a remark if it fails
#	flow_serve NS		as serve, for one flow
#	flow_begin NS ADDRESS [ARGS...]	a transfer to the NS that serves, 64 KB each 20 ms, which
#			keeps its end until flow_end; ARGS to the client
#	flow_runs		it has begun
#	flow_end		its end, and whether every byte has arrived
#	incast N BYTES		HOST[1] to HOST[N] of a leaf_spine send to HOST[0]
#	incast_sums BYTES	do the counters of HOSTs and LEAF[0]'s port h0 add up,
#				over all that was sent there, BYTES of payload in all?
#	senders NAME...		sum of counters of the other HOSTs, as it was then
#	quiet NS...		no socket is left there
#	json FILE EXPRESSION	of what ndp_bench prints: flows (by id), total, ports

. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034
NDP_PORT=13141

ndp_stat() { in_ns "$1" awk -v n="$2" '$1 == n { print $2 }' /proc/net/ndp_stat; }

SUM='BEGIN { n = split(names, name); for (i = 1; i <= n; i++) want[name[i]] }
	$1 in want { sum += $2 }
	END { print sum }'
ndp_sum() { in_ns "$1" awk -v names="${*:2}" "$SUM" /proc/net/ndp_stat; }

ndp_total() {
	local name=$1 ns sum=0

	shift
	for ns; do
		sum=$((sum + $(ndp_stat "$ns" "$name")))
	done
	echo $sum
}

# -SE, here and elsewhere: nothing of the site's, so that it starts twice as fast
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

# says NAME CODE PATTERN COMMAND...: what is refused says why, on standard error
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

FLOW_BYTES=3000000
flow_begin() {
	rm -f "$TMP/end"
	FLOW_BEFORE=$(ndp_stat "$1" AckIn)
	FLOW_NS=$1
	background fetch "$1" -i 20 -u "$TMP/end" -s $FLOW_BYTES "${@:3}" "$2" "$FLOW_PORT"
	FLOW=$PID
}
flow_serve() {
	FLOW_PORT=$((${FLOW_PORT:-6000} + 1))
	serve "$1" -n 1 $FLOW_PORT
}
flow_runs() { [ "$(ndp_stat "$FLOW_NS" AckIn)" -gt $((FLOW_BEFORE + ${1:-50})) ]; }
flow_end() {
	local bad=0

	touch "$TMP/end"
	wait $FLOW || bad=1
	served || bad=1
	return $bad
}

# Packets that came to a namespace in fragments: other traffic to a port.
reassembled() {
	if [ "$FAMILY" -eq 6 ]; then
		in_ns "$1" awk '$1 == "Ip6ReasmOKs" { print $2 }' /proc/net/snmp6
		return
	fi
	in_ns "$1" awk '$1 == "Ip:" && !n { n = split($0, name); next }
		$1 == "Ip:" { for (i = 1; i <= n; i++) if (name[i] == "ReasmOKs") print $i }' \
		/proc/net/snmp
}

see_senders() {
	local ns

	for ns in "${HOST[@]:1}"; do
		in_ns "$ns" cat /proc/net/ndp_stat || die "no counters of $ns"
	done >"$TMP/senders"
}
senders() { awk -v names="$*" "$SUM" "$TMP/senders"; }
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

between() { [ "$1" -le "$2" ] && [ "$2" -le "$3" ]; }
quiet() { [ "$(ndp_total SockInUse "$@")" -eq 0 ]; }

# Every packet, by name: what left the senders is what reached the receiver, whole
# or trimmed, or came back, or was dropped by the port.
incast_sums() {
	local sent data got trims bounced arrived dropped late numbered whole

	check "all connections end" wait_for 20 quiet "${HOST[@]}"
	see_senders
	sent=$(senders DataOut OpenOut FinOut AckOut NackOut PullOut ProbeOut RstOut)
	data=$(senders DataOut)
	got=$(ndp_stat "${HOST[0]}" DataIn)
	trims=$(ndp_stat "${HOST[0]}" TrimmedIn)
	# What came again after its connection had ended is not told by type.
	late=$(ndp_sum "${HOST[0]}" TombstoneHits DropClosed DropNoConn)
	arrived=$((late + $(ndp_sum "${HOST[0]}" DataIn TrimmedIn OpenIn FinIn AckIn NackIn \
		PullIn ProbeIn RstIn)))
	bounced=$(senders BouncedIn)
	dropped=$(port drop_data drop_header)
	say "packets $sent; of them data $data: whole $got, trimmed $trims, returned $bounced"
	say "timeouts $(senders Timeouts), retransmitted $(senders DataRtx), late $late"
	is "sent = arrived + returned + dropped" "$sent" $((arrived + bounced + dropped))
	# FIN and openings are returned as well.
	numbered=$(senders DataOut FinOut OpenOut)
	whole=$(ndp_sum "${HOST[0]}" DataIn FinIn OpenIn)
	check "numbered and sent = whole + trimmed + returned + dropped + late" \
		between 0 $((numbered - whole - trims - bounced)) $((dropped + late))
	check "trimmed by the port = data sent - whole - late" \
		between 0 $((data - got - $(port trimmed_arrival trimmed_tail))) $late
	check "what the port sent whole arrived whole" \
		between 0 $(($(port data_sent) + $(reassembled "${HOST[0]}") - got)) $late
	is "every payload byte arrived" "$(ndp_stat "${HOST[0]}" DataBytesIn)" "$1"
}
