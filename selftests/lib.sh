#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Functions that the shell tests share.  A test sources this file first:
#
#	. "$(dirname "$0")/lib.sh"
#
# Results (TAP; the exit code follows from them when the test ends):
#	tap_plan N		the number of results; reporting another number of
#				them, or planning none, is a failure
#	ok NAME			a result
#	fail NAME [WHY...]
#	skip NAME [WHY...]
#	check NAME COMMAND...	ok if COMMAND succeeds, its output shown if not
#	refuse NAME COMMAND...	ok if COMMAND fails
#	is NAME GOT WANTED	ok if they are the same string
#	exact NAME COMMAND...	as check, where time is virtual; skipped elsewhere, where
#				the machine's speed would decide
#	say TEXT...		a remark
#	skip_all WHY...		end, nothing tested
#	die WHY...		end, failed
#
# Surroundings:
#	require_module NAME...	load them; in the lab a missing one is a failure
#	require_program NAME...
#	$TMP			a directory of this test, removed at the end
#	$SEED			seed of all random choices; printed; SEED=n repeats a run
#	ns_add VAR...		new namespaces, their unique names in $VAR
#	ns_del_all		delete all of these
#	in_ns NS COMMAND...
#	background COMMAND...	run it in the background; ended when the test ends;
#				its process id in $PID
#	virtual_time		does the clock advance only while everything is idle?
#	wait_for SECONDS COMMAND...	until COMMAND succeeds; five times as long where
#				time is real, as only a failing test waits to the end
#
# Networks of netwire and sch_ndp (see each function):
#	wire_pair [key=value...]
#	leaf_spine [key=value...]
#
# Everything that a test creates through these is removed when it ends, however it ends.

KSFT_FAIL=1
KSFT_SKIP=4

TAP_N=0
TAP_FAILED=0
TAP_SKIPPED=0
TAP_PLAN=
NAMESPACES=()
TMP=$(mktemp -d "${TMPDIR:-/tmp}/selftest.XXXXXX") || exit $KSFT_FAIL
# Only user-mode Linux has this file, and the lab runs it in virtual time.
virtual_time() { [ -e /proc/exitcode ]; }
PATIENCE=$(virtual_time && echo 1 || echo 5)
# Divisor for repetitions: a debug kernel takes ten times as long.
# shellcheck disable=SC2034
FEWER=$([ -e /sys/kernel/debug/kmemleak ] && echo 10 || echo 1)
# IP version of the networks, and the length of their prefixes.
FAMILY=${FAMILY:-4}
NET_LEN=$((FAMILY == 4 ? 24 : 64))
SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$SEED

say() { echo "# $*"; }

tap_plan() {
	TAP_PLAN=$1
	echo "1..$1"
}

ok() {
	TAP_N=$((TAP_N + 1))
	echo "ok $TAP_N $1"
}

fail() {
	local name=$1

	shift
	TAP_N=$((TAP_N + 1))
	TAP_FAILED=$((TAP_FAILED + 1))
	[ $# -eq 0 ] || say "$*"
	echo "not ok $TAP_N $name"
	return 1
}

skip() {
	local name=$1

	shift
	TAP_N=$((TAP_N + 1))
	TAP_SKIPPED=$((TAP_SKIPPED + 1))
	echo "ok $TAP_N $name # SKIP $*"
}

check() {
	local name=$1 code

	shift
	"$@" >"$TMP/check" 2>&1
	code=$?
	if [ $code -eq 0 ]; then
		ok "$name"
	else
		sed 's/^/# /' "$TMP/check"
		fail "$name" "exit code $code: $*"
	fi
}

refuse() {
	local name=$1

	shift
	if "$@" >"$TMP/check" 2>&1; then
		fail "$name" "accepted: $*"
	else
		ok "$name"
	fi
}

is() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1" "got '$2', wanted '$3'"
	fi
}

exact() {
	if virtual_time; then
		check "$@"
	else
		skip "$1" "time is not virtual"
	fi
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit $KSFT_SKIP
}

die() {
	say "$*"
	exit $KSFT_FAIL
}

