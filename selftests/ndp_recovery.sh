#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Nothing hangs and no buffer overflows when control packets are lost, readers are slow, or
# writers pause.
#
#	HOST[0] ---- LEAF[0] ---- HOST[1]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ingress act_gact cls_u32
tap_plan 36

PORT=5000

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
check "some were lost" [ "$(lose_none)" -gt 0 ]
lose_for 3 $ACK 8 drop
both "all ACKs lost for 3 s, with their pulls"
lost "some were lost"
lose_for 3 $ACK 2 drop
both "final ACKs lost for 3 s"
lost "some were lost"
lose_for 3 $FIN 0 drop
both "FINs lost for 3 s"
lost "some were lost"
# A PROBE must not arrive before the opening: it would be refused.
lose_for 2 $DATA 1 drop
both "openings lost for 2 s"
lost "some were lost"
check "no socket is left" wait_for 20 quiet "${HOST[@]}"

# The maximum of memory in use by all sockets.
background ip netns exec "${HOST[0]}" python3 -c '
import time
while True:
    print(dict(line.split() for line in open("/proc/net/ndp_stat"))["MemPages"], flush=True)
    time.sleep(0.2)' >"$TMP/pages"
watching=$PID
# More bytes than both buffers and a first window hold.  A PULL announces the room that a
# reader makes.
lose $PULL 0 pass random determ drop 2
serve "${HOST[1]}" -w 20 6000
check "slow reader, every second PULL lost" fetch "${HOST[0]}" -s 12000000 "${ADDRESS[1]}" 6000
check "slow reader's end" served
# Where the sender is slower than the reader, as on a slow machine, each pull rides on an ACK.
lost=$(lose_none)
exact "some were lost" [ "$lost" -gt 0 ]
serve "${HOST[1]}" 6001
check "slow reader of what the server sends" \
	fetch "${HOST[0]}" -w 20 -r 12000000 "${ADDRESS[1]}" 6001
check "its server's end" served
serve "${HOST[1]}" -i 300 6002
check "writers that pause and push again" \
	fetch "${HOST[0]}" -i 300 -s 500000 -r 500000 "${ADDRESS[1]}" 6002
check "their end" served
# The round-trip time is suddenly far beyond the timeout: packets are retransmitted spuriously
# until the first answers have arrived, and no longer.
again() { ndp_stat "${HOST[0]}" DataRtx; }
# Are few of the next hundred packets retransmitted?
few_again() {
	local before

	before=$(again)
	flow_mark
	wait_for 20 flow_runs 100 && [ $(($(again) - before)) -lt 10 ]
}
flow_serve "${HOST[1]}"
flow_begin "${HOST[0]}" "${ADDRESS[1]}"
check "a flow runs" wait_for 20 flow_runs
before=$(again)
ip -n "${LEAF[0]}" link set h1 type netwire delay 300ms
found_out() { [ "$(ndp_stat "${HOST[0]}" SpuriousTimeouts)" -gt 0 ]; }
check "a path that becomes long: too short a timeout is found out" wait_for 20 found_out
check "and few are sent again from then on" wait_for 60 few_again
exact "$(($(again) - before)) retransmitted" between 1 $(($(again) - before)) 150
check "every byte" flow_end
ip -n "${LEAF[0]}" link set h1 type netwire delay 10us
# A pause longer than a peer may stay silent; the first packets after it are lost.
serve "${HOST[1]}" 6003
flow_mark
background fetch "${HOST[0]}" -i 33000 -s 100000 "${ADDRESS[1]}" 6003
check "before a long silence" wait_for 20 flow_runs 7
check "it is silent" wait_for 20 flow_stands
lose_for 1 $DATA 0 drop
check "a loss after a long silence" wait $PID
check "its server's end" served
lost "some were lost"
# The host itself has no route; it tries again, ever more seldom.
flow_serve "${HOST[1]}"
flow_begin "${HOST[0]}" "${ADDRESS[1]}" -i 0
check "a flow runs" wait_for 20 flow_runs
refused=$(ndp_stat "${HOST[0]}" LocalDrop)
began=$SECONDS
ip -n "${HOST[0]}" route del default || die "no route"
sleep 5
ip -n "${HOST[0]}" route add default via 10.1.0.1
# A first window of 23 packets 16 times a second, and PROBEs.
check "no route for a while" between 1 $(($(ndp_stat "${HOST[0]}" LocalDrop) - refused)) \
	$(((SECONDS - began + 2) * 16 * 40))
flow_mark
check "then it goes on" wait_for 20 flow_runs
check "every byte" flow_end
kill $watching
pages=$(sort -n "$TMP/pages" | tail -n 1)
say "$pages pages at most"
# Two buffers of 4 MiB at each end, a packet more in each, and the overhead of packets that
# are cut small while a black hole is suspected.
check "no buffer overflows" between 1 "$pages" $((5 * 1027))
is "no memory was short" "$(ndp_total DropMemory "${HOST[@]}")" 0
is "nobody gave up" "$(ndp_total GivenUp "${HOST[@]}")" 0
check "no socket is left" wait_for 20 quiet "${HOST[@]}"
