#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's event of a dropped packet, skb:kfree_skb: transfers without loss cause none, and
# packets that the counters call dropped appear there with a reason.
#
#	H0 ======== H1, then HOST[1..4] ==1 Gb/s== LEAF[0] --5 Mb/s-- HOST[0]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ndp netwire
require_program python3
require_trace events/skb/kfree_skb
tap_plan 26

# The event names no namespace, and a socket that an earlier test has left may still lose packets.
unload_transports
wait_for 60 modprobe -qr sch_ndp ndp || die "earlier sockets stay"
require_module ndp sch_ndp

trace_instance
EVENT=$T/events/skb/kfree_skb
# The kernel counts the events if it has histograms.  Else each event is read, for which its format
# must contain the symbol of its location: older kernels print a number, and some show no reason.
KEYS=hist:keys=location.sym,reason
if [ -e "$EVENT/hist" ]; then
	echo $KEYS >"$EVENT/trigger" || die "no histogram"
elif ! grep -q 'location=%pS' "$EVENT/format"; then
	skip_all "this kernel has no histograms of events"
fi
echo 1 >"$EVENT/enable"

# Append all events since the last call to $TMP/drops: "MODULE FUNCTION REASON" a line
traced() {
	cat "$T/trace" >"$TMP/trace"
	: >"$T/trace"
	if [ -e "$EVENT/hist" ]; then
		cat "$EVENT/hist" >"$TMP/trace"
		echo $KEYS:clear >>"$EVENT/trigger"
	fi
	python3 -SE -c '
import re, sys
reasons = dict(re.findall(r"\{ (\d+), \"(\w+)\" \}", open(sys.argv[2]).read()))
for line in open(sys.argv[1]):
    m = re.search(r"location=([^+ ]+)\S*( \[(\w+)\])? reason: (\w+)", line)
    if m:
        print(m[3] or "-", m[1], m[4])
    m = re.search(r"location\S*: \[\w+\] (\S+)( \[(\w+)\])?\s*, reason:\s*(\d+) \}"
                  r" hitcount:\s*(\d+)", line)
    for i in range(int(m[5]) if m else 0):
        print(m[3] or "-", m[1], reasons[m[4]])' "$TMP/trace" "$EVENT/format" >>"$TMP/drops"
	say "drops: $(sort "$TMP/drops" | uniq -c | tr -s ' ' | tr '\n' ';')"
}
# dropped MODULE REASON: how many match these patterns
dropped() { grep -cE "^($1) [^ ]* ($2)\$" "$TMP/drops"; }
OURS='ndp|sch_ndp|netwire'

# reasons NAME NAMESPACE...: drops by sockets are those that are counted, each with its reason
reasons() {
	is "$1: strangers' packets" "$(dropped ndp NO_SOCKET)" \
		"$(counters "${@:2}" | sum_of DropNoConn DropNoListener DropCookie)"
	is "$1: what had come already" "$(dropped ndp TCP_OLD_DATA)" "$(ndp_total DupIn "${@:2}")"
	is "$1: what finds no room" "$(dropped ndp SOCKET_RCVBUFF)" "$(ndp_total NoRoomIn "${@:2}")"
	is "$1: what is not well formed" \
		"$(dropped ndp 'PKT_TOO_SMALL|UNHANDLED_PROTO|UDP_CSUM')" \
		"$(counters "${@:2}" | sum_of DropShort DropLength DropVersion \
			DropType DropChecksum DropTransport CrcIn)"
	is "$1: of no other kind" "$(dropped ndp NOT_SPECIFIED)" 0
}

wire_pair rate=1gbit mtu=9000
# Both hosts have sockets before the first packet: else IP would drop it.
for ns in "$H0" "$H1"; do
	background ip netns exec "$ns" ndp_xfer listen -n 9 5009 >"$TMP/listens" 2>&1
	wait_for 20 grep -q listening "$TMP/listens" || die "no listener"
done
traced
: >"$TMP/drops"
serve "$H1" -n 1 5001
check "a transfer" fetch "$H0" -s 3000000 10.0.0.2 5001
check "its end" served
serve "$H0" -n 1 5002
check "a transfer the other way" fetch "$H1" -s 3000000 10.0.0.1 5002
check "its end, too" served
check "they have ended" wait_for 20 eval '[ "$(ndp_total Orphans "$H0" "$H1")" = 0 ]'
traced
exact "nothing is dropped" [ "$(dropped "$OURS" '.*')" -eq 0 ]
# A slow machine may retransmit needlessly; only such duplicates are dropped.
is "but what came twice" "$(dropped "$OURS" '.*')" "$(ndp_total DupIn "$H0" "$H1")"

# Packets to a port on which nobody listens, and packets that are not NDP's
refuse "nobody listens" in_ns "$H0" ndp_cat 10.0.0.2 5010 </dev/null
in_ns "$H0" python3 -SE -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.0.0.1", 50000))
for junk in b"x", bytes(64), b"\xff" * 64:
    s.sendto(junk, ("10.0.0.2", 13141))' || die "no datagrams"
check "they have come" wait_for 20 eval '[ "$(ndp_stat "$H1" DropShort DropVersion)" = 3 ]'
traced
reasons "refused" "$H0" "$H1"
check "some were" [ "$(dropped ndp NO_SOCKET)" -gt 0 ]

# A port that trims, and drops headers when it has too many
ns_del_all
leaf_spine hosts=5 leaves=1 spines=1 rate=1gbit delay=10us mtu=9000
ip -n "${HOST[0]}" link set eth0 type netwire rate 5mbit || die "no slow port"
tc -n "${LEAF[0]}" qdisc replace dev h0 root ndp limit 2 hdr_limit 128 overflow drop ||
	die "no short queues"
traced
: >"$TMP/drops"
incast 4 60000
check "all connections end" wait_for 20 quiet "${HOST[@]}"
traced
reasons "trimmed" "${HOST[@]}"
is "what the port drops" "$(dropped '[^ ]*' QDISC_DROP)" \
	"$(port drop_data drop_header drop_other)"
check "some is" [ "$(port drop_header)" -gt 0 ]
check "some was trimmed" [ "$(ndp_stat "${HOST[0]}" TrimmedIn)" -gt 0 ]
is "which is no drop" "$(dropped "$OURS" NOT_SPECIFIED)" 0