# The processes in the test's namespaces, found in one pass.
ns_pids() {
	[ ${#NAMESPACES[@]} -gt 0 ] || return
	stat -L -c '%i %n' "${NAMESPACES[@]/#//run/netns/}" /proc/[0-9]*/ns/net 2>/dev/null |
		awk '$2 ~ "^/run" { ours[$1] }
			$2 ~ "^/proc" && $1 in ours { split($2, p, "/"); print p[3] }'
}

lib_cleanup() {
	local code=$? ns pids

	trap - EXIT INT TERM HUP
	pids=$(jobs -p; ns_pids)
	{
		# shellcheck disable=SC2086
		[ -z "$pids" ] || kill -9 $pids
		wait
	} 2>/dev/null
	for ns in "${NAMESPACES[@]}"; do
		ip netns del "$ns" 2>/dev/null
	done
	rm -rf "$TMP"

	if [ "$code" -eq 0 ] && [ "$TAP_N" -ne "${TAP_PLAN:--1}" ]; then
		say "planned ${TAP_PLAN:-no} results, gave $TAP_N"
		code=$KSFT_FAIL
	elif [ "$TAP_FAILED" -gt 0 ]; then
		code=$KSFT_FAIL
	elif [ "$code" -eq 0 ] && [ "$TAP_N" -eq "$TAP_SKIPPED" ]; then
		code=$KSFT_SKIP
	fi
	exit "$code"
}
trap lib_cleanup EXIT
trap 'exit 1' INT TERM HUP

# The lab has every module and program, so a missing one is an error there.
missing() {
	[ -z "${NDP_LAB-}" ] || die "$*"
	skip_all "$*"
}

require_module() {
	local m

	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	for m; do
		modprobe "$m" || missing "no module $m"
	done
}

require_program() {
	local p

	for p; do
		command -v "$p" >/dev/null || missing "no program $p"
	done
}

ns_add() {
	local var name

	for var; do
		name=$var-${TMP##*.}
		ip netns add "$name" || die "cannot add namespace $name"
		NAMESPACES+=("$name")
		printf -v "$var" %s "$name"
		ip -n "$name" link set lo up
	done
}

ns_del_all() {
	local ns

	for ns in "${NAMESPACES[@]}"; do
		ip netns del "$ns"
	done
	NAMESPACES=()
}

in_ns() {
	local ns=$1

	shift
	ip netns exec "$ns" "$@"
}

background() {
	"$@" &
	# used by the caller
	# shellcheck disable=SC2034
	PID=$!
}

wait_for() {
	local begin=$SECONDS limit=$(($1 * PATIENCE))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $((SECONDS - begin)) -lt "$limit" ] || return 1
		# Polling costs time under emulation: after 2 seconds, poll once a second.
		if [ $((SECONDS - begin)) -lt 2 ]; then sleep 0.1; else sleep 1; fi
	done
}

# cee_stat NS DEVICE PRIORITY KEY: a counter of a priority of the device's sch_cee
cee_stat() {
	tc -n "$1" -j -s qdisc show dev "$2" | python3 -SE -c '
import json, sys
print(json.load(sys.stdin)[0]["prio" + sys.argv[1]][sys.argv[2]])' "$3" "$4"
}

# mac NUMBER: a MAC address made from the number
mac() {
	printf '02:4e:44:50:%02x:%02x' $(($1 >> 8)) $(($1 & 255))
}

# Parameters of a network: the defaults, then those given as "key=value".
lib_settings() {
	local s

	rate=1gbit delay=1us mtu=1500 hostq='ndp mode host' switchq='ndp limit 8'
	hosts=8 spines=4 leaves=2
	for s; do
		case $s in
		rate=*|delay=*|mtu=*|hostq=*|switchq=*|hosts=*|spines=*|leaves=*)
			printf -v "${s%%=*}" %s "${s#*=}" ;;
		*)	die "no such setting: $s" ;;
		esac
	done
}

# lib_net AREA NET [HOST]: an address of a network, or its prefix, in the family that
# the test is about: 4, or 6 with FAMILY=6
lib_net() {
	if [ "$FAMILY" -eq 4 ]; then
		echo "10.$1.$2.${3-0/$NET_LEN}"
	else
		# No part is 0, so the text equals what the kernel prints.
		printf 'fd00:%x:%x::%s\n' $(($1 + 1)) $(($2 + 1)) "${3-/$NET_LEN}"
	fi
}

