#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Features that only IPv6 has: flow labels, aliases and prefixes as paths, refusals by
# ICMPv6, one listener for both families, link-local addresses, an interface without
# IPv6.
#
#	H0 eth0 ==== eth0 H1
# shellcheck disable=SC2034
FAMILY=6
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
require_program tcpdump
require_program python3
tap_plan 30

wire_pair rate=1gbit delay=10us mtu=9000
near=${ADDRESS[0]} far=${ADDRESS[1]}
show() { in_ns "$H0" ndp path show | tr '\n' ';'; }

# Act as a firewall that rejects: answer the first packet by ICMPv6.
reject() {
	in_ns "$H1" timeout 60 python3 -c '
import socket, sys
packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x86dd))
packets.bind(("eth0", 0))
print("listening", flush=True)
while True:
    packet = packets.recv(65536)
    if packet[6] == 17:
        break
icmp = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
icmp.sendto(bytes([1, 4, 0, 0, 0, 0, 0, 0]) + packet[:1200], (sys.argv[1], 0))' "$1"
}

background reject "$near" >"$TMP/reject" 2>&1
wait_for 20 grep -q listening "$TMP/reject" || die "no firewall: $(cat "$TMP/reject")"
# UDP in H1, without AF_NDP, silently drops packets without a checksum.
is "refused by ICMPv6" "$(in_ns "$H0" timeout 60 ndp_xfer connect -s 10 "$far" 5000 2>&1 |
	sed 's/.*: //;1q')" "Connection refused"

# Paths, as shown and on the wire.
ip -n "$H1" address add fd00:9::2/128 dev eth0 && ip -n "$H0" route add fd00:9::/64 via "$far" ||
	die "no alias"
check "add entropy" in_ns "$H0" ndp path add "$far" entropy 50001
check "add an alias" in_ns "$H0" ndp path add "$far" via fd00:9::2 entropy 50002
check "add a prefix" in_ns "$H0" ndp path add fd00:77::/32 via fd00:78:: mark 7
both="$far entropy 50001;$far via fd00:9::2 entropy 50002;"
is "show" "$(show)" "${both}fd00:77::/32 via fd00:78:: entropy random mark 7;"
is "as JSON" "$(in_ns "$H0" ndp -j path show fd00:77::/32)" \
	'[{"dst":"fd00:77::","prefixlen":32,"via":"fd00:78::","entropy":0,"mark":7}]'
for bad in "fd00::2/64:beyond its prefix" "$far via 10.0.0.1:destination's family" \
	"$far via ff02::1:not a host's" "10.0.0.0/33:number up to 32"; do
	# shellcheck disable=SC2086
	says "refused: ${bad%:*}" "$([ "${bad##*:}" = "number up to 32" ] && echo 2 || echo 1)" \
		"${bad##*:}" in_ns "$H0" ndp path add ${bad%:*}
done
# shellcheck disable=SC2086
sent() { ndp_stat "$H0" $ALL_OUT; }
captured() { tcpdump -nn -r "$TMP/capture" 2>/dev/null | wc -l; }
all_captured() { [ "$(captured)" -eq $(($(sent) - before)) ]; }
before=$(sent)
# Not in_ns: $PID must be tcpdump itself, which is killed.
background ip netns exec "$H0" tcpdump --immediate-mode -U -nn -i eth0 -Q out -w "$TMP/capture" \
	udp port $NDP_PORT >"$TMP/tcpdump" 2>&1
CAPTURE=$PID
wait_for 20 grep -q listening "$TMP/tcpdump" || die "no capture"
serve "$H1" -n 1 5000
check "over two paths" fetch "$H0" -s 300000 -r 1000 "$far" 5000
check "every byte" served
check "all packets are captured" wait_for 20 all_captured
kill $CAPTURE
tcpdump -nn -v -r "$TMP/capture" 2>/dev/null | tr -d '\n' | sed 's/IP6 (/\n&/g' >"$TMP/text"
# Fields of each packet: source port, destination, flow label.
label='.*flowlabel 0x\([0-9a-f]*\),'
ports=' [0-9a-f:]*\.\([0-9]*\) > \([0-9a-f:]*\)\.'$NDP_PORT:
sed -n "s/$label.*$ports.*/\2 \3 \1/p" "$TMP/text" |
	sort | uniq -c | sed 's/^ *[0-9]* //' >"$TMP/packets"
is "each to its alias, the flow label as the port" "$(tr '\n' ';' <"$TMP/packets")" \
	"50001 $far 0c351;50002 fd00:9::2 0c352;"
is "in all packets" "$(grep -c flowlabel "$TMP/text")" "$(captured)"
check "delete them" in_ns "$H0" ndp path del "$far"

# One listener for both families.
ip -n "$H0" address add 10.7.0.1/24 dev eth0 && ip -n "$H1" address add 10.7.0.2/24 dev eth0 ||
	die "no IPv4"
serve "$H1" -n 3 5000
check "a listener of IPv6: by IPv6" fetch "$H0" -s 100000 -r 100000 "$far" 5000
check "by IPv4" fetch "$H0" -s 100000 -r 100000 10.7.0.2 5000
link=$(ip -n "$H1" -6 -o address show dev eth0 scope link | sed 's/.*inet6 \([^/]*\).*/\1/')
check "by an address of the link" fetch "$H0" -s 100000 -r 100000 "$link%eth0" 5000
check "every byte of them" served
live=$(in_ns "$H0" ndp path live "$far")
check "a host that no connection goes to is remembered" \
	grep -q "^$far from .* connections 0 rtt [1-9]" <<<"$live"

# Without an IPv6 address, the destination is unreachable.
in_ns "$H0" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
check "IPv6 switched off: an error at once" \
	grep -Eq "Network is unreachable|Cannot assign|Permission denied" \
	<(in_ns "$H0" timeout 60 ndp_xfer connect -s 10 "$far" 5000 2>&1)
in_ns "$H0" sysctl -qw net.ipv6.conf.all.disable_ipv6=0
ip -n "$H0" address add "$near/64" dev eth0 nodad
check "and on again" wait_for 20 ip -n "$H0" -6 route get "$far"
serve "$H1" -n 1 5000
check "it goes on" fetch "$H0" -s 100000 -r 100000 "$far" 5000
check "as before" served
check "nothing is left" wait_for 20 quiet "$H0" "$H1"
