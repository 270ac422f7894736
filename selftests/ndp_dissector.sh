#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Wireshark's dissector: tshark decodes the packets between eight senders and their receiver,
# through a port that trims and returns headers, and a refused opening; each field is what
# ndp_dissector.py finds in the bytes.  As many packets are shown as trimmed as the receiver has
# counted.  Then packets that were damaged, and noise.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ndp
require_program tcpdump tshark python3
tap_plan 10

leaf_spine hosts=9 leaves=1 spines=1 rate=1gbit delay=10us mtu=1500
ip -n "${HOST[0]}" link set eth0 type netwire rate 200mbit || die "no slow port"
# The header queue is short, so some headers are returned.
tc -n "${LEAF[0]}" qdisc replace dev h0 root ndp limit 4 hdr_limit 300 || die "no short queues"
for h in 0 1; do
	background in_ns "${HOST[h]}" tcpdump -i eth0 --immediate-mode -U -s 2000 \
		-w "$TMP/$h.pcap" udp port 13141 2>"$TMP/said$h"
	CAPTURES[h]=$PID
	wait_for 20 grep -q listening "$TMP/said$h" || die "no capture: $(cat "$TMP/said$h")"
done
incast 8 60000
in_ns "${HOST[1]}" timeout 20 ndp_cat "${ADDRESS[0]}" 77 </dev/null 2>/dev/null
check "all connections end" wait_for 20 quiet "${HOST[@]}"
sleep 0.2
kill "${CAPTURES[@]}"
wait "${CAPTURES[@]}" 2>/dev/null
python3 "$(dirname "$0")/ndp_dissector.py" "$TMP/0.pcap" "$(ndp_stat "${HOST[0]}" TrimmedIn)" \
	"$TMP/1.pcap" "$(ndp_stat "${HOST[1]}" BouncedIn)" >"$TMP/verdicts"
while read -r verdict name; do
	case $verdict in
	ok)	check "$name" true ;;
	not-ok)	check "$name" false ;;
	*)	say "$name" ;;
	esac
done <"$TMP/verdicts"
