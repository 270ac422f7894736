#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Nothing hangs and nothing overflows: control packets lost, readers that are
# slow, writers that pause.
#
#	HOST[0] ---- LEAF[0] ---- HOST[1]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ingress act_gact cls_u32

DATA=1 ACK=2 PULL=4 FIN=6
PORT=5000

# lose TYPE FLAGS ACTION...: do so with packets of that type and with those flags,
# in both directions
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

# Also tells how many packets were lost.
lose_none() {
	local dev n=0 lost

	for dev in h0 h1; do
		lost=$(tc -n "${LEAF[0]}" -s filter show dev $dev ingress |
			sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | head -n 1)
		n=$((n + ${lost:-0}))
		tc -n "${LEAF[0]}" qdisc del dev $dev clsact
	done
	echo $n
}

# lose_for SECONDS ...: from the first that is lost; then lost tells how many
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

some_lost() {
	{
		tc -n "${LEAF[0]}" -s filter show dev h0 ingress
		tc -n "${LEAF[0]}" -s filter show dev h1 ingress
	} | grep -q '(dropped [1-9]'
}

lost() {
	wait $LOSING
	check "so many were lost" [ "$(cat "$TMP/lost")" -gt 0 ]
}

# both NAME ARGS...: a transfer with ndp_xfer's arguments on both sides
both() {
	local name=$1 bad=0

	shift
	PORT=$((PORT + 1))
	serve "${HOST[1]}" "$@" $PORT
	fetch "${HOST[0]}" -s 1000000 -r 1000000 "$@" "${ADDRESS[1]}" $PORT || bad=1
	served || bad=1
	check "$name" [ $bad -eq 0 ]
}

leaf_spine hosts=2 leaves=1 spines=1 rate=100mbit delay=10us mtu=9000

# A pull rides on an ACK if it can.
lose $ACK 8 pass random determ drop 2
both "every second ACK lost, with its pull"
check "so many were lost" [ "$(lose_none)" -gt 0 ]
lose_for 3 $ACK 8 drop
both "all ACKs lost for 3 s, with their pulls"
lost
lose_for 3 $ACK 2 drop
both "final ACKs lost for 3 s"
lost
lose_for 3 $FIN 0 drop
both "FINs lost for 3 s"
lost
# A question must not come before the opening: it would be refused.
lose_for 2 $DATA 1 drop
both "openings lost for 2 s"
lost
check "no socket is left" wait_for 20 quiet "${HOST[@]}"

# The most that is in use at any time, of all sockets.
background ip netns exec "${HOST[0]}" python3 -c '
import time
while True:
    print(dict(line.split() for line in open("/proc/net/ndp_stat"))["MemPages"], flush=True)
    time.sleep(0.2)' >"$TMP/pages"
watching=$PID
# More than both buffers, and the default one's first window, hold.  What a reader
# makes room for is told by a PULL.
lose $PULL 0 pass random determ drop 2
serve "${HOST[1]}" -w 20 6000
check "slow reader, every second PULL lost" fetch "${HOST[0]}" -s 12000000 "${ADDRESS[1]}" 6000
check "slow reader's end" served
check "so many were lost" [ "$(lose_none)" -gt 0 ]
serve "${HOST[1]}" 6001
check "slow reader of what the server sends" \
	fetch "${HOST[0]}" -w 20 -r 12000000 "${ADDRESS[1]}" 6001
check "its server's end" served
serve "${HOST[1]}" -i 300 6002
check "writers that pause and push again" \
	fetch "${HOST[0]}" -i 300 -s 500000 -r 500000 "${ADDRESS[1]}" 6002
check "their end" served
# A round trip that is suddenly far beyond the timeout: packets are sent twice until the
# first answers have come, and no longer.
flow_serve "${HOST[1]}"
flow_begin "${HOST[0]}" "${ADDRESS[1]}"
check "a flow runs" wait_for 20 flow_runs 10
again=$(ndp_stat "${HOST[0]}" DataRtx)
ip -n "${LEAF[0]}" link set h1 type netwire delay 300ms
check "a path that becomes long" flow_end
ip -n "${LEAF[0]}" link set h1 type netwire delay 10us
again=$(($(ndp_stat "${HOST[0]}" DataRtx) - again))
check "too short a timeout is found out" between 1 "$(ndp_stat "${HOST[0]}" SpuriousTimeouts)" 100
check "and ends: $again retransmitted" between 1 "$again" 150
# Longer than a peer may stay silent, and the first packets after it are lost.
serve "${HOST[1]}" 6003
background fetch "${HOST[0]}" -i 33000 -s 100000 "${ADDRESS[1]}" 6003
sleep 5
lose_for 1 $DATA 0 drop
check "a loss after a long silence" wait $PID
check "its server's end" served
lost
# The host itself refuses to send; it tries again, ever more seldom.
serve "${HOST[1]}" 6004
background fetch "${HOST[0]}" -s 12000000 "${ADDRESS[1]}" 6004
sleep 0.3
refused=$(ndp_stat "${HOST[0]}" LocalDrop)
began=$SECONDS
ip -n "${HOST[0]}" route del default || die "no route"
sleep 5
ip -n "${HOST[0]}" route add default via 10.1.0.1
# A first window of 23 packets 16 times a second, and PROBEs.
check "no route for a while" between 1 $(($(ndp_stat "${HOST[0]}" LocalDrop) - refused)) \
	$(((SECONDS - began + 2) * 16 * 40))
check "then all goes on" wait $PID
check "its server's end" served
kill $watching
pages=$(sort -n "$TMP/pages" | tail -n 1)
# Two buffers of 4 MiB at each end, a packet more in each, and what it weighs that packets
# are cut small while a black hole is suspected.
check "no buffer overflows" between 1 "$pages" $((5 * 1027))
is "no memory was short" "$(ndp_total DropMemory "${HOST[@]}")" 0
is "nobody gave up" "$(ndp_total GivenUp "${HOST[@]}")" 0
check "no socket is left" wait_for 20 quiet "${HOST[@]}"
