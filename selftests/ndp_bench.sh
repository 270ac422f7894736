#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp_bench: flows begin when they are due, and end; every byte is verified; the ports'
# counters cover this run only; and hosts may belong to another process.
#
#	HOST[0] .. HOST[7] ---- LEAF[0], LEAF[1] ---- SPINE[0]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
require_program python3
tap_plan 66

# refused NAME CODE PATTERN ARGUMENTS...: says() with ndp_bench as the command
refused() { says "$1" "$2" "$3" timeout 200 ndp_bench "${@:4}"; }

leaf_spine hosts=8 leaves=2 spines=1 rate=1gbit delay=10us mtu=9000
for ((h = 0; h < 8; h++)); do
	echo "${HOST[h]} 10.1.$h.2"
done >"$TMP/hosts"
for ((h = 0; h < 8; h++)); do
	echo "${LEAF[h / 4]} h$h host"
done >"$TMP/ports"

# Flows from a file, each with a start time, one of them number 0; blank lines, and lines that
# end as in Windows.
printf '%s\n' "# three flows" "Nodes 8" "Connections 3" "" "   " $'\t' "  # the first" \
	"0->4 id 0 start 0 size 1" "  1->4 id 1 start 20000000000 size 300000" $'\r' \
	$'5->2 id 2 start 40000000000 size 100001\r' >"$TMP/flows"
for proto in ndp messages tcp; do
	check "$proto: a matrix" timeout 200 ndp_bench -H "$TMP/hosts" -p $proto \
		-f "$TMP/flows" --verify
	cp "$TMP/check" "$TMP/json"
	is "$proto: its bytes" "$(json "$TMP/json" '[flows[i]["bytes"] for i in (0, 1, 2)]')" \
		"[1, 300000, 100001]"
	is "$proto: none before its time" "$(json "$TMP/json" \
		'[flows[i]["start_us"] >= 20000 * i and
		  flows[i]["finish_us"] >= flows[i]["first_byte_us"] > flows[i]["start_us"]
		  for i in flows]')" "[True, True, True]"
done

# Generated flows, repeated, with replies; then the ports' counters.
check "incast, repeated" timeout 200 ndp_bench -H "$TMP/hosts" --ports "$TMP/ports" \
	-g incast:7 -s 90K --repeat 3 --reply 5000 --verify
cp "$TMP/check" "$TMP/json"
is "all flows ended" "$(json "$TMP/json" '[total["flows"], total["done"], total["failed"]]')" \
	"[21, 21, 0]"
is "the ports' counters add up" "$(json "$TMP/json" \
	'[(lambda p: p["data_in"] == p["data_sent"] + p.get("trimmed_arrival", 0) +
	   p.get("trimmed_tail", 0) + p.get("drop_data", 0))(ports["host"]),
	  ports["host"]["data_sent_bytes"] >= 21 * 95000]')" "[True, True]"
check "rounds on one connection" timeout 200 ndp_bench -H "$TMP/hosts" --ports "$TMP/ports" \
	-g incast:7 -s 20K --reply 5000 --rounds 4 --verify
cp "$TMP/check" "$TMP/json"
is "all rounds of all flows" "$(json "$TMP/json" \
	'[total["flows"], total["done"], total["failed"],
	  7 * 4 * 25000 <= ports["host"]["data_sent_bytes"] <= 7 * 5 * 25000]')" \
	"[7, 7, 0, True]"
check "a permutation" timeout 200 ndp_bench -H "$TMP/hosts" -g permutation -s 50K --verify -r 3
is "everyone sends and receives" "$(json "$TMP/check" \
	'[len({f[end] for f in flows.values()}) for end in ("src", "dst")]')" "[8, 8]"

# Two processes, as on two machines: each half of the hosts belongs to one of them.
awk 'NR > 4 { $1 = "@" } 1' "$TMP/hosts" >"$TMP/near"
awk 'NR <= 4 { $1 = "@" } 1' "$TMP/hosts" >"$TMP/far"
cat >"$TMP/flows" <<-END
	0->4 id 1 start 0 size 200000
	1->4 id 2 start 0 size 100000
	0->4 id 3 start 50000000000 size 7
	6->4 id 4 start 0 size 5000
	0->1 id 5 start 0 size 6000
END
for proto in ndp messages tcp; do
	for reply in 0 3000; do
		bench=(timeout 200 ndp_bench -p "$proto" -f "$TMP/flows" --verify --reply "$reply")
		"${bench[@]}" -H "$TMP/far" >"$TMP/json.far" 2>"$TMP/err" &
		far=$!
		wait_for 20 grep -q listening "$TMP/err" || die "nobody listens"
		name="$proto, reply of $reply"
		check "$name: the senders' process" "${bench[@]}" -H "$TMP/near"
		cp "$TMP/check" "$TMP/json"
		wait $far
		is "$name: the receivers' process" "$? $(cat "$TMP/err")" \
			"0 ndp_bench: listening for 3 flows of other machines"
		is "$name: each tells of its own flows" "$(json "$TMP/json" 'sorted(flows)')$(
			json "$TMP/json.far" 'sorted(flows)')" "[1, 2, 3, 5][1, 2, 3, 4]"
		is "$name: both tell the same" "$(json "$TMP/json" \
			'[flows[i]["bytes"] for i in (1, 2, 3, 5)]')$(json "$TMP/json.far" \
			'[flows[i]["bytes"] for i in (1, 2, 3, 4)]')" \
			"[200000, 100000, 7, 6000][200000, 100000, 7, 5000]"
	done
done

# Wrong arguments and files.
refused "no hosts" 1 "No such file" -H "$TMP/none" -g permutation
refused "no flows" 2 "Usage" -H "$TMP/hosts"
refused "no such namespace" 1 "namespace nowhere" -H <(echo nowhere 10.0.0.1) -g permutation
refused "no address" 1 "not an IP address" -H <(echo - here) -g permutation
refused "no such pattern" 2 "is not permutation" -H "$TMP/hosts" -g everyone
refused "no such protocol" 2 "not one of ndp, tcp" -H "$TMP/hosts" -g permutation -p sctp
refused "no number" 2 "not a number" -H "$TMP/hosts" -g permutation --size many
refused "endless without an end" 2 "need --time" -H "$TMP/hosts" -g permutation
refused "rounds of nothing" 2 "needs --reply" -H "$TMP/hosts" -g permutation -s 1 --rounds 2
refused "no such host" 1 "from host 0 to 9, of 8" -H "$TMP/hosts" -f <(echo "0->9 id 1")
refused "not a flow" 1 "line 2: not" -H "$TMP/hosts" -f <(printf '0->1 size 5\n0->1 bytes 5\n')
refused "no such port" 1 "port eth7" -H "$TMP/hosts" -g permutation -s 1 \
	--ports <(echo "${HOST[0]} eth7 x")
refused "nobody listens" 1 "Connection refused" -H "$TMP/near" -f <(echo "0->4 id 1 size 9")
