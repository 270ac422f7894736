#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What ndp shows is correct: ndp peer agrees with ndp path live, ndp port with tc -s, ndp dev and
# ndp -w stat with the counters.
#
#	HOST[1], HOST[2] ==1 Gb/s== LEAF[0] --100 Mb/s-- HOST[0]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ndp netwire
require_program python3 tc
tap_plan 84

# shown NS EXPRESSION ARGUMENT...: evaluate it; o is what ndp -j ARGUMENT... prints in NS, and d its
# first element
shown() {
	in_ns "$1" ndp -j "${@:3}" | python3 -SE -c '
import json, sys
o = json.load(sys.stdin)
d = o[0] if o else None
print(eval(sys.argv[1]))' "$2"
}
refused() { says "$1" "$2" "$3" in_ns "${HOST[0]}" ndp "${@:4}"; }

leaf_spine hosts=3 leaves=1 spines=1 rate=1gbit delay=10us mtu=9000
ip -n "${HOST[0]}" link set eth0 type netwire rate 100mbit || die "no slow port"
is "no peer at first" "$(in_ns "${HOST[1]}" ndp peer)" ""
is "nor as JSON" "$(in_ns "${HOST[1]}" ndp -j peer)" "[]"
for ((i = 0; i < 4; i++)); do
	in_ns "${HOST[1]}" ndp path add "${ADDRESS[0]}" entropy $((50000 + i)) || die "no path"
done
incast 2 1000000
check "all connections end" wait_for 20 quiet "${HOST[@]}"

# Peers
sums() {
	python3 -SE -c '
import json, sys
for p in json.load(sys.stdin):
    paths = p["paths"]
    print(p["peer"], p["local"], p["uid"], p["mark"], p["dev"], p["connections"], p["rtt_us"],
          len(paths), sum(x["left_out_us"] > 0 for x in paths),
          sum(x["control_left_out_us"] > 0 for x in paths),
          *(sum(x[k] for x in paths) for k in ("acks", "nacks", "losses")))'
}
flat() {
	python3 -SE -c '
import json, sys
for p in json.load(sys.stdin):
    print(*(p[k] for k in ("peer", "local", "uid", "mark", "dev", "connections", "rtt_us", "paths",
                           "left_out", "control_left_out", "acks", "nacks", "losses")))'
}
for h in 0 1; do
	in_ns "${HOST[h]}" ndp -j path live >"$TMP/live"
	in_ns "${HOST[h]}" ndp -j peer >"$TMP/peers"
	is "peers of host $h as path live has them" "$(flat <"$TMP/peers")" "$(sums <"$TMP/live")"
	check "some are" [ -s "$TMP/live" ]
done
is "a line each" "$(in_ns "${HOST[0]}" ndp peer | wc -l)" 2
is "with its paths" "$(shown "${HOST[1]}" '[p["paths"] for p in o]' peer)" "[4]"
is "as text" \
	"$(in_ns "${HOST[1]}" ndp peer | sed -E 's/ [0-9]+/ N/g; s/^.* from [^ ]*/A from A/')" \
	"A from A connections N rtt Nus paths N left-out N control-left-out N acks N nacks N \
losses N"
is "one peer alone" "$(shown "${HOST[0]}" '[p["peer"] for p in o]' peer "${ADDRESS[2]}")" \
	"['${ADDRESS[2]}']"
is "one that is none" "$(in_ns "${HOST[0]}" ndp -j peer 10.99.0.1)" "[]"
refused "no address" 2 "not an IP address" peer nowhere
refused "a word too many" 2 "what is" peer show "${ADDRESS[1]}" more

# Connections, while there are some; those with another mark belong to another peer.
flow_serve "${HOST[0]}"
flow_begin "${HOST[1]}" "${ADDRESS[0]}"
check "packets go" wait_for 20 flow_runs 100
is "a connection to the peer" "$(shown "${HOST[1]}" '[p["connections"] for p in o]' peer)" "[1]"
is "and by the device" "$(shown "${HOST[0]}" '[(d["dev"], d["connections"]) for d in o]' dev)" \
	"[('eth0', 1)]"
check "every byte" flow_end
check "it ends" wait_for 20 quiet "${HOST[@]}"