# One batch of ip and one of tc commands for each namespace: a process for
# each command would take minutes under emulation.
lib_ip() { echo "${*:2}" >>"$TMP/ip.$1"; }

# lib_qdisc NS DEV QDISC...: the root qdisc, unless QDISC is empty
lib_qdisc() {
	[ -z "$3" ] || echo "qdisc replace dev $2 root $3" >>"$TMP/tc.$1"
}

lib_commit() {
	local what=$1 ns

	shift
	for ns; do
		[ -e "$TMP/$what.$ns" ] || continue
		"$what" -n "$ns" -batch "$TMP/$what.$ns" ||
			die "cannot set up $ns: $(tr '\n' ';' <"$TMP/$what.$ns")"
		rm "$TMP/$what.$ns"
	done
}

# lib_cable NS1 DEV1 NS2 DEV2 NUMBER: a cable, both ends up, each with its own MAC
# address.  The end in NS2 is made in NS1 and moved.
lib_cable() {
	local ns1=$1 dev1=$2 ns2=$3 dev2=$4 m1 m2

	m1=$(mac $(($5 * 2)))
	m2=$(mac $(($5 * 2 + 1)))
	lib_ip "$ns1" link add "$dev1" type netwire rate "$rate" delay "$delay" peer name "w$5"
	lib_ip "$ns1" link set "$dev1" address "$m1" mtu "$mtu" up
	lib_ip "$ns1" link set "w$5" netns "$ns2"
	lib_ip "$ns2" link set "w$5" name "$dev2" address "$m2" mtu "$mtu" up
}

lib_sysctl() {
	local ns

	for ns; do
		in_ns "$ns" sh -c "
			cd /proc/sys/net
			echo $((FAMILY == 4)) >ipv6/conf/all/disable_ipv6
			echo 0 >ipv6/conf/default/accept_dad
			echo 1 >ipv6/conf/all/keep_addr_on_down
			echo $((FAMILY == 6)) >ipv6/conf/all/forwarding
			echo 1 >ipv6/fib_multipath_hash_policy
			echo 0 >ipv4/conf/all/rp_filter
			echo 0 >ipv4/conf/default/rp_filter
			echo 1 >ipv4/ip_forward
			echo 1 >ipv4/fib_multipath_hash_policy
			[ ! -e ipv4/fib_multipath_hash_seed ] ||
				echo $((RANDOM + 1)) >ipv4/fib_multipath_hash_seed" ||
			die "cannot set up $ns"
	done
}

# wire_pair [rate=] [delay=] [mtu=] [hostq=]
#
#	H0 eth0 ================ eth0 H1
#	10.0.0.1                10.0.0.2	${ADDRESS[0]}, ${ADDRESS[1]}
#
# hostq: root qdisc of both hosts; empty: the kernel's default.
wire_pair() {
	local rate delay mtu hostq switchq hosts spines leaves ns

	lib_settings "$@"
	require_module netwire
	ns_add H0 H1
	lib_sysctl "$H0" "$H1"
	ADDRESS=("$(lib_net 0 0 1)" "$(lib_net 0 0 2)")
	lib_cable "$H0" eth0 "$H1" eth0 0
	lib_ends "$H0" eth0 "${ADDRESS[0]}" "$H1" eth0 "${ADDRESS[1]}" 0
	for ns in "$H0" "$H1"; do
		lib_qdisc "$ns" eth0 "$hostq"
	done
	lib_commit ip "$H0" "$H1"
	lib_commit tc "$H0" "$H1"
}

