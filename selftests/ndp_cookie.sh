#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Openings from forged addresses: they take no more than half of a listener's backlog, accepted
# or not; the listener sends no more than it receives, and serves honest clients, which show a
# cookie.  The same where no tombstones can be kept: each connection is accepted exactly once.
#
#	H0 eth0 ======== eth0 H1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp netwire sch_netem
require_program python3
tap_plan 27

# listen HOW: a listener in H1, backlog 16.  It accepts connections at once ("now"), or when
# $TMP/accept exists ("late"), and ends when "honest" has arrived as often as $TMP/end holds.
listen() {
	rm -f "$TMP/accept" "$TMP/end" "$TMP/more"
	in_ns "$H1" timeout 200 python3 -c '
import ctypes, os, select, socket, struct, sys, time
how, tmp = sys.argv[1:]
listener = ctypes.CDLL(None).socket(22, 1, 0)
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, listener)
listener.bind(("", 5000))
listener.listen(16)
print("listening", flush=True)
while how == "late" and not os.path.exists(tmp + "/accept"):
    time.sleep(0.02)
listener.settimeout(0.02)
open_ones, honest, forged, end = [], 0, 0, None
while end is None or honest < end:
    if end is None and os.path.exists(tmp + "/end"):
        end = int(open(tmp + "/end").read())
    try:
        open_ones.append(listener.accept()[0])
    except socket.timeout:
        pass
    for one in select.select(open_ones, [], [], 0)[0]:
        said = one.recv(100000)
        honest += b"honest" in said
        forged += b"ffff" in said
        if not said:
            one.close()
            open_ones.remove(one)
# The forged peers would never answer a FIN: reset.
for one in open_ones:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
print("honest", honest, "forged", forged)' "$1" "$TMP" >"$TMP/listen" 2>&1 &
	SERVER=$!
	wait_for 20 grep -q listening "$TMP/listen" || die "no listener: $(cat "$TMP/listen")"
}
bytes() { in_ns "$H1" cat "/sys/class/net/eth0/statistics/$1_bytes"; }
send_it() { background in_ns "$H0" timeout 100 ndp_cat "${ADDRESS[1]}" 5000 >/dev/null; }
honest() {
	local i

	for ((i = 0; i < $1; i++)); do
		echo honest | send_it
	done
}
# A connection opened before the flood; what it sends after the flood has to be pulled.
upload() {
	{
		echo honest
		wait_for 60 [ -e "$TMP/more" ]
		head -c 300000 /dev/zero | tr '\0' x
		echo honest
	} | send_it &
}
opened() { [ "$(ndp_stat "$H1" PassiveOpens)" -gt "$1" ]; }
# flood HOW PORT: 2000 forged openings from that port, beside 6 honest clients
flood() {
	local opens asked rx tx

	listen "$1"
	opens=$(ndp_stat "$H1" PassiveOpens)
	upload
	check "$1: a connection" wait_for 20 opened "$opens"
	opens=$(ndp_stat "$H1" PassiveOpens) asked=$(ndp_stat "$H1" DropCookie)
	rx=$(bytes rx) tx=$(bytes tx)
	in_ns "$H0" ndp_forge -i "$2" -n 2000 flood "${ADDRESS[1]}" 5000 >/dev/null ||
		die "no flood"
	check "$1: they all arrive" wait_for 20 came $((opens + asked + 2000))
	opens=$(($(ndp_stat "$H1" PassiveOpens) - opens))
	# One of the nine is the connection above, unless it has been verified in time.
	check "$1: no more than half the backlog is open: $opens" between 7 $opens 9
	asked=$(($(ndp_stat "$H1" DropCookie) - asked))
	is "$1: all others were asked for a cookie" $((opens + asked)) 2000
	rx=$(($(bytes rx) - rx)) tx=$(($(bytes tx) - tx))
	check "$1: no more is sent than was received: $tx of $rx" [ $tx -le $rx ]
	touch "$TMP/more"
	honest 5
	touch "$TMP/accept"
	echo 7 >"$TMP/ends" && mv "$TMP/ends" "$TMP/end"
	check "$1: honest clients are served" wait $SERVER
	say "$(tail -n 1 "$TMP/listen")"
	check "$1: each once" grep -q "honest 7 forged [789]$" "$TMP/listen"
}
came() { [ "$(ndp_stat "$H1" PassiveOpens DropCookie)" -ge "$1" ]; }

wire_pair rate=1gbit delay=10us mtu=9000
# Replies to the forged addresses are routed to H0, so that they are counted as they leave.
ip -n "$H1" route add 10.99.0.0/16 via "${ADDRESS[0]}" || die "no route"
ip -n "$H0" route add blackhole 10.99.0.0/16 || die "no hole"
flood late 40000
flood now 40001

opens=$(ndp_stat "$H1" PassiveOpens) asked=$(ndp_stat "$H1" DropCookie)
serve "$H1" -n 1 5001
n=$(in_ns "$H0" ndp_forge cookie "${ADDRESS[1]}" 5001)
is "forged cookies" "$n" 64
refused() { [ $(($(ndp_stat "$H1" DropCookie) - asked)) -eq 64 ]; }
check "they are refused" wait_for 20 refused
is "they open nothing" "$(ndp_stat "$H1" PassiveOpens)" "$opens"
check "a client after them" fetch "$H0" -s 100000 -r 100000 "${ADDRESS[1]}" 5001
check "every byte" served

# Packets to a port on which nobody listens are answered at most at the rate net.ndp.rst_rate,
# with a burst of a tenth of a second's worth.
in_ns "$H1" sysctl -qw net.ndp.rst_rate=10 || die "no sysctl"
rst=$(ndp_stat "$H1" RstOut) refused=$(ndp_stat "$H1" RstOut RstLimited) began=$SECONDS
in_ns "$H0" ndp_forge -n 1000 flood "${ADDRESS[1]}" 5999 >/dev/null || die "no flood"
told() { [ $(($(ndp_stat "$H1" RstOut RstLimited) - refused)) -eq 1000 ]; }
check "refused, or counted" wait_for 20 told
rst=$(($(ndp_stat "$H1" RstOut) - rst)) seconds=$((SECONDS - began))
say "told $rst of 1000 in $seconds s"
check "not all are told" between 1 $rst $((10 * (seconds + 1) + 2))
in_ns "$H1" sysctl -qw net.ndp.rst_rate=10000 || die "no sysctl"

# No tombstones can be kept, and all packets are duplicated and reordered.
before=$(ndp_stat "$H1" Tombstones)
in_ns "$H1" sysctl -qw net.ndp.tombstones_max=0 || die "no sysctl"
for ns in "$H0" "$H1"; do
	tc -n "$ns" qdisc replace dev eth0 root netem duplicate 100% delay 1ms 1ms ||
		die "no netem"
done
watch_data "$H1"
serve "$H1" -d -n 200 5002
check "without tombstones: all served" fetch "$H0" -d -n 200 -j 20 "${ADDRESS[1]}" 5002
check "and each once" served
is "accepts" "$(tail -n 1 "$TMP/listen")" "accepted 200 failed 0"
check "packets came twice" [ "$(watched twice)" -gt 100 ]
check "none is added" [ "$(ndp_stat "$H1" Tombstones)" -le "$before" ]
check "nothing is left" wait_for 60 quiet "$H0" "$H1"