# Devices
pulls() { shown "${HOST[0]}" "d['pulls']" dev eth0; }
is "pulls of the device are those of the namespace" "$(pulls)" "$(ndp_stat "${HOST[0]}" PulledOut)"
check "there are some" [ "$(pulls)" -gt 0 ]
# Packets that a late answer had sent again arrive for no pull, and are not counted.
counted=$(shown "${HOST[0]}" "d['pulled_in'] + d['pushed_in']" dev)
arrived=$(($(ndp_stat "${HOST[0]}" DataIn TrimmedIn OpenIn FinIn) - $(ndp_stat "${HOST[0]}" DupIn)))
check "what came for pulls and without: no more than arrived" [ "$counted" -le "$arrived" ]
exact "what came for pulls and without" [ "$counted" -eq "$arrived" ]
is "its rate is the link's" "$(shown "${HOST[0]}" "(d['rate_bps'], d['speed_bps'], \
	d['rate_from'])" dev)" "(100000000, 100000000, 'link')"
is "its share is that of its pace" "$(shown "${HOST[0]}" \
	"abs(d['pace_bps'] - d['rate_bps'] * d['share'] / 100) < 100000" dev)" True
is "nothing waits" "$(shown "${HOST[0]}" "(d['connections'], d['waiting'])" dev)" "(0, 0)"
echo 50 | in_ns "${HOST[0]}" tee /proc/sys/net/ndp/pull_rate_mbit >"$TMP/set"
echo 7 | in_ns "${HOST[0]}" tee /proc/sys/net/ndp/pull_low_share >"$TMP/set"
is "or what is set" "$(shown "${HOST[0]}" "(d['rate_bps'], d['rate_from'], \
	d['low_share'])" dev)" "(50000000, 'sysctl', 7)"
check "as text" grep -q "^eth0 rate 50Mbit from sysctl low-share 7% pace [0-9.]*Mbit share " \
	<(in_ns "${HOST[0]}" ndp dev)
for name in pull_rate_mbit pull_low_share; do
	echo 0 | in_ns "${HOST[0]}" tee /proc/sys/net/ndp/$name >"$TMP/set"
done
is "none is loopback" "$(shown "${HOST[0]}" 'sum(d["dev"] == "lo" for d in o)' dev)" 0
if ip -n "${HOST[0]}" link add link eth0 name above type macvlan 2>"$TMP/err"; then
	ip -n "${HOST[0]}" link set above up
	is "one above another has the queue there" "$(shown "${HOST[0]}" \
		"(d['below'], 'pulls' in d, d['rate_bps'])" dev above)" \
		"('eth0', False, 100000000)"
	ip -n "${HOST[0]}" link set above netns "${HOST[1]}"
	ip -n "${HOST[1]}" link set above up
	is "in a namespace that has not, its rate is all" "$(shown "${HOST[1]}" \
		"(sorted(d), d['rate_bps'])" dev above)" \
		"(['dev', 'low_share', 'rate_bps', 'rate_from', 'speed_bps'], 100000000)"
	ip -n "${HOST[1]}" link del above
else
	skip "one above another has the queue there" "no macvlan"
	skip "in a namespace that has not, its rate is all" "no macvlan"
fi
refused "no such device" 1 "No such device" dev nothing
refused "a word too many for dev" 2 "what is" dev eth0 eth0
check "a user may look" in_ns "${HOST[0]}" setpriv --reuid 65534 --clear-groups \
	"$(command -v ndp)" dev

# A dump in several messages is marked as interrupted if devices or paths are deleted meanwhile.
ns_add many
# shellcheck disable=SC2154
for ((i = 0; i < 150; i++)); do
	echo "link add many$i up type dummy"
done | ip -n "$many" -batch - || die "no devices"
for ((i = 0; i < 150; i++)); do
	echo "path add 10.50.$i.1 entropy 50000"
