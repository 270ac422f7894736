#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets that no honest peer sends: each is counted under the name of its defect, and a
# connection that runs meanwhile is not affected.
#
#	H0 eth0 ==== eth0 H1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
require_program tcpdump python3
tap_plan 37

OPEN=5000 CLOSED=5999

drops() { in_ns "$1" awk '$1 ~ /^Drop/ { print $1 "=" $2 }' /proc/net/ndp_stat; }

# Drops counted in $1 since $TMP/before was written, by name.
changed() {
	drops "$1" | diff "$TMP/before" - | awk -F'[ =]' '
		$1 == "<" { old[$2] = $3 }
		$1 == ">" { printf "%s%s=%d", sep, $2, $3 - old[$2]; sep = " " }'
}

# forged NAME WANTED FROM TO ARGS...: send forged packets from FROM to TO; exactly
# the WANTED drops are counted there, as many as packets were sent
forged() {
	local name=$1 wanted=$2 from=$3 to=$4 n got

	shift 4
	drops "$to" >"$TMP/before"
	n=$(in_ns "$from" ndp_forge "$@") || die "$name: not sent"
	wait_for 20 all_counted "$to" "$n"
	got=$(changed "$to")
	is "$name: $n packets, counted by name" "$got" "$wanted"
}

all_counted() {
	[ "$(changed "$1" | tr ' ' '\n' | awk -F= '{ n += $2 } END { print n + 0 }')" -eq "$2" ]
}

# Options of ndp_forge: id, initiator's port and first PSN of the connection, from its first packet.
spy() {
	tcpdump -r "$TMP/first.pcap" -n -x 2>/dev/null | python3 -SE -c '
import sys
h = bytes.fromhex("".join("".join(line.split()[1:]) for line in sys.stdin
                          if line.startswith("\t")))[28:]
def field(at, n):
    return int.from_bytes(h[at:at + n], "big")
print("-c %#x -i %d -p %d" % (field(8, 8), field(4, 2),
                              (field(16, 4) - field(24, 4)) & 0xffffffff))'
}

wire_pair rate=100mbit delay=10us mtu=9000

# A connection that runs all the while.
in_ns "$H0" tcpdump -i eth0 -s 96 -c 1 -U -w "$TMP/first.pcap" "udp dst port $NDP_PORT" \
	2>"$TMP/tcpdump" &
spying=$!
wait_for 20 grep -q listening "$TMP/tcpdump" || die "no capture"
serve "$H1" -i 400 $OPEN
background fetch "$H0" -u "$TMP/over" -i 400 -r 2000000 10.0.0.2 $OPEN
client=$PID
wait $spying
live=$(spy)
say "$live"

for port in $OPEN $CLOSED; do
	what="port $port"
	forged "$what: cut within the header" DropShort=32 "$H0" "$H1" short 10.0.0.2 $port
	forged "$what: longer than it says" DropLength=64 "$H0" "$H1" long 10.0.0.2 $port
	forged "$what: each bit flipped" DropChecksum=253 "$H0" "$H1" check 10.0.0.2 $port
	forged "$what: other versions" DropVersion=7 "$H0" "$H1" version 10.0.0.2 $port
	forged "$what: each type, no connection" "DropType=7 DropNoConn=9" "$H0" "$H1" \
		type 10.0.0.2 $port
	forged "$what: control with more behind" "DropLength=2 DropNoConn=7" \
		"$H0" "$H1" length 10.0.0.2 $port
	forged "$what: other lengths claimed" "DropLength=1 DropNoConn=15" "$H0" "$H1" \
		claim 10.0.0.2 $port
	forged "$what: each flag, no connection" DropNoConn=128 "$H0" "$H1" \
		flags 10.0.0.2 $port
	forged "$what: each flag, from an acceptor" DropNoConn=128 "$H0" "$H1" \
		-a flags 10.0.0.2 $port
	forged "$what: returned control" "DropType=6 DropNoConn=2" "$H0" "$H1" \
		bounced 10.0.0.2 $port
	forged "$what: trimmed, no connection" DropNoConn=68 "$H0" "$H1" \
		trimmed 10.0.0.2 $port
done
forged "an opening to a closed port, 100 times" DropNoListener=100 "$H0" "$H1" \
	-n 100 open 10.0.0.2 $CLOSED

# shellcheck disable=SC2086
{
	forged "the connection: cut within the header" DropShort=32 "$H0" "$H1" \
		$live short 10.0.0.2 $OPEN
	forged "the connection: each bit flipped" DropChecksum=253 "$H0" "$H1" \
		$live check 10.0.0.2 $OPEN
	forged "the connection: another first PSN" "DropWindow=8 DropPsn=24" "$H0" "$H1" \
		$live psn 10.0.0.2 $OPEN
	forged "the connection: out of window" DropWindow=12 "$H0" "$H1" \
		$live window 10.0.0.2 $OPEN
	forged "the connection: pulls beyond reason" DropPull=11 "$H1" "$H0" \
		$live -a -s 10.0.0.2 pull 10.0.0.1 $OPEN
	forged "its id from another address" DropNoConn=32 "$H0" "$H1" \
		$live -s 10.0.0.9 psn 10.0.0.2 $OPEN
	forged "its id from another port" DropNoConn=32 "$H0" "$H1" \
		$live -i 1 psn 10.0.0.2 $OPEN
}

unload_transports || die "a transport is in use"
forged "an opening of each other transport" "DropNoConn=128 DropTransport=127" "$H0" "$H1" \
	transport 10.0.0.2 $OPEN

touch "$TMP/over"
# The same opening a hundred times: one connection.  The listener counts others that arrive
# before its end.
in_ns "$H1" timeout 60 ndp_xfer listen -d -n 1 5001 >"$TMP/replayed" 2>&1 &
replayed=$!
wait_for 20 grep -q listening "$TMP/replayed" || die "no listener"
opens=$(ndp_stat "$H1" PassiveOpens) sockets=$(ndp_stat "$H1" SockInUse)
in_ns "$H0" ndp_forge -n 100 open 10.0.0.2 5001 >/dev/null
over() { [ "$(ndp_stat "$H1" PassiveOpens)" -gt "$opens" ] &&
	[ "$(ndp_stat "$H1" SockInUse)" -le "$sockets" ]; }
# The tombstone may expire before a slow machine has sent these.
hits() { ndp_stat "$H1" TombstoneHits; }
known_later() {
	local n

	wait_for 20 over || return
	n=$(hits)
	in_ns "$H0" ndp_forge -n 100 open 10.0.0.2 5001
	wait_for 20 eval '[ $(($(hits) - n)) -ge 100 ]'
}
exact "a hundred later ones find its tombstone" known_later
wait $replayed
is "a replayed opening opens once" "$(tail -n 1 "$TMP/replayed")" "accepted 1 failed 0"
is "and is counted once" $(($(ndp_stat "$H1" PassiveOpens) - opens)) 1

check "the connection is intact" wait $client
check "its server agrees" served
check "no socket is left" wait_for 20 quiet "$H0" "$H1"
