#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp_run and libndp_run.so: which sockets become NDP and which stay TCP, with programs of our own
# (ndp_run.py).  Programs of others are in ndp_programs.sh.
#
#	H0 eth0 ==== eth0 H1	10.0.0.1, 10.0.0.2; fd00::1, fd00::2
. "$(dirname "$0")/lib_ndp.sh"

require_module netwire
require_program python3 ndp_run tc
tap_plan 143

export PYTHONDONTWRITEBYTECODE=1
python=("$(command -v python3)" -SE "$(cd "$(dirname "$0")" && pwd)/ndp_run.py")
library=$(dirname "$(command -v ndp_run)")/lib/libndp_run.so
[ -e "$library" ] || library=libndp_run.so
PORT=7000

# server [ndp_run OPTIONS...] -- HOW COUNT [ADDRESS]: start one in H1, at the next port; with "tcp"
# as the options, without ndp_run
server() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	PORT=$((PORT + 1))
	: >"$TMP/server"
	[ "${options[*]}" = tcp ] || options=(ndp_run -c /dev/null "${options[@]}")
	[ "${options[*]}" != tcp ] || options=()
	background in_ns "$H1" "${options[@]}" "${python[@]}" serve "$1" $PORT "${@:2}" \
		>"$TMP/server" 2>&1
	wait_for 20 grep -q listening "$TMP/server" || die "no server: $(cat "$TMP/server")"
}

# ask [ndp_run OPTIONS...] -- HOW ADDRESS: connect from H0; prints what both ends use; errors in
# $TMP/err
ask() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	in_ns "$H0" timeout 60 ndp_run -c /dev/null "${options[@]}" \
		"${python[@]}" ask "$2" "$3" $PORT 2>"$TMP/err" |
		tail -n 1
}
plain() { in_ns "$H0" timeout 60 "${python[@]}" ask "$1" "$2" $PORT 2>"$TMP/err"; }

# carried NAME GOT WANTED: as is, and what both ends print if it fails
carried() {
	is "$@" && return
	say "client: $(tail -n 3 "$TMP/err" | tr '\n' ' ')"
	say "server: $(tail -n 3 "$TMP/server" | tr '\n' ' ')"
}

# refused NAME CODE PATTERN ARGS...: says() with ndp_run ARGS
refused() { says "$1" "$2" "$3" ndp_run "${@:4}"; }

wire_pair rate=1gbit mtu=9000
# Addresses of the other IP version as well
for h in 0 1; do
	ns=H$h
	echo 0 | in_ns "${!ns}" tee /proc/sys/net/ipv6/conf/all/disable_ipv6 >/dev/null
	ip -n "${!ns}" address add fd00::$((h + 1))/64 dev eth0 nodad
done

# --- A kernel without the module: TCP, and a message.
loader=$(cat /proc/sys/kernel/modprobe)
echo /bin/false >/proc/sys/kernel/modprobe
unload_transports
rmmod ndp 2>/dev/null
if [ -e /sys/module/ndp ]; then
	skip "no module: TCP carries it" "the module cannot be unloaded"
	skip "no module: ndp_run says so once" "the module cannot be unloaded"
	skip "no module: so does the library alone" "the module cannot be unloaded"
else
	server tcp -- accept 2
	carried "no module: TCP carries it" "$(ask -- connect 10.0.0.2)" "TCP TCP"
	is "no module: ndp_run says so once" "$(grep -c 'the kernel has no AF_NDP' "$TMP/err")" 1
	in_ns "$H0" env LD_PRELOAD="$library" sh -c "\"\$@\"; exit" sh "${python[@]}" ask connect \
		10.0.0.2 $PORT >"$TMP/out" 2>"$TMP/err"
	is "no module: so does the library alone" \
		"$(cat "$TMP/out") $(grep -c 'no AF_NDP sockets' "$TMP/err")" "TCP TCP 1"
fi
echo "$loader" >/proc/sys/kernel/modprobe
require_module ndp