done | in_ns "$many" ndp -b - || die "no paths"
# interrupted COMMAND-NUMBER SHELL: read a dump, run SHELL meanwhile; how many, and is it marked?
interrupted() {
	in_ns "$many" python3 -SE -c '
import os, socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
def messages():
    data = s.recv(4096)
    while data:
        size, kind, flags = struct.unpack_from("=IHH", data)
        yield kind, flags, data[16:size]
        data = data[size + 3 & ~3:]
def ask(kind, flags, command, attributes=b""):
    s.send(struct.pack("=IHHIIBBH", 20 + len(attributes), kind, flags, 1, 0, command, 1, 0) +
           attributes)
ask(16, 1, 3, struct.pack("=HH4s", 8, 2, b"ndp\0"))
for kind, flags, body in messages():
    at = 4
    while at < len(body):
        size, attribute = struct.unpack_from("=HH", body, at)
        if attribute == 1:
            family, = struct.unpack_from("=H", body, at + 4)
        at += size + 3 & ~3
ask(family, 0x301, int(sys.argv[1]))
n, seen, done = 0, 0, False
while not done:
    for kind, flags, body in messages():
        seen |= flags & 0x10
        n += kind == family
        done = kind == 3
    if n and sys.argv[2]:
        os.system(sys.argv[2])
        sys.argv[2] = ""
print(n, "interrupted" if seen else "whole")' "$@"
}
is "devices" "$(interrupted 8 :)" "150 whole"
check "devices, of which one goes meanwhile" grep -q interrupted \
	<(interrupted 8 "ip link del many0")
is "paths" "$(interrupted 3 :)" "150 whole"
check "paths, of which one goes meanwhile" grep -q interrupted \
	<(interrupted 3 "ndp path del 10.50.0.1")
# Devices that stay are in every list, exactly once.
(for ((i = 0; i < 100; i++)); do
	ip -n "$many" link del many1 && ip -n "$many" link add many1 up type dummy
done) &
changes=$!
fewest=1000
while kill -0 $changes 2>/dev/null; do
	n=$(in_ns "$many" ndp -j dev | python3 -SE -c '
import json, sys
names = [d["dev"] for d in json.load(sys.stdin) if d["dev"] not in ("many1", "")]
print(len(set(names)) if len(set(names)) == len(names) else 0)')
	((n >= fewest)) || fewest=$n
done
wait $changes
is "and the list has all that stay" "$fewest" 148
ip netns del "$many"

# Ports
like_tc() {
	tc -n "$1" -j -s qdisc show >"$TMP/tc" && in_ns "$1" ndp -j port >"$TMP/ports" || return
	python3 -SE -c '
import json, sys
def flat(o, into):
    for k, v in o.items():
        flat(v, into) if isinstance(v, dict) else into.__setitem__(k, v)
    return into
tc = [flat(q, {}) for q in json.load(open(sys.argv[1])) if q["kind"] == "ndp"]
ports = json.load(open(sys.argv[2]))
assert len(tc) == len(ports) > 0, (tc, ports)
for q, p in zip(tc, ports):
    assert (q["dev"], q["handle"]) == (p["dev"], p["handle"]), (q, p)
    for k in p:
        if k not in ("dev", "handle", "parent"):
            assert q[k] == p[k], (k, q, p)
assert len(ports[0]) == 29, sorted(ports[0])' "$TMP/tc" "$TMP/ports"
}
check "ports of the leaf as tc has them" like_tc "${LEAF[0]}"
check "that of a host, too" like_tc "${HOST[0]}"
is "all of them" \
	"$(shown "${LEAF[0]}" 'sorted(p["dev"] for p in o)' port)" "['h0', 'h1', 'h2', 'u0']"
check "the slow one trimmed" [ "$(shown "${LEAF[0]}" \
	'o[0]["trimmed_arrival"] + o[0]["trimmed_tail"]' port h0)" -gt 0 ]
is "one alone" "$(shown "${LEAF[0]}" '[p["dev"] for p in o]' port h0)" "['h0']"
is "a line each port" "$(in_ns "${LEAF[0]}" ndp port | wc -l)" 4
is "as text" "$(in_ns "${LEAF[0]}" ndp port h0 | grep -cE "^h0 [0-9a-f]+: parent root mode switch \
limit 8 data queued 0 trimmed arriving $(port trimmed_arrival) tail $(port trimmed_tail) dropped 0 \
header queued 0 bounced $(port bounced) dropped 0 other queued 0 dropped 0\$")" 1
is "all numbers as tc's text has them" "$(in_ns "${LEAF[0]}" ndp -i port h0 | tail -n +2)" \
	"$(tc -n "${LEAF[0]}" -s qdisc show dev h0 | grep -E '^  (data|header|other|no memory) ')"
is "the host's mode" "$(shown "${HOST[0]}" '[p["mode"] for p in o]' port)" "['host']"
tc -n "${HOST[0]}" qdisc replace dev eth0 root handle 1: prio || die "no prio"
tc -n "${HOST[0]}" qdisc replace dev eth0 parent 1:2 handle 2a: ndp || die "no child"
is "one that is a child" "$(shown "${HOST[0]}" '[(p["handle"], p["parent"]) for p in o]' port)" \
	"[('2a:', '1:2')]"
tc -n "${HOST[0]}" qdisc replace dev eth0 root pfifo || die "no pfifo"
is "none" "$(in_ns "${HOST[0]}" ndp -j port)" "[]"
refused "ports of no device" 1 "No such device" port nothing
tc -n "${HOST[0]}" qdisc replace dev eth0 root ndp mode host || die "no qdisc"

# Rates: the changes that they report add up to that of the counter.
before=$(ndp_stat "${HOST[1]}" DataOut)
in_ns "${HOST[1]}" ndp -j -w 0.05 -c 40 stat DataOut SockInUse >"$TMP/rates" &
rates=$!
serve "${HOST[0]}" -n 1 5000
check "a transfer meanwhile" fetch "${HOST[1]}" -s 1000000 "${ADDRESS[0]}" 5000
check "its end" served
check "rates end after as many as were asked for" wait $rates
rates() {
	python3 -SE -c '
import json, sys
r = [json.loads(line) for line in open(sys.argv[1])]
d = [x["counters"]["DataOut"] for x in r]
print(eval(sys.argv[2]))' "$TMP/rates" "$1"
}
is "so many intervals" "$(rates 'len(r)')" 40
is "the sum of the changes is what was added" \
	"$(rates "d[-1]['value'] - sum(x['change'] for x in d)")" \
	"$before"
is "a rate is a change by its time" "$(rates "all(
	abs(x['counters']['DataOut']['rate'] * x['seconds'] - x['counters']['DataOut']['change']) <=
	x['seconds'] for x in r)")" True
is "of what is there now there is none" \
	"$(rates "any('rate' in x['counters']['SockInUse'] for x in r)")" \
	False
now=$(ndp_stat "${HOST[1]}" DataOut)
is "as text" "$(in_ns "${HOST[1]}" ndp -w 0.01 -c 2 stat DataOut | sed 's/^# .*/time/; s/  */ /g' |
	tr '\n' ';')" \
	"time;DataOut $now +0 0.0/s;time;DataOut $now +0 0.0/s;"
