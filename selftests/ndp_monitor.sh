#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp monitor reports events: begin and end of each connection, with its addresses; timeouts, as
# many as are counted; paths that are left out and come back, as ndp path live shows them; floods
# of openings; and how many events it could not report.
#
#	H0 ======== H1, then HOST[0] == LEAF[0] == SPINE[0..1] == LEAF[1] == HOST[1]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ndp netwire
require_program python3 setpriv
tap_plan 54

# watch NAME NS ARGUMENT...: run ndp ARGUMENT... in NS; its output in $TMP/NAME, its process in $PID
watch() {
	background ip netns exec "$2" "${AS[@]}" ndp "${@:3}" >"$TMP/$1" 2>"$TMP/$1.err"
}
AS=()

# Has the monitor begun to listen?  A refused connection is an event.
begins() {
	in_ns "$H0" ndp_cat 10.0.0.2 9 </dev/null 2>/dev/null
	[ -s "$TMP/$1" ]
}
watching() { wait_for 30 begins "$1" || die "ndp monitor says nothing: $(cat "$TMP/$1.err")"; }

# of NAME EXPRESSION: evaluate it; e is the list of events in $TMP/NAME, in JSON
of() {
	python3 -SE -c '
import collections, json, sys
e = [json.loads(line) for line in open(sys.argv[1])]
def are(name, **fields):
    return [x for x in e if x["event"] == name and
            all(x.get(k) == v for k, v in fields.items())]
print(eval(sys.argv[2]))' "$TMP/$1" "$2"
}
# says_all NAME EXPRESSION: is it true of the events so far?
says_all() { [ "$(of "$1" "$2")" = True ]; }

wire_pair rate=1gbit mtu=9000

says "an event that is none" 2 "not one of open" in_ns "$H0" ndp monitor opened
says "no option" 2 Usage in_ns "$H0" ndp --nothing monitor
is "nobody listens, nothing is lost" "$(ndp_stat "$H0" EventsLost)" 0

watch h0 "$H0" -j -t monitor
monitor=$PID
watch h1 "$H1" -j monitor
watch text "$H0" monitor
watch closes "$H0" -j monitor close
AS=(setpriv --reuid 65534 --clear-groups --bounding-set -all)
watch nobody "$H0" -j monitor
AS=()
for name in h0 text closes nobody; do
	watching $name
done
# Nothing else has happened in H1 by which its monitor could be seen to listen.
serve "$H1" -n 1 5001
fetch "$H0" -s 100 10.0.0.2 5001 && served || die "no transfer"
check "H1's events" wait_for 20 says_all h1 'len(are("close")) == 1'

# One connection
serve "$H1" -n 1 5000
check "a transfer" fetch "$H0" -s 1000000 10.0.0.2 5000
check "its end" served
check "both have ended" wait_for 20 quiet "$H0" "$H1"
# Virtual time does not advance before all events have been read.
sleep 1
mine='pport=5000, peer="10.0.0.2", local="10.0.0.1", role="initiator"'
theirs='lport=5000, peer="10.0.0.1", local="10.0.0.2", role="acceptor"'
is "one open" "$(of h0 "len(are('open', $mine))")" 1
is "one close, in order" "$(of h0 "len(are('close', aborted=False, $mine))")" 1
is "no other with that port" "$(of h0 'sum(x.get("pport") == 5000 for x in e)')" 2
is "one open at the other end" "$(of h1 "len(are('open', $theirs))")" 1
is "and one close" "$(of h1 "len(are('close', aborted=False, $theirs))")" 1
is "of the same ports" \
	"$(of h0 "are('open', $mine)[0]['lport'] == are('close', $mine)[0]['lport']")" \
	True