# --- The command line.
refused "unknown option" 2 "unrecognized option" --frobnicate true
refused "no program" 2 Usage --verbose
refused "port out of range" 2 'no port.*"65536"' -e 65536 true
refused "ports in the wrong order" 2 'no port.*"90-80"' --except 90-80 true
refused "no port" 2 'no port.*"http"' -e http true
refused "bits beyond the prefix" 2 'no network.*"10.0.0.1/8"' -e 10.0.0.1/8 true
refused "prefix too long" 2 'no network.*"fd00::/129"' -e fd00::/129 true
refused "too many exceptions" 2 'no room' -e "$(seq -s , 65)" true
refused "no time" 2 'no time in ms.*"0"' --fallback=0 true
refused "fallback without an answer" 2 "zero-rtt" --zero-rtt --fallback true
refused "no file of settings" 2 "nowhere: No such file" -c "$TMP/nowhere" true
echo "fallbak 3" >"$TMP/conf"
refused "a wrong word in it" 2 "conf: unknown word \"fallbak\"" -c "$TMP/conf" true
refused "no such program" 127 "nosuch: no such program in PATH" nosuch
refused "no such file" 127 "nosuch: No such file" ./nosuch
refused "no program file" 126 "/etc/passwd" /etc/passwd
is "help" "$(ndp_run --help | head -n 1)" "Usage: ndp_run [OPTIONS] PROGRAM [ARGUMENTS...]"
check "version" sh -c 'ndp_run --version | grep -Eq "^ndp_run \(Linux NDP\) [0-9.]+$"'
is "the program's exit code" "$(ndp_run sh -c 'exit 77'; echo $?)" 77

# --- Programs that no library gets into.  altered NAME PYTHON: run it on "p", a copy of true
altered() {
	python3 -SE -c '
import struct, sys
p = bytearray(open("/bin/true", "rb").read())
at, n = struct.unpack_from("<Q", p, 32)[0], struct.unpack_from("<H", p, 56)[0]
segments = {struct.unpack_from("<I", p, at + 56 * i)[0]: at + 56 * i for i in range(n)}
offset = lambda kind: struct.unpack_from("<Q", p, segments[kind] + 8)[0]
exec(sys.argv[2])
open(sys.argv[1], "wb").write(p)' "$TMP/$1" "$2" && chmod 755 "$TMP/$1"
}
INTERP=3 NOTE=4
altered static "p[segments[$INTERP]] = 0"
refused "a static one" 126 "static is statically linked" "$TMP/static"
altered go "p[offset($NOTE) + 12:offset($NOTE) + 16] = b'Go\0\0'"
refused "Go's" 126 "go is a Go program" "$TMP/go"
altered later "n = p.index(b'GNU\0', offset($NOTE) + 16); p[n:n + 4] = b'Go\0\0'"
refused "Go's, behind another note" 126 "later is a Go program" "$TMP/later"
altered musl "p[offset($INTERP) + 5] = ord('m')"
refused "of another C library" 126 "musl has another C library" "$TMP/musl"
altered other "p[4] = 1"
refused "of another machine" 126 "another kind of machine" "$TMP/other"
altered own "pass"
chown 65534 "$TMP/own"
chmod 4755 "$TMP/own"
refused "set-user-ID" 126 "privileges of its own" "$TMP/own"
printf '#!%s\n' "$TMP/static" >"$TMP/script"
chmod 755 "$TMP/script"
refused "a script of a static one" 126 "statically linked" "$TMP/script"
altered good "pass"
check "else they run" ndp_run "$TMP/good"

# --- What becomes NDP.
ndp_run "${python[@]}" sockets >"$TMP/ndp"
"${python[@]}" sockets >"$TMP/tcp"
is "sockets of TCP, and of nothing else" \
	"$(cut -d' ' -f1 "$TMP/ndp" | tr '\n' ' ')" "NDP NDP NDP TCP TCP "
# The protocol that was asked for: the kernel reports TCP's if it was none.
is "and they look as before" "$(cut -d' ' -f2- "$TMP/ndp")" "$(cut -d' ' -f2- "$TMP/tcp")"
for how in accept poll select large epoll early exclusive fork again asyncio; do
	server -- $how 1
	carried "a server that waits by $how" "$(ask -- connect 10.0.0.2)" "NDP NDP"
