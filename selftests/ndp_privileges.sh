#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who may do what: the table of Documentation/security.md, for root of the user namespace
# that owns the network namespace, for root of another, and for a user without capabilities.
# Whatever the last two are refused, the system's root may do in a namespace of the same
# kind: it is the privilege that they lack.
#
#	H0 ======== H1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ndp netwire
require_program setpriv unshare python3
mapfile -t sysctls < <(find /proc/sys/net/ndp -type f -perm -200 -printf '%f\n' | sort)
[ ${#sysctls[@]} -ge 14 ] || die "sysctls are missing: ${sysctls[*]}"
tap_plan $((48 + 4 * (6 + ${#sysctls[@]})))

as_root() { in_ns "$H1" "$@"; }
# as_user COMMAND...: in H0, without any capability
as_user() { in_ns "$H0" setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
# As root of a user namespace that does not own H0
as_stranger() { as_user unshare -Ur "$@"; }
# As root of a user namespace, in a network namespace of its own, a new one each time
as_owner() { as_user unshare -Urn "$@"; }

# sockopt LEVEL NAME VALUE: set an option of a socket; prints "ok" or the error
sockopt() {
	python3 -SE -c '
import socket, sys
s = socket.socket(22, socket.SOCK_STREAM)
try:
    s.setsockopt(*(int(a) for a in sys.argv[1:]))
    print("ok")
except OSError as e:
    print(e.strerror)' "$@"
}
export -f sockopt

# listen_on PORT: can a listener bind it?
listen_on() {
	python3 -SE -c '
import socket, sys
ndp = socket.socket(22, socket.SOCK_STREAM)
# Python binds only sockets of families whose addresses it knows.
named = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, ndp.fileno())
named.bind(("", int(sys.argv[1])))
named.listen()' "$1"
}
export -f listen_on

# If there is no path to remove, one is added first.
remove_path() {
	ndp path add 10.0.0.2 entropy 50001 2>/dev/null
	ndp path del 10.0.0.2 entropy 50001
}
export -f remove_path

set_sysctl() { echo "$2" >"/proc/sys/net/ndp/$1"; }
export -f set_sysctl

# may NAME WHO COMMAND..., may_not NAME WHO COMMAND...
may() { check "$2 may: $1" "$2" "${@:3}"; }
may_not() {
	if "$2" "${@:3}" >"$TMP/out" 2>&1; then
		fail "$2 may not: $1" "it did"
	else
		check "$2 may not: $1" grep -q "not permitted\|Permission denied" "$TMP/out"
	fi
}

each_change() {
	local verb=$1 who=$2 name value

	$verb "add a path" "$who" ndp path add 10.0.0.2 entropy 50000
	$verb "remove a path" "$who" bash -c remove_path
	$verb "have lengths repaired" "$who" ndp repair add lo
	for name in "${sysctls[@]}"; do
		case $name in
		lossless) value=1 ;;
		transport) value=ndp ;;
		*) value=20 ;;
		esac
		$verb "set net.ndp.$name" "$who" bash -c "set_sysctl $name $value"
	done
	$verb "listen on port 80" "$who" bash -c "listen_on 80"
	$verb "make a port trim" "$who" tc qdisc replace dev lo root ndp
	$verb "make a wire" "$who" ip link add x0 type netwire peer name x1
}

wire_pair rate=100mbit delay=10us mtu=9000
in_ns "$H0" ndp path add 10.0.0.2 entropy 50001

each_change may as_root
each_change may_not as_user
each_change may_not as_stranger
is "nothing was changed" "$(in_ns "$H0" ndp path show)" "10.0.0.2 entropy 50001"
is "nor repaired" "$(in_ns "$H0" ndp repair show)" ""
is "nor set" "$(in_ns "$H0" sysctl -n net.ndp.paths)" 32
each_change may as_owner

# Writing 0 changes nothing.
begin_elsewhere=(bash -c 'echo 0 >/sys/module/ndp/parameters/start')
may "have counters of all begin elsewhere" as_root "${begin_elsewhere[@]}"
for who in as_user as_stranger as_owner; do
	may "see counters" $who ndp stat
	may "see paths" $who ndp path show
	may "see what connections use" $who ndp path live
	may "see where lengths are repaired" $who ndp repair show
	may "listen on port 8000" $who bash -c "listen_on 8000"
	is "$who may set NDP_PRIORITY" "$($who bash -c 'sockopt 300 5 7')" ok
	is "$who may set SO_PRIORITY to 6" "$($who bash -c 'sockopt 1 12 6')" ok
	may_not "have counters of all begin elsewhere" $who "${begin_elsewhere[@]}"
done

# Marks choose routes; a buffer beyond the bound takes memory from all.
for who in as_root as_user as_stranger; do
	verb=may_not verdict="Operation not permitted"
	[ $who != as_root ] || verb=may verdict=ok
	is "$who $verb: set SO_MARK" "$($who bash -c 'sockopt 1 36 1')" "$verdict"
	is "$who $verb: set SO_PRIORITY to 7" "$($who bash -c 'sockopt 1 12 7')" "$verdict"
	is "$who $verb: force SO_RCVBUF" "$($who bash -c 'sockopt 1 33 100000000')" "$verdict"
	$verb "send what it likes" $who ndp_forge open 10.0.0.2 5000
done
is "as_owner may: set SO_MARK" "$(as_owner bash -c 'sockopt 1 36 1')" ok

# Only root of H0 may see marks, of which this connection has one.
marked() {
	python3 -SE -c '
import socket, sys, time
ndp = socket.socket(22, socket.SOCK_STREAM)
ndp.setsockopt(socket.SOL_SOCKET, 36, 4711)
named = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, ndp.fileno())
named.connect((sys.argv[1], 5000))
print("connected", flush=True)
time.sleep(100000)' "$@"
}
export -f marked
# shows_mark WHO...: "mark" or "no mark", as the peer is shown, or nothing
shows_mark() {
	"$@" ndp path live | awk '/^10\.0\.0\.2 from/ {
		print / mark 4711( |$)/ ? "mark" : "no mark" }' | sort -u
}

serve "$H1" 5000
background in_ns "$H0" bash -c "marked ${ADDRESS[1]}" >"$TMP/marked" 2>&1
wait_for 20 grep -q connected "$TMP/marked" || die "not connected: $(cat "$TMP/marked")"
is "root may: see marks of sockets" "$(shows_mark in_ns "$H0")" mark
is "as_user may not: see marks of sockets" "$(shows_mark as_user)" "no mark"
is "as_stranger may not: see marks of sockets" "$(shows_mark as_stranger)" "no mark"

# The host has one end of a cable, a container the other: parameters hold for both directions.
background ip netns exec "$H0" setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn \
	bash -c 'until ip link show e9; do sleep 0.1; done >/dev/null 2>&1
		ip link set e9 type netwire rate 1kbit pfc on
		echo "code $?"
		sleep 1000' >"$TMP/out" 2>&1
outside=$(in_ns "$H0" readlink /proc/self/ns/net)
in_container() { [ "$(readlink "/proc/$PID/ns/net")" != "$outside" ]; }
wait_for 20 in_container || die "no container"
wait_for 20 ip link add p9 type netwire rate 100mbit peer name e9 netns "$PID" || die "no cable"
cable() { ip -d link show p9 | grep -o "rate [^ ]* \|pfc [a-z]*" | paste -sd' '; }
before=$(cable)
check "a container has tried" wait_for 20 grep -q ^code "$TMP/out"
check "a container may not: change the host's cable" grep "not permitted\|is another's" "$TMP/out"
is "it was not changed" "$(cable)" "$before"
ip link set p9 type netwire rate 50mbit
check "the host may" [ "$(cable)" != "$before" ]
kill "$PID"
