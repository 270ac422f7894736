#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who may do what: the table of Documentation/security.md, for root of the namespace's
# own user namespace, for root of another, and for a user without capabilities.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
require_program setpriv unshare

# as_user COMMAND...: in H0, without any capability
as_user() { in_ns "$H0" setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
# As root of a user namespace that does not own H0
as_stranger() { as_user unshare -Ur "$@"; }
# As root of a user namespace, in a network namespace of its own
as_owner() { as_user unshare -Urn "$@"; }

# An option of a socket: sockopt LEVEL NAME VALUE; prints "ok" or what is wrong
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

# bind_to PORT: does a listener get it?
bind_to() { timeout 0.5 ndp_xfer listen -n 1 "$1" 2>&1 | grep -o listening; }
export -f bind_to

set_sysctl() { echo "$2" 2>/dev/null >"/proc/sys/net/ndp/$1"; }
export -f set_sysctl

# may NAME WHO COMMAND..., may_not NAME WHO COMMAND...
may() { check "$2 may: $1" "$2" "${@:3}"; }
may_not() {
	if "$2" "${@:3}" >"$TMP/out" 2>&1; then
		fail "$2 may not: $1" "it did"
	else
		ok "$2 may not: $1"
	fi
}

each_change() {
	local verb=$1 who=$2

	$verb "add a path" "$who" ndp path add 10.0.0.2 entropy 50000
	$verb "remove a path" "$who" sh -c "ndp path del 10.0.0.2 entropy 50000 ||
		{ ndp path add 10.0.0.2 entropy 50000 && ndp path del 10.0.0.2; }"
	$verb "have lengths repaired" "$who" ndp repair add lo
	for name in base_rtt_us paths pull_rate_mbit pull_low_share mem_max_kb rst_rate \
		tombstones_max udp_port; do
		$verb "set net.ndp.$name" "$who" bash -c "set_sysctl $name 20"
	done
	$verb "listen on port 80" "$who" bash -c "bind_to 80"
	$verb "make a port trim" "$who" tc qdisc replace dev lo root ndp
	$verb "make a wire" "$who" ip link add x0 type netwire peer name x1
}

modprobe -qa sch_ndp netwire
wire_pair rate=100mbit delay=10us mtu=9000
in_ns "$H0" ndp path add 10.0.0.2 entropy 50001

each_change may_not as_user
each_change may_not as_stranger
is "nothing was changed" "$(in_ns "$H0" ndp path show)" "10.0.0.2 entropy 50001"
is "nor repaired" "$(in_ns "$H0" ndp repair show)" ""
is "nor set" "$(in_ns "$H0" sysctl -n net.ndp.paths)" 32
each_change may as_owner

for who in as_user as_stranger as_owner; do
	may "see counters" $who ndp stat
	may "see paths" $who ndp path show
	may "see what connections use" $who ndp path live
	may "see where lengths are repaired" $who ndp repair show
	may "listen on port 8000" $who bash -c "bind_to 8000"
	is "$who may set NDP_PRIORITY" "$($who bash -c 'sockopt 300 5 7')" ok
	is "$who may set SO_PRIORITY to 6" "$($who bash -c 'sockopt 1 12 6')" ok
	may_not "have counters of all begin elsewhere" $who \
		bash -c 'echo 1 >/sys/module/ndp/parameters/start'
done
# Marks choose routes; a buffer beyond the bound is memory of all.
for who in as_user as_stranger; do
	is "$who may not set SO_MARK" "$($who bash -c 'sockopt 1 36 1')" "Operation not permitted"
	is "$who may not set SO_PRIORITY to 7" "$($who bash -c 'sockopt 1 12 7')" \
		"Operation not permitted"
	is "$who may not force SO_RCVBUF" "$($who bash -c 'sockopt 1 33 100000000')" \
		"Operation not permitted"
	may_not "send what it likes" $who ndp_forge open 10.0.0.2 5000
done
is "as_owner may set SO_MARK" "$(as_owner bash -c 'sockopt 1 36 1')" ok