done
server -- accept 3 ::
carried "IPv6, and connect() in the background" "$(ask -- poll fd00::2)" "NDP NDP"
carried "an epoll that had the socket before" "$(ask -- epoll fd00::2)" "NDP NDP"
carried "IPv4 to a listener of IPv6" "$(ask -- connect 10.0.0.2)" "NDP NDP"
server -- accept 2
carried "through fork and exec" "$(in_ns "$H0" ndp_run sh -c '(env A=b "$@"); true' sh \
	"${python[@]}" ask connect 10.0.0.2 $PORT)" "NDP NDP"
carried "a cleaned environment ends it" \
	"$(in_ns "$H0" ndp_run env -i "${python[@]}" sockets | head -n 1 | cut -d' ' -f1)" TCP
carried "by the loader's variable alone" \
	"$(in_ns "$H0" env LD_PRELOAD="$library" NDP_RUN="verbose; except 1" \
	"${python[@]}" ask connect 10.0.0.2 $PORT 2>"$TMP/err")" "NDP NDP"
check "and with settings" grep -q "connect to 10.0.0.2:$PORT: NDP" "$TMP/err"
carried "a connect() that is refused fails" \
	"$(PORT=9 ask -- connect 10.0.0.2; tail -n 1 "$TMP/err")" \
	"ConnectionRefusedError: [Errno 111] Connection refused"
PORT=9 ask --zero-rtt -- connect 10.0.0.2 >"$TMP/out"
check "with --zero-rtt it does not" grep -q "sock.sendall\|sock.shutdown\|sock.makefile" "$TMP/err"

# --- What stays TCP.
server tcp -- accept 8
carried "without an exception TCP is not reached" \
	"$(ask -- connect 10.0.0.2; tail -n 1 "$TMP/err")" \
	"ConnectionRefusedError: [Errno 111] Connection refused"
carried "an excepted port" "$(ask -e "1-9,$PORT" -- connect 10.0.0.2)" "TCP TCP"
carried "and by MSG_FASTOPEN" "$(ask -e $PORT -- fast 10.0.0.2)" "TCP TCP"
carried "a file in the place of standard error gets no word" \
	"$(ask -e $PORT -v -- silenced 10.0.0.2)" "TCP TCP"
carried "an excepted network" "$(ask -e 10.0.0.0/24 -- poll 10.0.0.2)" "TCP TCP"
carried "an epoll that had the socket before" "$(ask -e 10.0.0.0/8 -v -- epoll 10.0.0.2)" "TCP TCP"
check "and it says so" grep -q "connect to 10.0.0.2:$PORT: TCP, an exception" "$TMP/err"
printf '# here\nexcept 9; except 10.0.0.2/32 # this\n' >"$TMP/conf"
carried "from a file" \
	"$(in_ns "$H0" ndp_run -c "$TMP/conf" "${python[@]}" ask connect 10.0.0.2 $PORT)" "TCP TCP"
mkfifo "$TMP/pipe"
(echo "except 9"; sleep 1; echo "except $PORT") >"$TMP/pipe" &
carried "from a pipe, in pieces" \
	"$(in_ns "$H0" ndp_run -c "$TMP/pipe" "${python[@]}" ask connect 10.0.0.2 $PORT)" "TCP TCP"
server -e 7000-8000 -- accept 1
carried "a listener" "$(plain connect 10.0.0.2)" "TCP TCP"
server -e fd00::/64 -- accept 1 fd00::2
carried "and one at such an address" "$(plain connect fd00::2)" "TCP TCP"

