#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The path scoreboard (NDP paper, section 3.2.3): one of two spines swallows what it is
# sent, with nobody told.  The sender stops using the paths over it, everything
# arrives, and "ndp path live" says which they are; when it is mended they come back.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_netem

# paths FIELD: sums over the paths of HOST[0]'s connection
paths() {
	in_ns "${HOST[0]}" ndp -j path live "${ADDRESS[1]}" | python3 -SE -c '
import json, sys
p = json.load(sys.stdin)
out = [x for x in p if x["left_out_us"]]
print({"all": len(p), "left_out": len(out), "used": len(p) - len(out),
       "acks": sum(x["acks"] for x in p), "losses": sum(x["losses"] for x in p),
       "losses_used": sum(x["losses"] for x in p if not x["left_out_us"])}[sys.argv[1]])' "$1"
}

some() { [ "$(paths "$1")" -gt "$2" ]; }
none() { [ "$(paths "$1")" -eq 0 ]; }

leaf_spine hosts=2 leaves=2 spines=2 rate=200mbit delay=10us mtu=9000
is "no connection, no paths" "$(in_ns "${HOST[0]}" ndp path live)" ""
is "as JSON" "$(in_ns "${HOST[0]}" ndp -j path live)" "[]"

# So many bytes that what is to be seen is seen before they end.
bytes=400000000
serve "${HOST[1]}" -n 1 5000
background in_ns "${HOST[0]}" ndp_xfer connect -s $bytes "${ADDRESS[1]}" 5000 >"$TMP/client" 2>&1
CLIENT=$PID
check "packets go and are acknowledged" wait_for 20 some acks 100
is "as many paths as net.ndp.paths" "$(paths all)" 32

tc -n "${LEAF[0]}" qdisc replace dev u0 root netem loss 100% || die "no netem"
check "paths are left out" wait_for 20 some left_out 0
check "they lost packets" some losses 0
sleep 1
before=$(paths acks)
lost=$(paths losses)
sleep 2
acks=$(($(paths acks) - before))
losses=$(($(paths losses) - lost))
say "in 2 s: acknowledged $acks, lost $losses; left out $(paths left_out)"
check "some paths are used" some used 0
check "packets go on" [ $acks -gt 50 ]
check "of them few are lost" [ $losses -lt $((acks / 5)) ]

tc -n "${LEAF[0]}" qdisc replace dev u0 root ndp || die "no port"
check "mended: all are used again" wait_for 60 none left_out
kill $CLIENT
