#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp socket, and what the kernel reports to it by sock_diag: each socket once, with its addresses,
# queues and process; and what a user without privilege may not see.
#
#	H0 eth0 ==== eth0 H1	10.0.0.1 and 10.0.0.2, fd00:77::1 and fd00:77::2
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
require_program python3
tap_plan 58

wire_pair rate=1gbit mtu=9000
for i in 0 1; do
	ns=H$i
	in_ns "${!ns}" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0
	ip -n "${!ns}" address add fd00:77::$((i + 1))/64 dev eth0 nodad
done

# A program of one end: it opens sockets as each line of its input says, then prints "done".
cat >"$TMP/end.py" <<'END'
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
held = []
def address(text, port):
    if ":" in text:
        text, _, device = text.partition("%")
        return struct.pack("=H", socket.AF_INET6) + struct.pack("!HI", port, 0) + \
            socket.inet_pton(socket.AF_INET6, text) + \
            struct.pack("=I", socket.if_nametoindex(device) if device else 0)
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + \
        socket.inet_aton(text) + bytes(8)
def call(name, s, text, port):
    to = address(text, port)
    if getattr(libc, name)(s.fileno(), to, len(to)):
        raise OSError(ctypes.get_errno(), name)
def new(text, kind):
    s = socket.socket(22, kind, 1 if ":" in text else 0)
    held.append(s)
    return s
for line in sys.stdin:
    word = line.split()
    kind = socket.SOCK_SEQPACKET if word[-1] == "message" else socket.SOCK_STREAM
    if word[0] == "listen":
        s = new(word[1], kind)
        call("bind", s, word[1], int(word[2]))
        libc.listen(s.fileno(), 77)
    elif word[0] == "connect":
        for _ in range(int(word[3])):
            s = new(word[1], kind)
            call("connect", s, word[1], int(word[2]))
            s.send(b"x" * 1000)
    elif word[0] == "accept":
        for _ in range(int(word[1])):
            held.append(socket.socket(fileno=libc.accept(held[0].fileno(), None, None)))
    elif word[0] == "name":
        libc.prctl(15, bytes.fromhex(word[1]), 0, 0, 0)     # PR_SET_NAME
    elif word[0] == "keepalive":
        held[0].setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        held[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, int(word[1]))
    elif word[0] == "write":
        held[0].send(b"x" * int(word[1]))
    elif word[0] == "dup":
        held.append(os.dup(held[0].fileno()))
    elif word[0] == "end":
        break
    print("done", flush=True)
END
# begin NS: start such a program; it reads what is written to TO[NS]
declare -A TO
begin() {
	local to

	mkfifo "$TMP/to.$1"
	exec {to}<>"$TMP/to.$1"
	TO[$1]=$to
	ip netns exec "$1" python3 -SE "$TMP/end.py" <&"$to" >"$TMP/from.$1" 2>"$TMP/err.$1" &
	PID=$!
}
has_done() { [ "$(wc -l <"$TMP/from.$1")" -ge "$2" ]; }
# told NS COMMAND...: have the program do it, and wait for that
told() {
	local n

	n=$(wc -l <"$TMP/from.$1")
	echo "${*:2}" >&"${TO[$1]}"
	wait_for 20 has_done "$1" $((n + 1)) || die "not done: ${*:2}: $(cat "$TMP/err.$1")"
}
begin "$H0"
begin "$H1"
server=$PID

# of NS EXPRESSION OPTIONS...: evaluate it; s is the list of sockets
of() {
	in_ns "$1" ndp -j "${@:3}" | python3 -SE -c '
import json, sys
s = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$2"
}

is "no sockets" "$(of "$H0" "s" -a socket)" "[]"
told "$H1" listen 10.0.0.2 5000
is "one that listens is not among the connections" "$(of "$H1" "s" socket)" "[]"
is "one that listens" "$(of "$H1" "[(i['state'], i['local'], i['lport'], i['sendq'],
	i['type']) for i in s]" -l socket)" "[('listen', '10.0.0.2', 5000, 77, 'stream')]"
is "it opened nothing and accepts nothing itself" "$(of "$H1" "'role' in s[0]" -l socket)" False
refuse "nor as text" grep -q "initiator\|acceptor" <(in_ns "$H1" ndp -l -i socket)
is "whose it is" "$(of "$H1" "[p['pid'] for i in s for p in i['processes']]" -l -p socket)" \
	"[$server]"
is "as text" "$(in_ns "$H1" ndp -l -p socket | tail -n 1 | tr -s ' ')" \
	"listen stream ndp 0 77 10.0.0.2:5000 *:* users:((\"python3\",pid=$server,fd=3))"