# --- Fallback.
rm -f /dev/shm/ndp_run.*
server tcp -- accept 7
carried "who refuses NDP is asked by TCP" "$(ask --fallback -v -- connect 10.0.0.2)" "TCP TCP"
check "and it says so" grep -q "TCP, for it refuses NDP" "$TMP/err"
carried "once" "$(ask --fallback -v -- connect 10.0.0.2)" "TCP TCP"
check "and it says so" grep -q "TCP, remembered" "$TMP/err"
ln /dev/shm/ndp_run.0 "/dev/shm/linked"
carried "a file of two names does not say it" "$(ask --fallback -v -- connect 10.0.0.2)" "TCP TCP"
check "so it is asked again" grep -q "TCP, for it refuses NDP" "$TMP/err"
rm -f /dev/shm/ndp_run.* /dev/shm/linked
(umask 077 && echo precious >/dev/shm/ndp_run.0)
carried "nor one of another size" "$(ask --fallback -v -- connect 10.0.0.2)" "TCP TCP"
is "which stays as it is" "$(cat /dev/shm/ndp_run.0)" precious
rm -f /dev/shm/ndp_run.*
carried "in the background" "$(ask --fallback -v -- poll 10.0.0.2)" "TCP TCP"
carried "an epoll that had the socket before" "$(ask --fallback -v -- epoll 10.0.0.2)" "TCP TCP"
carried "what was set holds" \
	"$(in_ns "$H0" ndp_run --fallback "${python[@]}" options 10.0.0.2 $PORT)" \
	"TCP 1 3 100000 1 77 33 1 5 4321 0 True"
server tcp -- accept 4
carried "the MSS is TCP's own, or as set" \
	"$(in_ns "$H0" ndp_run --fallback "${python[@]}" mss 10.0.0.2 $PORT)" \
	"$(in_ns "$H0" "${python[@]}" mss 10.0.0.2 $PORT)"
server tcp -- accept 2
carried "a full /dev/shm is no matter" "$(in_ns "$H0" unshare -m bash -c '
	mount -t tmpfs -o size=4k none /dev/shm && head -c 4096 /dev/zero >/dev/shm/full &&
	ndp_run --fallback "$@"' bash "${python[@]}" ask connect 10.0.0.2 $PORT 2>&1)" "TCP TCP"
rm -f /dev/shm/ndp_run.*
# Python ignores SIGXFSZ.
is "nor is a limit of files" "$(in_ns "$H0" bash -c 'ulimit -f 0
	ndp_run --fallback ndp_cat -p tcp 10.0.0.2 "$1" </dev/null >/dev/null
	echo $?' bash $PORT)" 0
server -- accept 2
carried "who has NDP is not" "$(ask --fallback -v -- connect 10.0.0.2)" "NDP NDP"
carried "in the background" "$(ask --fallback -v -- epoll 10.0.0.2)" "NDP NDP"
carried "who has neither refuses" \
	"$(PORT=9 ask --fallback -- connect 10.0.0.2; tail -n 1 "$TMP/err")" \
	"ConnectionRefusedError: [Errno 111] Connection refused"

# A silent host: it drops NDP's packets.
server tcp -- accept 6
tc -n "$H1" qdisc add dev eth0 clsact
tc -n "$H1" filter add dev eth0 ingress protocol ip u32 match ip protocol 17 0xff \
	match ip dport $NDP_PORT 0xffff action drop
carried "who is silent is asked by TCP" "$(ask --fallback=100 -v -- connect 10.0.0.2)" "TCP TCP"
check "and it says so" grep -q "TCP, for it is silent" "$TMP/err"
carried "other programs know it" "$(ask --fallback=100 -v -- connect 10.0.0.2)" "TCP TCP"
check "and say so" grep -q "TCP, remembered" "$TMP/err"
rm -f /dev/shm/ndp_run.*
carried "in the background" "$(ask --fallback=100 -v -- poll 10.0.0.2)" "TCP TCP"
carried "that is known" "$(ask --fallback=100 -v -- connect 10.0.0.2)" "TCP TCP"
check "and it says so" grep -q "TCP, remembered" "$TMP/err"
sleep 11
carried "but not for long" "$(ask --fallback=100 -v -- connect 10.0.0.2)" "TCP TCP"
check "and it is asked again" grep -q "TCP, for it is silent" "$TMP/err"
rm -f /dev/shm/ndp_run.*
is "a descriptor that is another file's meanwhile is left alone" \
	"$(in_ns "$H0" ndp_run --fallback=1000 "${python[@]}" overtaken 10.0.0.2 $PORT 2>&1)" \
	"EBADF the file's"