# leaf_spine [hosts=] [spines=] [leaves=] [rate=] [delay=] [mtu=] [hostq=] [switchq=]
#
#	 SPINE[0] .. SPINE[s-1]		port to leaf l: d<l>
#	    |  \    /  |
#	    |   \  /   |		port to spine s: u<s>
#	 LEAF[0] .. LEAF[l-1]		port to host h: h<h>
#	  |  |        |  |
#	 HOST[0] ..  HOST[h-1]		eth0, address ${ADDRESS[h]} = 10.1.h.2
#
# Hosts are spread over the leaves in order.  Routes are static; between leaves there is
# one per spine, of equal weight.  Neighbour entries are permanent.  hostq and switchq:
# root qdisc of hosts and of all switch ports; empty: the kernel's default.
leaf_spine() {
	local rate delay mtu hostq switchq hosts spines leaves h l s n=0 ns link hops

	lib_settings "$@"
	if [ "$hosts" -gt 250 ] || [ $((leaves * spines)) -gt 250 ]; then
		die "leaf_spine: too large"
	fi
	require_module netwire
	HOST=() LEAF=() SPINE=() ADDRESS=()
	lib_nodes HOST "$hosts"
	lib_nodes LEAF "$leaves"
	lib_nodes SPINE "$spines"
	lib_sysctl "${HOST[@]}" "${LEAF[@]}" "${SPINE[@]}"

	for ((h = 0; h < hosts; h++, n++)); do
		l=$((h * leaves / hosts))
		# shellcheck disable=SC2034
		ADDRESS[h]=$(lib_net 1 $h 2)
		lib_cable "${HOST[h]}" eth0 "${LEAF[l]}" "h$h" $n
		lib_ends "${HOST[h]}" eth0 "${ADDRESS[h]}" "${LEAF[l]}" "h$h" "$(lib_net 1 $h 1)" $n
		lib_ip "${HOST[h]}" route add default via "$(lib_net 1 $h 1)"
		lib_qdisc "${HOST[h]}" eth0 "$hostq"
		lib_qdisc "${LEAF[l]}" "h$h" "$switchq"
	done
	for ((l = 0; l < leaves; l++)); do
		for ((s = 0; s < spines; s++, n++)); do
			link=$((l * spines + s))
			lib_cable "${LEAF[l]}" "u$s" "${SPINE[s]}" "d$l" $n
			lib_ends "${LEAF[l]}" "u$s" "$(lib_net 2 $link 1)" \
				"${SPINE[s]}" "d$l" "$(lib_net 2 $link 2)" $n
			lib_qdisc "${LEAF[l]}" "u$s" "$switchq"
			lib_qdisc "${SPINE[s]}" "d$l" "$switchq"
		done
	done
	# Routes need the links up, in all namespaces.
	lib_commit ip "${HOST[@]}" "${LEAF[@]}" "${SPINE[@]}"
	for ((h = 0; h < hosts; h++)); do
		for ((s = 0; s < spines; s++)); do
			l=$((h * leaves / hosts))
			lib_ip "${SPINE[s]}" route add "$(lib_net 1 $h)" \
				via "$(lib_net 2 $((l * spines + s)) 1)"
		done
		for ((l = 0; l < leaves; l++)); do
			[ $l -ne $((h * leaves / hosts)) ] || continue
			hops=
			for ((s = 0; s < spines; s++)); do
				hops+=" nexthop via $(lib_net 2 $((l * spines + s)) 2) dev u$s"
			done
			lib_ip "${LEAF[l]}" route add "$(lib_net 1 $h)$hops"
		done
	done
	lib_commit ip "${LEAF[@]}" "${SPINE[@]}"
	lib_commit tc "${HOST[@]}" "${LEAF[@]}" "${SPINE[@]}"
}

# lib_nodes ARRAY COUNT: create so many namespaces, and put their names into the array
lib_nodes() {
	local -n array=$1
	local i name

	for ((i = 0; i < $2; i++)); do
		name=${1,,}$i
		ns_add "$name"
		# shellcheck disable=SC2034
		array[i]=${!name}
	done
}

# Flag for ip address add: the address is usable at once, even as a source.  Without it, IPv6
# detects duplicate addresses first, or, with that disabled, still needs a moment.
lib_at_once() { [ "$FAMILY" -eq 4 ] || echo nodad; }

# lib_ends NS1 DEV1 ADDRESS1 NS2 DEV2 ADDRESS2 NUMBER: addresses and neighbours of a
# cable's two ends
lib_ends() {
	lib_ip "$1" address add "$3/$NET_LEN" dev "$2" "$(lib_at_once)"
	lib_ip "$4" address add "$6/$NET_LEN" dev "$5" "$(lib_at_once)"
	lib_ip "$1" neighbour replace "$6" lladdr "$(mac $(($7 * 2 + 1)))" nud permanent dev "$2"
	lib_ip "$4" neighbour replace "$3" lladdr "$(mac $(($7 * 2)))" nud permanent dev "$5"
}
