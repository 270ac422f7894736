#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_NDP within a host: packets over the loopback device have no CRC, but UDP's checksum,
# which is computed only if the packet is sent on by another device.
#
#	H0 (lo) ---- H1
#
# Every byte arrives through a port that trims, one that corrupts, and where tc redirects
# the packets to another host, with that device's checksum offload on or off.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ndp sch_netem
require_program ethtool python3 tcpdump
tap_plan 11
SIZES=(0 1 1423 1424 1425 65536 1000000)

sent_by_wire() { in_ns "$H0" cat /sys/class/net/eth0/statistics/tx_packets; }

# The number of packets with payload in a capture, and of those among them without a CRC but
# with a UDP checksum
captured() {
	python3 -SE - "$1" "$FAMILY" <<'END'
import struct, sys
data, ip = open(sys.argv[1], "rb").read(), 20 if sys.argv[2] == "4" else 40
at, whole, bare = 24, 0, 0
while at < len(data):
    size = struct.unpack_from("I", data, at + 8)[0]
    udp = data[at + 16 + 14 + ip:at + 16 + size]
    at += 16 + size
    if udp[8] & 15 == 1 and udp[30:32] != b"\0\0":
        whole += 1
        bare += udp[40:44] == bytes(4) and udp[6:8] != b"\0\0"
print(whole, bare)
END
}

wire_pair rate=1gbit mtu=1500
FAR=$(lib_net 9 9 1)
ip -n "$H0" link set lo mtu 1500

background ip netns exec "$H0" tcpdump -i lo --immediate-mode -U -s 200 -w "$TMP/lo.pcap" \
	udp port $NDP_PORT 2>"$TMP/said"
capture=$PID
wait_for 20 grep -q listening "$TMP/said" || die "no capture: $(cat "$TMP/said")"
transfer "clean" "$H0" "$H0" "${ADDRESS[0]}" "${SIZES[@]}"
sleep 0.2
kill "$capture"
wait "$capture" 2>/dev/null
read -r whole bare <<<"$(captured "$TMP/lo.pcap")"
check "$whole packets carry payload" [ "$whole" -gt 1000 ]
is "none of them has a CRC, each a UDP checksum" "$bare" "$whole"

tc -n "$H0" qdisc replace dev lo root ndp limit 2 rate 40mbit || die "no trimming queue"
transfer "trimming queue" "$H0" "$H0" "${ADDRESS[0]}" "${SIZES[@]}"
check "it trimmed" [ "$(ndp_stat "$H0" TrimmedIn)" -gt 0 ]

tc -n "$H0" qdisc replace dev lo root netem corrupt 5% || die "no netem"
before=$(ip_stat "$H0" Udp InCsumErrors)
transfer "corruption" "$H0" "$H0" "${ADDRESS[0]}" "${SIZES[@]}"
check "UDP found packets to be wrong" [ "$(ip_stat "$H0" Udp InCsumErrors)" -gt "$before" ]
tc -n "$H0" qdisc del dev lo root

# Make the far address look like one of this host's.
ip -n "$H1" address add "$FAR/$((FAMILY == 4 ? 32 : 128))" dev lo
in_ns "$H0" sh -c "echo 1 >/proc/sys/net/ipv4/conf/all/accept_local"
ip -n "$H0" route add local "$FAR" dev lo src "${ADDRESS[0]}" table local || die "no route"
proto=$([ "$FAMILY" -eq 4 ] && echo ip || echo ipv6)
tc -n "$H0" qdisc add dev lo clsact
tc -n "$H0" filter add dev lo egress protocol "$proto" flower dst_ip "$FAR" \
	action pedit ex munge eth dst set "$(mac 1)" pipe \
	action mirred egress redirect dev eth0 || die "no filter"
for made in off on; do
	in_ns "$H0" ethtool -K eth0 tx $made >/dev/null || die "no ethtool"
	before=$(sent_by_wire)
	transfer "sent on, checksums of the device $made" "$H0" "$H1" "$FAR" "${SIZES[@]}"
	check "by the other device" [ "$(sent_by_wire)" -gt $((before + 700)) ]
done