carried "without /proc the error is still connect()'s" \
	"$(ask --fallback=100 -- jailed 10.0.0.2)" "TCP TCP"
tc -n "$H1" qdisc del dev eth0 clsact

# Listeners accept both NDP and TCP, in each way of waiting.
rm -f /dev/shm/ndp_run.*
for how in accept poll select large epoll early exclusive fork share signal again asyncio; do
	server --fallback -- $how 4
	carried "both, by $how" "$(plain connect 10.0.0.2; ask -- connect 10.0.0.2
		ask -- poll 10.0.0.2; plain poll 10.0.0.2)" "TCP TCP
NDP NDP
NDP NDP
TCP TCP"
done
server tcp -- accept 1
says "a port that TCP has already" 1 "Address already in use" in_ns "$H1" ndp_run --fallback \
	"${python[@]}" serve accept $PORT 1
is "and NDP does not listen there" \
	"$(in_ns "$H1" ndp_run --fallback "${python[@]}" half $PORT 2>&1)" "EADDRINUSE 0"
check "and that server is still there" plain connect 10.0.0.2
is "privileges that were given up leave NDP's" \
	"$(in_ns "$H1" ndp_run --fallback "${python[@]}" dropped 80 2>"$TMP/err")" "NDP 1"
check "and it says so" grep -q "no listener of TCP" "$TMP/err"
is "it ends with what is put over it" \
	"$(in_ns "$H1" ndp_run --fallback "${python[@]}" replaced 81 2>&1)" "1 0 1 0 1 0 1 0 "
in_h1() { in_ns "$H1" ndp_run --fallback "${python[@]}" "$@" 2>&1; }
is "one that was closed unnoticed leaves its port" "$(in_h1 unnoticed 82)" "1 1 "
is "it stops to listen, and listens again" "$(in_h1 paused 83)" "0 1 0 1 "
is "who waits for it while it is closed does not get the next one's connection" \
	"$(in_h1 waits 84)" "EINVAL EINVAL EINVAL EINVAL EINVAL "
is "children that listen in turn accept both" "$(in_h1 relisten 85)" "1 1 1 "
in_h1 bare 86 "$TMP/bare"
is "it takes no standard descriptor" "$(cat "$TMP/bare")" "0 1 []"
is "there may be many" "$(in_h1 many 9000 9199)" "200 200"
is "no io_uring watches them" "$(in_h1 ring)" "-1 EPERM"
# Exceptions: no socket of TCP in the wrong namespace, none without its options, and a port that
# is free in TCP as well
is "a socket of another namespace" "$(ndp_run -e 5000 "${python[@]}" elsewhere "$H0" "$H1" \
	10.0.0.2 5000 2>&1)" ENETUNREACH
server tcp -- accept 2 ::
for to in 0.0.0.0 ::; do
	is "an exception for this host, which is called $to" "$(in_ns "$H1" timeout 60 \
		ndp_run -c /dev/null -e 127.0.0.0/8,::1 "${python[@]}" ask connect $to $PORT \
		2>&1)" "TCP TCP"
done
server tcp -- accept 2
is "too few descriptors" \
	"$(in_ns "$H0" ndp_run -e $PORT "${python[@]}" narrow 10.0.0.2 $PORT 2>&1)" \
	"EMFILE 33 TCP 33 "
echo 20000 20007 | in_ns "$H1" tee /proc/sys/net/ipv4/ip_local_port_range >"$TMP/out"
background in_ns "$H1" "${python[@]}" crowd 20000 20007 20002 20005 >"$TMP/server" 2>&1
wait_for 20 grep -q listening "$TMP/server" || die "no crowd: $(cat "$TMP/server")"
is "any port is one that is free in both" \
	"$(in_ns "$H1" ndp_run --fallback "${python[@]}" crowded 2>&1)" "NDP NDP 20002 20005"
is "also for a connection to an exception" \
	"$(in_ns "$H1" ndp_run -e 9 "${python[@]}" any_port 10.0.0.1 9 2>&1)" \
	"ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED "
