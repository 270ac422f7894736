#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tracepoints report what the counters count: each event of an incast through a port that trims and
# returns headers, then drops them, and of one of two spines that drops everything.  And the
# one-liners of Documentation/observe.md print something.
#
#	HOST[1] .. HOST[4] ==1 Gb/s== LEAF[0] --5 Mb/s-- HOST[0]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ndp
require_trace events
tap_plan 56

trace_instance

trace() { echo "$1" | tee "$T/events/ndp/enable" >"$T/events/sch_ndp/enable"; }
# Move the events since the last call to $TMP/trace.
traced() {
	cat "$T/trace" >"$TMP/trace"
	: >"$T/trace"
}
not_lost() { cat "$T"/per_cpu/cpu*/stats | awk -F': ' '
	/overrun|dropped/ { n += $2; seen++ } END { exit !seen || n }'; }

# networks NS...: a pattern of the numbers by which events name them
networks() { stat -L -c %i "${@/#//run/netns/}" | paste -sd '|'; }

# seen EVENT NETWORKS [FIELD=VALUE | !FIELD=VALUE]...: the number of such events
seen() {
	awk -v head=" $1: netns=($2) " -v want="${*:3}" '
		BEGIN {
			n = split(want, w, " ")
			for (i = 1; i <= n; i++)
				no[i] = sub(/^!/, "", w[i])
		}
		$0 ~ head {
			for (i = 1; i <= n; i++)
				if ((index($0 " ", " " w[i] " ") > 0) == no[i])
					next
			c++
		}
		END { print c + 0 }' "$TMP/trace"
}

# sum EVENT NETWORKS FIELD: the sum of that field
sum() {
	awk -v head=" $1: netns=($2) " -v field=" $3=" '
		$0 ~ head { s += substr($0, index($0, field) + length(field)) }
		END { print s + 0 }' "$TMP/trace"
}

# told NAME COUNTERS EVENT [FIELDS...]: the hosts have as many events as the counters show
told() {
	# shellcheck disable=SC2086
	is "$1" "$(seen "$3" "$HOSTS" "${@:4}")" "$(counters "${HOST[@]}" | sum_of $2)"
}
# told_port NAME COUNTER EVENT [FIELDS...]: the same for a counter of LEAF[0]'s port to HOST[0]
told_port() {
	is "$1" "$(seen "$3" "$LEAVES" dev=h0 "${@:4}")" "$(port "$2")"
}
some() { check "$1" [ "$2" -gt 0 ]; }

is "events of sockets" "$(cd $TRACING/events/ndp && echo ndp_*)" \
	"$(echo ndp_{lost,path,pull,pulled,receive,returned,send,state,timeout})"
is "events of ports" "$(cd $TRACING/events/sch_ndp && echo sch_*)" \
	"sch_ndp_bounce sch_ndp_drop sch_ndp_trim"
is "none says a connection's id" "$(cat $TRACING/events/ndp/*/format | grep -c conn_id)" 0

leaf_spine hosts=5 leaves=1 spines=1 rate=1gbit delay=10us mtu=9000
ip -n "${HOST[0]}" link set eth0 type netwire rate 5mbit || die "no slow port"
HOSTS=$(networks "${HOST[@]}") LEAVES=$(networks "${LEAF[@]}")
tc -n "${LEAF[0]}" qdisc replace dev h0 root ndp limit 2 hdr_limit 128 || die "no short queues"

trace 1
incast 4 60000
tc -n "${LEAF[0]}" qdisc change dev h0 root ndp overflow drop || die "no dropping"
incast 4 60000
check "all connections end" wait_for 20 quiet "${HOST[@]}"
trace 0
check "no event is lost" not_lost
traced
say "$(grep -c ': netns=' "$TMP/trace") events"

told "DATA that leaves" DataOut ndp_send type=DATA !len=0
told "openings that leave" OpenOut ndp_send type=DATA len=0
told "FINs that leave" FinOut ndp_send type=FIN
told "NACKs that leave" NackOut ndp_send type=NACK
told "probes that leave" ProbeOut ndp_send type=PROBE
# A packet for a connection that has ended is no event, nor is its answer.
# told_but_tombs NAME COUNTER EVENT [FIELDS...]: as many as the counter shows, less these at most
told_but_tombs() {
	local all

	all=$(ndp_total "$2" "${HOST[@]}")
	check "$1" between $((all - $(ndp_total TombstoneHits "${HOST[@]}"))) \
		"$(seen "$3" "$HOSTS" "${@:4}")" "$all"
}
told_but_tombs "ACKs that leave" AckOut ndp_send type=ACK
told_but_tombs "PULLs that leave" PullOut ndp_send type=PULL

# A packet is traced when it arrives, and may be refused after that.
refused=$(counters "${HOST[@]}" | sum_of DropPsn DropWindow DropClosed)
whole=$(seen ndp_receive "$HOSTS" type=DATA !len=0 trimmed=0)
trimmed=$(seen ndp_receive "$HOSTS" type=DATA trimmed=1)
check "DATA that comes whole" between 0 $((whole - $(ndp_total DataIn "${HOST[@]}"))) "$refused"
check "DATA that comes trimmed" between 0 $((trimmed - $(ndp_total TrimmedIn "${HOST[@]}"))) \
	"$refused"
some "some does" "$trimmed"
told "NACKs that come" NackIn ndp_receive type=NACK
told_but_tombs "headers that come back" BouncedIn ndp_returned
some "some do" "$(seen ndp_returned "$HOSTS")"
is "pulls granted" "$(sum ndp_pull "$HOSTS" pulls)" "$(ndp_total PulledOut "${HOST[@]}")"
is "pulls heard of" "$(sum ndp_pulled "$HOSTS" pulls)" "$(ndp_total PulledIn "${HOST[@]}")"
told "timeouts" Timeouts ndp_timeout
told "losses by order" LostByOrder ndp_lost
told "opened" ActiveOpens ndp_state oldstate=CLOSE newstate=SYN_SENT
told "accepted" PassiveOpens ndp_state oldstate=CLOSE newstate=ESTABLISHED
is "listening" "$(seen ndp_state "$HOSTS" newstate=LISTEN sport=5000)" 2
told "closed, but for listeners" "ActiveOpens PassiveOpens" ndp_state newstate=CLOSE \
	!oldstate=LISTEN
is "by its address and port: the first host's" "$(seen ndp_state "$HOSTS" \
	"daddr=::ffff:${ADDRESS[0]}" dport=5000 newstate=SYN_SENT)" 8

told_port "trimmed as it came" trimmed_arrival sch_ndp_trim tail=0
told_port "trimmed at the tail" trimmed_tail sch_ndp_trim tail=1
some "some was" "$(seen sch_ndp_trim "$LEAVES")"
told_port "returned" bounced sch_ndp_bounce
is "headers dropped" "$(($(seen sch_ndp_drop "$LEAVES" dev=h0 reason=drop_header) + \
	$(seen sch_ndp_drop "$LEAVES" dev=h0 reason=drop_bounce)))" "$(port drop_header)"
told_port "that could not return" drop_bounce sch_ndp_drop reason=drop_bounce
some "some were" "$(seen sch_ndp_drop "$LEAVES" reason=drop_header)"
is "data dropped" "$(seen sch_ndp_drop "$LEAVES" reason=drop_data)" "$(port drop_data)"

# Tracing is off again
serve "${HOST[0]}" -n 1 5000
fetch "${HOST[1]}" -s 100000 "${ADDRESS[0]}" 5000 && served
check "every byte of what is not traced" [ $? -eq 0 ]
traced
is "which leaves no event" "$(grep -c netns= "$TMP/trace")" 0

# Paths, over IPv6: one of two spines drops everything for a while.
ns_del_all
# shellcheck disable=SC2034
FAMILY=6 NET_LEN=64
leaf_spine hosts=2 leaves=2 spines=2 rate=200mbit delay=10us mtu=9000
HOSTS=$(networks "${HOST[0]}")
# So many that some go over each spine, whatever the routers' hash.
entropies add 32
flow_serve "${HOST[1]}"
trace 1
# some_news NEWS: has there been such an event?
some_news() { grep -q "ndp_path: netns=$HOSTS .*news=$1 control=0" "$T/trace"; }
probes() {
	in_ns "${HOST[0]}" ndp -j path live "${ADDRESS[1]}" | python3 -SE -c '
import json, sys
print(sum(p["probes"] for peer in json.load(sys.stdin) for p in peer["paths"]))'
}
flow_begin "${HOST[0]}" "${ADDRESS[1]}"
check "packets go" wait_for 20 flow_runs 100
tc -n "${LEAF[0]}" qdisc replace dev u0 root netem loss 100% || die "no netem"
check "paths are left out" wait_for 20 some_news out
tc -n "${LEAF[0]}" qdisc replace dev u0 root ndp || die "no port"
check "they are probed" wait_for 20 some_news probed
check "and come back" wait_for 20 some_news back
before=$(probes)
trace 0
after=$(probes)
check "every byte" flow_end
check "no event is lost" not_lost
traced
check "all probes are told" between "$before" "$(seen ndp_path "$HOSTS" news=probed)" "$after"
is "out for some time" "$(seen ndp_path "$HOSTS" news=out out_ns=0)" 0
is "by their ports" "$(grep -cE " ndp_path: .* entropy=($(seq -s '|' 50000 97 53007)) " \
	"$TMP/trace")" "$(seen ndp_path "$HOSTS")"
is "of IPv6, by its address" "$(seen ndp_path "$HOSTS" "daddr=${ADDRESS[1]}")" \
	"$(seen ndp_path "$HOSTS")"

# The one-liners, while both spines lose packets, the port to the receiver trims, and transfers come
# and go, until each has had something to report.
DOCUMENT=$(dirname "$0")/../Documentation/observe.md
# one_liner N: the Nth one-liner
one_liner() {
	awk -v n="$1" -v quote="'" '/^    bpftrace -e/ { i++; on = 1 }
		on && i == n
		on && substr($0, length($0)) == quote { on = 0 }' "$DOCUMENT"
}
# Has bpftrace attached its probes?  Then it waits for events.
attached() { grep -qE 'epoll|ep_poll' "/proc/$1/wchan"; }
# bpftrace ignores SIGINT until it has a handler, so it is sent again.  Not at once: a second one
# would end it while it looks up the names of functions for its output.
ended() { ! kill -0 "$1"; }
interrupted() {
	kill -INT "$1"
	wait_for 20 ended "$1"
}
happened() {
	local what

	for what in sch_ndp_trim: ndp_timeout: ndp_pulled: news=out newstate= \
		'ndp_receive: .*type=DATA'; do
		grep -q "$what" "$T/trace" || return
	done
}

if [ -d "${NDP_PROGRAMS-}/usr" ]; then
	PATH=$PATH:$NDP_PROGRAMS/usr/bin
	LIBRARIES=$(printf '%s:' "$NDP_PROGRAMS"/usr/lib/*-linux-gnu)
fi
why=
[ -e /proc/sys/kernel/perf_event_paranoid ] || why="this kernel has no perf events"
command -v bpftrace >/dev/null || why="there is no bpftrace"
[ -e "$DOCUMENT" ] || why="there is no document"
if [ -n "$why" ]; then
	for i in {1..7}; do
		skip "one-liner $i" "$why"
	done
	exit
fi
for i in 0 1; do
	tc -n "${LEAF[0]}" qdisc replace dev u$i root netem loss 30% || die "no netem"
done
ip -n "${HOST[1]}" link set eth0 type netwire rate 5mbit || die "no slow port"
tc -n "${LEAF[1]}" qdisc replace dev h1 root ndp limit 1 || die "no short queue"
pids=()
for i in {1..7}; do
	# exec: the process must be bpftrace itself, to get the signal.
	LD_LIBRARY_PATH=${LIBRARIES-} bash -c "exec $(one_liner $i)" >"$TMP/said.$i" 2>&1 &
	pids[i]=$!
done
for i in {1..7}; do
	wait_for 50 attached "${pids[i]}" || say "one-liner $i does not wait for events"
done
say "$(grep MemAvailable /proc/meminfo)"
trace 1
for _ in {1..20}; do
	serve "${HOST[1]}" -n 1 5000
	fetch "${HOST[0]}" -s 100000 "${ADDRESS[1]}" 5000 && served || die "no transfer"
	! happened || break
done
trace 0
for i in {1..7}; do
	wait_for 60 interrupted "${pids[i]}" || kill -9 "${pids[i]}"
	check "one-liner $i says something" awk '/^$|^Attaching/ { next } { n++ } END { exit !n }' \
		"$TMP/said.$i"
	say "$(tail -n 3 "$TMP/said.$i" | tr '\n' ';')"
done