# A process may give itself any name, byte by byte.
named() { told "$H1" name "$(printf "$1" | od -An -tx1 | tr -d ' \n')"; }
named 'a","pid":1'
is "a name with quotes" "$(of "$H1" "s[0]['processes'][0]['name']" -l -p socket)" 'a","pid":1'
named 'e\033[2J\377'
is "a name that is not text" "$(of "$H1" "ascii(s[0]['processes'][0]['name'])" -l -p socket)" \
	"'e\\x1b[2J\\ufffd'"
check "is none to a terminal" grep -q 'users:(("e?\[2J?",pid=' <(in_ns "$H1" ndp -l -p socket)
named python3
told "$H1" dup
is "two descriptors of one socket" "$(of "$H1" "[p['pid'] for i in s for p in i['processes']]" \
	-l -p socket)" "[$server, $server]"

told "$H0" connect 10.0.0.2 5000 1
check "it has come" wait_for 20 eval '[ "$(of "$H1" "s[0][\"recvq\"]" socket)" = 1000 ]'
is "one connection waits for accept()" "$(of "$H1" "s[0]['recvq']" -l socket)" 1
is "which no process has yet" "$(of "$H1" "s[0]['inode'], s[0]['processes']" -p socket)" "(0, [])"
told "$H1" accept 1
is "one connection was accepted" "$(of "$H1" "s[0]['recvq']" -l socket)" 0
is "and has a process" "$(of "$H1" "s[0]['processes'][0]['pid']" -p socket)" "$server"
is "its ends" "$(of "$H0" "[(i['state'], i['local'], i['peer'], i['pport'], i['role'],
	i['transport'], i['sendq']) for i in s]" socket)" \
	"[('estab', '10.0.0.1', '10.0.0.2', 5000, 'initiator', 'ndp', 0)]"
port=$(of "$H0" "s[0]['lport']" socket)
is "and the other's" "$(of "$H1" "[(i['state'], i['local'], i['lport'], i['peer'], i['role'],
	i['recvq'], i['pport']) for i in s]" socket)" \
	"[('estab', '10.0.0.2', 5000, '10.0.0.1', 'acceptor', 1000, $port)]"
is "numbers" "$(of "$H0" "s[0]['bytes_sent'], s[0]['bytes_acked'], s[0]['paths']" -i socket)" \
	"(1000, 1000, 32)"
check "numbers as text" grep -q " bytes_sent:1000 " <(in_ns "$H0" ndp -i socket)
id=$(of "$H0" "s[0]['conn_id']" -i socket)
# 64 bits, more than the shell, jq and JavaScript can compare as a number
check "the connection's id" grep -qx '[1-9][0-9]*' <<<"$id"
is "as a string" "$(of "$H0" "type(s[0]['conn_id']).__name__" -i socket)" str
check "and as text" grep -q " conn_id:$id " <(in_ns "$H0" ndp -i socket)
is "is the same at both ends" "$(of "$H1" "s[0]['conn_id']" -i socket)" "$id"
# nobody NS COMMAND...: as a user without privilege
nobody() { in_ns "$1" setpriv --reuid 65534 --clear-groups "${@:2}"; }
is "and nobody else's to know" "$(nobody "$H0" "$(command -v ndp)" -j -i socket |
	grep -o '"conn_id":"[0-9]*"')" '"conn_id":"0"'
# The timer that is due next, and when.
is "an idle connection waits for nothing" \
	"$(of "$H0" "s[0]['timer'], s[0]['timer_us'], s[0]['backoff']" -i socket)" "('none', 0, 0)"
refuse "nor as text" grep -q "timer:" <(in_ns "$H0" ndp -i socket)
told "$H0" keepalive 100
is "one with keepalive" "$(of "$H0" "s[0]['timer'], 0 < s[0]['timer_us'] <= 100000000" -i socket)" \
	"('keepalive', True)"
check "as text" grep -qE " timer:\(keepalive,[0-9]+us,0\)" <(in_ns "$H0" ndp -i socket)
ip -n "$H1" link set eth0 down
told "$H0" write 1000
check "one whose peer is gone" wait_for 20 eval '[ "$(of "$H0" \
	"s[0][\"timer\"], s[0][\"backoff\"] > 1, s[0][\"timer_us\"] > 0" -i socket)" = \
	"('"'retrans'"', True, True)" ]'
ip -n "$H1" link set eth0 up
in_ns "$H1" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0
ip -n "$H1" address replace fd00:77::2/64 dev eth0 nodad
check "and back" wait_for 60 eval '[ "$(of "$H0" "s[0][\"timer\"]" -i socket)" = keepalive ]'

ns_add other
# shellcheck disable=SC2154
is "another namespace sees none" "$(of "$other" "s" -a socket)" "[]"

told "$H1" listen fd00:77::2 5001
told "$H0" connect fd00:77::2 5001 1
is "IPv6" "$(of "$H0" "[(i['local'], i['peer']) for i in s]" socket dport 5001)" \
	"[('fd00:77::1', 'fd00:77::2')]"
check "IPv6 as text" grep -q " \[fd00:77::2\]:5001" <(in_ns "$H0" ndp socket)
told "$H1" listen 10.0.0.2 5002 message
told "$H0" connect 10.0.0.2 5002 1 message
is "messages" "$(of "$H0" "[i['type'] for i in s]" socket dport 5002)" "['message']"

is "by destination" "$(of "$H0" "[i['pport'] for i in s]" socket dst fd00:77::2)" "[5001]"
is "by source" "$(of "$H0" "sorted(i['pport'] for i in s)" socket src 10.0.0.1)" "[5000, 5002]"
is "by state" "$(of "$H1" "sorted(i['lport'] for i in s)" socket state listen)" \
	"[5000, 5001, 5002]"
is "by two of them" "$(of "$H0" "len(s)" socket dst 10.0.0.2 sport 1)" 0
is "by source as IPv6 writes it" "$(of "$H0" "sorted(i['pport'] for i in s)" \
	socket src ::ffff:10.0.0.1)" "[5000, 5002]"
# An address that is ambiguous without its device, whose name has a quote.
device='q"d'
in_ns "$H1" sysctl -qw net.ipv6.conf.default.disable_ipv6=0
ip -n "$H1" link add "$device" type dummy
ip -n "$H1" link set "$device" up
ip -n "$H1" address add fe80::77/64 dev "$device" nodad
told "$H1" listen "fe80::77%$device" 5003
local="[('fe80::77%$device', '$device')]"
is "link-local" "$(of "$H1" "[(i['local'], i['dev']) for i in s]" -l socket sport 5003)" "$local"
check "link-local as text" grep -q " \[fe80::77%$device\]:5003" <(in_ns "$H1" ndp -l socket)
is "by its address" "$(of "$H1" "[i['lport'] for i in s]" -l socket src fe80::77)" "[5003]"
is "by its device" "$(of "$H1" "[i['lport'] for i in s]" -l socket src "fe80::77%$device")" \
	"[5003]"
is "and by no other" "$(of "$H1" "s" -l socket src fe80::77%eth0)" "[]"
is "ports are decimal" "$(of "$H0" "[i['pport'] for i in s]" socket dport 05001)" "[5001]"
says "no such state" 2 "is not one of" in_ns "$H0" ndp socket state open
says "no such word" 2 "what is" in_ns "$H0" ndp socket from 10.0.0.1

# More sockets than fit a message, each shown once.
told "$H0" connect 10.0.0.2 5000 400
told "$H1" accept 400
is "403 connections, each once" "$(of "$H0" "len(s), len({i['inode'] for i in s})" socket)" \
	"(403, 403)"

# A dump that is stalled, as nobody reads what is printed, while the table grows.
mkfifo "$TMP/printed"
exec {printed}<>"$TMP/printed"
ip netns exec "$H0" ndp -j -i socket >"$TMP/printed" 2>&1 {printed}>&- &
PID=$!
stands() { grep -q "State:.S" "/proc/$PID/status"; }
check "a dump that stands" wait_for 20 stands
told "$H0" connect 10.0.0.2 5000 400
told "$H1" accept 400
exec {reading}<"$TMP/printed" {printed}>&-
is "shows none twice when the table has grown" "$(python3 -SE -c '
import json, sys
s = json.load(sys.stdin)
print(len(s) >= 403, len(s) - len({i["inode"] for i in s}))' <&"$reading")" "True 0"

# Malformed requests.
ask() {
	in_ns "$H0" python3 -SE -c '
import socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
body = bytes.fromhex(sys.argv[2])
s.send(struct.pack("=IHHII", 16 + len(body), 20, int(sys.argv[1], 16), 1, 0) + body)
answer = s.recv(65536)
print(struct.unpack("=i", answer[16:20])[0])' "$@"
}
is "half a request" "$(ask 301 16000000)" -22
is "one with what is not known" "$(ask 301 1601000000000000)" -22
is "one that is no dump" "$(ask 1 1600000000000000)" -95
echo end >&"${TO[$H0]}"
echo end >&"${TO[$H1]}"
gone() { [ "$(of "$H0" "len(s)" -a socket)" -eq 0 ]; }
check "all are closed, and not shown any more" wait_for 60 gone
is "nor is one that listened" "$(of "$H1" "s" -l socket)" "[]"