port=$(of h0 "are('open', $mine)[0]['lport']")
is "at both ends" "$(of h1 "[x['pport'] for x in e if x['lport'] == 5000]")" "[$port, $port]"
is "as text" "$(grep -c "^open 10.0.0.1:$port 10.0.0.2:5000 initiator\$" "$TMP/text")" 1
is "its end as text" "$(grep -c "^close 10.0.0.1:$port 10.0.0.2:5000 initiator\$" "$TMP/text")" 1
is "time stamps grow" "$(of h0 'sorted(x["time"] for x in e) == [x["time"] for x in e]')" True
is "only what was asked for" "$(of closes '{x["event"] for x in e} == {"close"}')" True
is "and that" "$(of closes "len(are('close', $mine))")" 1
is "a user hears of it as well" \
	"$(of nobody "len(are('open', $mine)) + len(are('close', $mine))")" 2
is "of no secret" "$(of nobody 'sum("conn_id" in x or "uid" in x or "mark" in x for x in e)')" 0

# A refused connection
refuse "nobody listens" in_ns "$H0" ndp_cat 10.0.0.2 5009 </dev/null
is "it was opened" "$(of h0 'len(are("open", pport=5009))')" 1
is "and aborted" \
	"$(of h0 'len(are("close", pport=5009, aborted=True, error="Connection refused"))')" 1

# Timeouts: the wire drops everything for a while.
before=$(ndp_stat "$H0" Timeouts)
flow_serve "$H1"
flow_begin "$H0" 10.0.0.2
check "packets go" wait_for 20 flow_runs 100
tc -n "$H0" qdisc replace dev eth0 root netem loss 100% || die "no netem"
check "timeouts are told" wait_for 20 says_all h0 "len(are('timeout', pport=$FLOW_PORT)) > 2"
tc -n "$H0" qdisc replace dev eth0 root ndp mode host || die "no qdisc"
check "every byte" flow_end
check "as many as are counted" wait_for 20 says_all h0 \
	"sum(x['packets'] for x in are('timeout', pport=$FLOW_PORT)) == \
		$(($(ndp_stat "$H0" Timeouts) - before))"

# A flood: more openings than the backlog has room for, and no accept().
cat >"$TMP/flood.py" <<'END'
import ctypes, signal, socket, struct, sys
def name(address, port):
    return struct.pack("=H", 2) + struct.pack("!H", port) + socket.inet_aton(address) + bytes(8)
libc = ctypes.CDLL(None, use_errno=True)
def call(function, s, address, port):
    n = name(address, port)
    if function(s.fileno(), n, len(n)):
        raise OSError(ctypes.get_errno(), "socket")
what, address, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sockets = []
for i in range(1 if what == "listen" else count):
    s = socket.socket(22, socket.SOCK_STREAM)
    if what == "listen":
        call(libc.bind, s, address, port)
        libc.listen(s.fileno(), count)
        break
    call(libc.connect, s, address, port)
    if what == "send":
        s.send(b"flood")
        sockets.append(s)
    else:
        # Abort at once, before any packet is sent.
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
if what != "close":
    print("there", flush=True)
    signal.pause()
END
is "no flood so far" "$(of h1 'len(are("flood"))')" 0
background ip netns exec "$H1" python3 -SE "$TMP/flood.py" listen 10.0.0.2 5003 4 \
	>"$TMP/flood.there"
listener=$PID
wait_for 20 grep -q there "$TMP/flood.there" || die "no listener"
background ip netns exec "$H0" python3 -SE "$TMP/flood.py" send 10.0.0.2 5003 8 \
	>"$TMP/flood.sent"
sender=$PID
check "a flood is told" wait_for 20 says_all h1 'len(are("flood")) > 0'
is "whose" "$(of h1 "{(x['local'], x['lport']) for x in are('flood')}")" "{('10.0.0.2', 5003)}"
check "how many" says_all h1 'len(are("flood")) < 8'
kill $sender $listener
wait $sender $listener 2>/dev/null