refused "no interval" 2 "not a number of seconds" -w 0 stat
refused "no number of them" 2 "not a number" -w 1 -c 0 stat
refused "a number without an interval" 2 "needs it" -c 3 stat
refused "no such counter" 1 "no counter" -w 1 stat NoSuchThing

# Indented JSON has the same names, and a value a line; numbers may have changed by then.
alike() {
	in_ns "${HOST[1]}" ndp -j "$@" >"$TMP/json"
	in_ns "${HOST[1]}" ndp -j -p "$@" >"$TMP/pretty"
	python3 -SE -c '
import json, sys
def form(o):
    if isinstance(o, dict):
        return {k: form(v) for k, v in o.items()}
    return [form(v) for v in o] if isinstance(o, list) else type(o)
short, pretty = (open(name).read() for name in sys.argv[1:])
assert form(json.loads(short)) == form(json.loads(pretty)), (short, pretty)
assert short.count("\n") == 1, short
assert all(line.count("\": ") < 2 for line in pretty.splitlines()), pretty
assert pretty.count("\n") > short.count(",") or short == "[]\n", pretty
' "$TMP/json" "$TMP/pretty"
}
in_ns "${HOST[1]}" ndp repair add eth0 || die "no repair"
for words in path "path live" peer repair dev port socket stat "-z stat" doctor; do
	# shellcheck disable=SC2086
	check "JSON for people: $words" alike $words
done

# A batch of these commands
printf '%s\n' peer "dev eth0" port >"$TMP/batch"
is "a batch" "$(in_ns "${HOST[0]}" ndp -b "$TMP/batch" | wc -l)" \
	"$(in_ns "${HOST[0]}" sh -c 'ndp peer; ndp dev eth0; ndp port' | wc -l)"
