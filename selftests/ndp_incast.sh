#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many senders to one receiver through one trimming port: all arrives, and the
# counters of hosts and switch tell the same story.
#
#	HOST[1] .. HOST[n] ---- LEAF[0] ---- HOST[0]
. "$(dirname "$0")/lib.sh"

require_module ndp

stat() { in_ns "$1" awk -v n="$2" '$1 == n { print $2 }' /proc/net/ndp_stat; }

# total NAME: over all senders
total() {
	local h sum=0

	for ((h = 1; h < ${#HOST[@]}; h++)); do
		sum=$((sum + $(stat "${HOST[h]}" "$1")))
	done
	echo $sum
}

# port DEV NAME...: sum of the port's counters
port() {
	tc -n "${LEAF[0]}" -j -s qdisc show dev "$1" | python3 -c '
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
print(sum(find(q, name) for name in sys.argv[1:]))' "${@:2}"
}

incast() {
	local senders=$1 bytes=$2 pid h bad=0 pids=()

	in_ns "${HOST[0]}" timeout 200 ndp_xfer listen -n "$senders" 5000 >"$TMP/listen" 2>&1 &
	pid=$!
	wait_for 20 grep -q listening "$TMP/listen" || die "no listener"
	for ((h = 1; h <= senders; h++)); do
		in_ns "${HOST[h]}" timeout 200 ndp_xfer connect -s "$bytes" \
			"${ADDRESS[0]}" 5000 >"$TMP/connect.$h" 2>&1 &
		pids+=($!)
	done
	for h in "${pids[@]}"; do
		wait "$h" || bad=$((bad + 1))
	done
	wait $pid || bad=$((bad + 1))
	[ $bad -eq 0 ] || tail -qn 1 "$TMP"/connect.* "$TMP/listen" | sort | uniq -c
	check "$senders:1 of $bytes bytes, all of them" [ $bad -eq 0 ]
}

# DATA alone is counted on both sides: what left the senders is what reached the
# receiver, or came back.
sums() {
	local sent got trims bounced

	sent=$(total DataOut)
	got=$(stat "${HOST[0]}" DataIn)
	trims=$(stat "${HOST[0]}" TrimmedIn)
	bounced=$(total BouncedIn)
	say "sent $sent, whole $got, trimmed $trims, returned $bounced"
	say "timeouts $(total Timeouts), retransmitted $(total DataRtx)"
	is "sent = arrived whole + arrived trimmed + returned + dropped" "$sent" \
		$((got + trims + bounced + $(port h0 drop_data drop_header)))
	is "trimmed at the port = arrived trimmed + returned + dropped" \
		"$(port h0 trimmed_arrival trimmed_tail)" \
		$((trims + bounced + $(port h0 drop_header)))
	is "what the port sent whole arrived whole" "$(port h0 data_sent)" "$got"
	is "every payload byte arrived" "$(stat "${HOST[0]}" DataBytesIn)" "$1"
}

leaf_spine hosts=32 leaves=1 spines=1 rate=50mbit delay=10us mtu=9000
incast 7 400000
sums $((7 * (400000 + 16)))
is "no header was lost or returned" "$(port h0 drop_header bounced)" "0"
check "the port trimmed" [ "$(port h0 trimmed_arrival trimmed_tail)" -gt 0 ]

incast 31 90000
sums $((7 * (400000 + 16) + 31 * (90000 + 16)))