# More events than can be reported: the others are counted, and the next that is reported says so.
lost() { of "$1" 'sum(x["events"] for x in are("lost"))'; }
# A monitor that is stopped meanwhile.  With a buffer of 4 MB, as of Linux 6.18, all would fit.
sysctl -qw net.core.rmem_max=212992
AS=(setpriv --reuid 65534 --clear-groups --bounding-set -all)
watch late "$H0" -j monitor
late=$PID
AS=()
watching late
kill -STOP $late
# The last of the earlier events: events are reported in order.
wait_for 20 quiet "$H0" || die "the flood does not end"
in_ns "$H0" ndp_cat 10.0.0.2 5010 </dev/null 2>/dev/null
check "all told so far" wait_for 20 says_all h0 'len(are("close", pport=5010)) == 1'
opens=$(ndp_stat "$H0" ActiveOpens)
told=$(of h0 'len(are("open")) + len(are("close"))')
check "many connections that begin and end" in_ns "$H0" \
	python3 -SE "$TMP/flood.py" close 10.0.0.2 5009 1500
sleep 2
refuse "and one more" in_ns "$H0" ndp_cat 10.0.0.2 5009 </dev/null
opens=$(($(ndp_stat "$H0" ActiveOpens) - opens))
check "each was told or counted" wait_for 20 says_all h0 \
	"len(are('open')) + len(are('close')) - $told + sum(x['events'] for x in are('lost')) == \
		2 * $opens"
exact "some were only counted" [ "$(lost h0)" -gt 0 ]
is "by the counter as well" "$(ndp_stat "$H0" EventsLost)" "$(lost h0)"
kill -CONT $late
check "who was late hears that there were more" wait_for 20 says_all late \
	'any(x["event"] == "lost" and "events" not in x for x in e)'
check "it goes on" kill $late
kill $monitor

# Paths: one of two spines drops everything for a while.
ns_del_all
leaf_spine hosts=2 leaves=2 spines=2 rate=200mbit delay=10us mtu=9000
# So many that some go over each spine, whatever the routers' hash.
entropies add 32
watch paths "${HOST[0]}" -j monitor path
flow_serve "${HOST[1]}"
flow_begin "${HOST[0]}" "${ADDRESS[1]}"
check "packets go through the fabric" wait_for 20 flow_runs 100
tc -n "${LEAF[0]}" qdisc replace dev u0 root netem loss 100% || die "no netem"
check "paths are left out" wait_for 20 says_all paths 'len(are("path-out", of="data")) > 0'
tc -n "${LEAF[0]}" qdisc replace dev u0 root ndp || die "no port"
check "and come back" wait_for 20 says_all paths 'len(are("path-back", of="data")) > 0'
check "every byte through the fabric" flow_end
check "nothing is on its way" wait_for 20 quiet "${HOST[0]}" "${HOST[1]}"
sleep 1
in_ns "${HOST[0]}" ndp -j path live >"$TMP/live"
is "those that are out are those that did not come back" "$(of paths '[
	sum({"path-out": 1, "path-back": -1}.get(x["event"], 0) for x in e
	    if x["path"] == i and x["of"] == kind) for kind in ("data", "answers")
	for i in range(32)]')" "$(python3 -SE -c '
import json, sys
paths = json.load(sys.stdin)[0]["paths"]
print([int(p[out] > 0) for out in ("left_out_us", "control_left_out_us") for p in paths])' \
	<"$TMP/live")"
is "by their ports" "$(of paths "all(x['entropy'] == 50000 + 97 * x['path'] for x in e)")" True
is "and addresses" "$(of paths "{(x['local'], x['peer'], x['via']) for x in e}")" \
	"{('${ADDRESS[0]}', '${ADDRESS[1]}', '${ADDRESS[1]}')}"
is "out for some time" "$(of paths "all(x['out_us'] > 0 for x in are('path-out'))")" True
is "for losses" "$(of paths "all(x['for'] == 'losses' for x in are('path-out', of='data'))")" True
say "$(tail -n 3 "$TMP/paths")"

# Unloading the module deletes the multicast group of its listeners.
watch gone "${HOST[0]}" monitor
wait_for 20 has_monitor "${HOST[0]}" || die "no listener"
ns_del_all
unload_transports
check "the module goes" wait_for 20 modprobe -qr sch_ndp ndp
wait "$PID"
is "and who has listened is told" "$? $(cat "$TMP/gone.err")" "1 ndp: module ndp was unloaded"
