#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The path scoreboard (NDP paper, section 3.2.3): one of two spines silently drops
# everything.  The sender stops using the paths over it, all data arrives, and "ndp path
# live" shows which they are; when the spine works again, they come back.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_netem
tap_plan 16

# paths FIELD: sums over the paths of HOST[0]'s connection
paths() {
	in_ns "${HOST[0]}" ndp -j path live "${ADDRESS[1]}" | python3 -SE -c '
import json, sys
p = [x for peer in json.load(sys.stdin) for x in peer["paths"]]
out = [x for x in p if x["left_out_us"]]
print({"all": len(p), "left_out": len(out), "used": len(p) - len(out),
       "acks": sum(x["acks"] for x in p), "losses": sum(x["losses"] for x in p),
       "losses_used": sum(x["losses"] for x in p if not x["left_out_us"])}[sys.argv[1]])' "$1"
}

some() { [ "$(paths "$1")" -gt "$2" ]; }
none() { [ "$(paths "$1")" -eq 0 ]; }
# Are few of the next hundred packets lost?
few_lost() {
	local acks losses

	acks=$(paths acks) losses=$(paths losses)
	wait_for 20 some acks $((acks + 100)) || return
	acks=$(($(paths acks) - acks)) losses=$(($(paths losses) - losses))
	[ $((losses * 5)) -lt $acks ]
}
over_spine() { tc_stat "${LEAF[0]}" u0 "$1"; }

leaf_spine hosts=2 leaves=2 spines=2 rate=200mbit delay=10us mtu=9000
# Configured paths: random ones would be used again only where they did well (ndp_entropy.sh).
entropies add 32
is "no connection, no paths" "$(in_ns "${HOST[0]}" ndp path live)" ""
is "as JSON" "$(in_ns "${HOST[0]}" ndp -j path live)" "[]"

flow_serve "${HOST[1]}"
flow_begin "${HOST[0]}" "${ADDRESS[1]}" -i 0
check "packets go and are acknowledged" wait_for 20 some acks 100
is "as many paths as there are" "$(paths all)" 32

tc -n "${LEAF[0]}" qdisc replace dev u0 root netem loss 100% || die "no netem"
check "paths are left out" wait_for 20 some left_out 0
check "they lost packets" some losses 0
check "which the spine has swallowed" [ "$(over_spine drops)" -gt 0 ]
check "some paths are used" wait_for 20 some used 0
check "packets go on, and few are lost" wait_for 20 few_lost
say "left out $(paths left_out)"

# The next connection knows at its first packet what this one has learnt.
check "every byte beside a dead spine" flow_end

flow_serve "${HOST[1]}"
# Until all paths that are left out are due to be tried again.
sleep 2
again=$(ndp_stat "${HOST[0]}" DataRtx)
flow_begin "${HOST[0]}" "${ADDRESS[1]}" -i 0
check "a fresh connection goes" wait_for 20 flow_runs 40
again=$(($(ndp_stat "${HOST[0]}" DataRtx) - again))
say "of some 40 packets $again were sent again"
exact "it knows the paths that are bad" [ $again -lt 10 ]

tc -n "${LEAF[0]}" qdisc replace dev u0 root ndp || die "no port"
check "mended: all are used again" wait_for 60 none left_out
check "over both spines" wait_for 20 eval '[ "$(over_spine data_sent)" -gt 100 ]'
check "every byte" flow_end

# The only packet of a small request may be lost: that counts against its path as well.
# These paths have no record yet.
tc -n "${LEAF[0]}" qdisc replace dev u0 root netem loss 100% || die "no netem"
entropies del 1
for _ in {1..60}; do
	serve "${HOST[1]}" -n 1 5000
	fetch "${HOST[0]}" -s 100 "${ADDRESS[1]}" 5000 && served || die "no request"
done
check "small requests leave paths out" some left_out 6
