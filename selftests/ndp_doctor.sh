#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp doctor: what is broken here on purpose, one thing after the other, is found, and
# nothing else is; and what it says mends it does, word by word.
#
#	HOST[0], [1] ==== LEAF[0] ==== SPINE[0] ==== LEAF[1] ==== HOST[2]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_ingress act_gact act_pedit cls_u32
require_program python3 modinfo
tap_plan 107

# examine [HOST [PORT]]: the doctor's report of HOST[0] and its exit code
examine() {
	in_ns "${HOST[0]}" ndp -j doctor "$@" >"$TMP/report" 2>"$TMP/said"
	CODE=$?
	in_ns "${HOST[0]}" python3 -SE -c '
import json, sys
for line in json.load(open(sys.argv[1])):
    print(line["check"], line["verdict"], line["text"])
    for mend in line["mend"].splitlines():
        print("mend", line["check"], mend)
' "$TMP/report" >"$TMP/lines"
}
bad() { sed -n 's/^\([a-z]*\) bad .*/\1/p' "$TMP/lines" | sort -u | tr '\n' ' '; }
mends() { sed -n "s/^mend $1 //p" "$TMP/lines"; }
text_has() { grep "^$1 " "$TMP/lines" | grep -q -- "$2" || { cat "$TMP/lines"; false; }; }
# healthy NAME [HOST]: nothing is bad
healthy() {
	examine "${@:2}"
	is "$1: nothing is bad" "$(bad)" ""
	is "$1: and the exit code says so" $CODE 0
}
# the_only NAME CHECK TEXT: what was examined last is bad in this alone
the_only() {
	is "$1: found, and no more" "$(bad)" "$2 "
	is "$1: the exit code says so" $CODE 1
	check "$1: in words" text_has "$2" "$3"
}
# found NAME CHECK TEXT [HOST]: that is bad and nothing else
found() {
	examine "${@:4}"
	the_only "$@"
}
# What it says mends is done as it stands, in HOST[0].
obey() {
	check "$1: what it says can be done" \
		in_ns "${HOST[0]}" bash -e -c "${3:-$(mends "$2")}"
}

leaf_spine hosts=3 leaves=2 spines=1 rate=1gbit delay=10us mtu=9000 hostq="pfifo limit 1000"
last=2
there=${ADDRESS[last]}

# Its own words.
says "no such host" 2 "host \"no.such.host.invalid\"" in_ns "${HOST[0]}" \
	ndp doctor no.such.host.invalid
is "no such host: no half JSON" \
	"$(in_ns "${HOST[0]}" ndp -j doctor no.such.host.invalid 2>/dev/null)" ""
says "no such port" 2 "not a number from 1 to 65535" in_ns "${HOST[0]}" ndp doctor $there 0
says "a word too many" 2 "what is" in_ns "${HOST[0]}" ndp doctor $there 5 6

ip -n "${HOST[0]}" address add 10.66.0.1/24 dev eth0 label eth0:0
healthy "a host that has done nothing"
is "a device with two addresses is looked at once" "$(grep -c '^pace' "$TMP/lines")" 1
ip -n "${HOST[0]}" address del 10.66.0.1/24 dev eth0
check "nothing is known of trimming" text_has trimming "hardly anything was transferred"

# Another build is installed than that which runs: that is, in this mount namespace.
refuse "what runs is what is installed" text_has module "is installed"
LC_ALL=C sed 's/\(srcversion=\)./\1-/' "$(modinfo -n ndp)" >"$TMP/ndp.ko"
in_ns "${HOST[0]}" sh -c 'mount --bind "$1" "$(modinfo -n ndp)" && ndp doctor' sh "$TMP/ndp.ko" \
	>"$TMP/report"
is "another build is installed: nothing is bad" $? 0
check "another build is installed: it is noted" grep "^note  module .*is loaded, another build of" \
	"$TMP/report"

# The other end.
found "nothing has made a socket there" answer "refuses UDP port $NDP_PORT" $there
serve "${HOST[last]}" -n 1000 5000
healthy "a host that answers" $there
check "the way" text_has route "$there is reached from ${ADDRESS[0]}, eth0, with an MTU of 9000"
check "the answer" text_has answer "$there answers after"
check "large packets" text_has mtu "packets of 9000 bytes reach $there"
healthy "a port with a listener" $there 5000
in_ns "${HOST[0]}" setpriv --reuid 65534 --clear-groups "$(command -v ndp)" doctor $there \
	>"$TMP/report" 2>&1
is "without privilege" "$? $(grep -c '^bad' "$TMP/report")" "0 0"

tc -n "${HOST[last]}" qdisc add dev eth0 ingress
tc -n "${HOST[last]}" filter add dev eth0 ingress protocol ip u32 match ip protocol 17 0xff \
	match ip dport $NDP_PORT 0xffff action drop
found "a firewall there" answer "says nothing" $there
tc -n "${HOST[last]}" qdisc del dev eth0 ingress

# A host that gave a token is shown it beside each opening: a small packet that gets there.
: >"$TMP/listen"
head -c 1000000 /dev/zero | in_ns "${HOST[last]}" timeout 200 ndp_cat -v -l 5001 >"$TMP/sent" \
	2>"$TMP/listen" &
# A client that begins before the listener may be refused by its data and accepted by its FIN.
wait_for 20 grep -q listening "$TMP/listen" || die "no listener"
echo hello | in_ns "${HOST[0]}" timeout 200 ndp_cat "$there" 5001 >"$TMP/answer"
is "a large answer" "$(stat -c %s "$TMP/answer")" 1000000
check "which brought a token" [ "$(ndp_stat "${HOST[0]}" CookieIn)" -gt 0 ]

# trim_there RATE: a packet takes its port far longer than it takes a slow machine to send it
trim_there() {
	tc -n "${LEAF[1]}" qdisc replace dev "h$last" root handle 1: tbf rate "$1" burst 10k \
		limit 1m
	tc -n "${LEAF[1]}" qdisc replace dev "h$last" parent 1: ndp
}

# Few packets, of which some were trimmed: a hole's losses are a large share of them, and
# still say nothing about ports.
trim_there 5mbit
serve "${HOST[last]}" 5199
check "a short transfer over a port that trims" fetch "${HOST[0]}" -s 120000 "$there" 5199
check "its end" served
exact "which trimmed some of it" [ "$(ndp_stat "${HOST[0]}" NackIn)" -gt 0 ]
tc -n "${LEAF[1]}" qdisc replace dev "h$last" root ndp

# A black hole: routers on the way tell nothing.
ip -n "${LEAF[0]}" link set u0 mtu 1500
ip -n "${SPINE[0]}" link set d0 mtu 1500
tc -n "${HOST[0]}" qdisc add dev eth0 ingress
tc -n "${HOST[0]}" filter add dev eth0 ingress protocol ip u32 match ip protocol 1 0xff action drop
examine $there
check "a smaller MTU: found" text_has mtu "packets of 9000 bytes vanish"
obey "a smaller MTU" mtu "$(mends mtu | sed 's/\.\.\. mtu N/via 10.1.0.1 mtu 1500/')"
examine $there
check "a smaller MTU: mended" text_has mtu "packets of 1500 bytes reach"
examine "${ADDRESS[1]}"
check "a smaller MTU: another host's is what it was" text_has route "with an MTU of 9000"
ip -n "${HOST[0]}" route del $there
tc -n "${HOST[0]}" qdisc del dev eth0 ingress
ip -n "${LEAF[0]}" link set u0 mtu 9000
ip -n "${SPINE[0]}" link set d0 mtu 9000

# From here on counters have seen that hole.
examine
holes=$(bad)
is "the hole is remembered" "$holes" "counters "
again() {
	examine "${@:2}"
	is "$1: mended" "$(bad)" "$holes"
}
and_found() {
	examine "${@:4}"
	is "$1: found, and no more" "$(bad)" "$(echo "$holes$2" | tr ' ' '\n' | sort | tr '\n' ' ')"
	check "$1: in words" text_has "$2" "$3"
}

# Devices and routes of this host.
tc -n "${HOST[0]}" qdisc replace dev eth0 root tbf rate 100mbit burst 100k latency 10ms
and_found "a slower qdisc" qdisc "eth0 has qdisc tbf"
check "a slower qdisc: what is lost with it" text_has qdisc "deletes it and its classes"
obey "a slower qdisc: its pace" qdisc "$(mends qdisc | sed -n '/sysctl/s/=N/=100/p')"
again "a slower qdisc: its pace"
check "a slower qdisc: it is noted" text_has qdisc "note eth0 has qdisc tbf"
in_ns "${HOST[0]}" sysctl -qw net.ndp.pull_rate_mbit=0
examine
obey "a slower qdisc" qdisc "$(mends qdisc | grep -v sysctl)"
again "a slower qdisc"
check "a slower qdisc: it is NDP's now" text_has qdisc "eth0 has qdisc ndp"
tc -n "${HOST[0]}" qdisc replace dev eth0 root fq_codel
examine
check "fq_codel is noted" text_has qdisc "note eth0 has qdisc fq_codel"
# Whoever may name a device does not say what root runs.
# shellcheck disable=SC2016
named='$(touch${IFS}x)'
ip -n "${HOST[0]}" link add "$named" type dummy
ip -n "${HOST[0]}" address add 10.77.0.1/24 dev "$named"
ip -n "${HOST[0]}" link set "$named" up
tc -n "${HOST[0]}" qdisc replace dev "$named" root fq_codel
examine
obey "a device whose name is a command" qdisc
refuse "which was not run" [ -e x ]
check "but the other" grep -q "^qdisc ndp" <(tc -n "${HOST[0]}" qdisc show dev "$named" root)
ip -n "${HOST[0]}" link del "$named"

# A card with two queues, as the kernel sets it up.
qdisc=$(sysctl -n net.core.default_qdisc)
sysctl -qw net.core.default_qdisc=fq_codel
ip -n "${HOST[0]}" link add many0 numtxqueues 2 type ifb
ip -n "${HOST[0]}" address add 10.77.0.1/24 dev many0
ip -n "${HOST[0]}" link set many0 up
sysctl -qw net.core.default_qdisc="$qdisc"
examine
check "a card's queues are noted" text_has qdisc "note many0 has qdisc fq_codel below mq"
obey "a card's queues" qdisc
is "a card's queues: they are NDP's" \
	"$(tc -n "${HOST[0]}" qdisc show dev many0 | grep -c "^qdisc ndp .* parent 1:[12] ")" 2
tc -n "${HOST[0]}" qdisc replace dev many0 parent 1:2 tbf rate 100mbit burst 100k latency 10ms
and_found "a slower queue" qdisc "many0 has qdisc tbf below mq"
obey "a slower queue" qdisc "$(mends qdisc | grep -v sysctl)"
again "a slower queue"
ip -n "${HOST[0]}" link del many0

ip -n "${HOST[0]}" link add slow0 type dummy
ip -n "${HOST[0]}" address add 10.77.0.1/24 dev slow0
ip -n "${HOST[0]}" link set slow0 up
examine
is "a device without a speed, where NDP may not go, is not bad" "$(bad)" "$holes"
check "but noted" text_has pace "note slow0 tells no speed"
obey "a device without a speed" pace "$(mends pace | sed 's/=N/=1000/')"
examine
check "a device without a speed: mended" text_has pace "good pulls go at 1000 Mb/s by all devices"

in_ns "${HOST[0]}" sysctl -qw net.ipv4.fib_multipath_hash_policy=0
ip -n "${HOST[0]}" route add 10.78.0.0/16 nexthop via 10.77.0.2 nexthop via 10.77.0.3
and_found "paths that all take one" ecmp "1 ipv4 routes have several next hops"
obey "paths that all take one" ecmp
again "paths that all take one"
in_ns "${HOST[0]}" sysctl -qw net.ipv4.fib_multipath_hash_policy=2
and_found "paths that take one by what tunnels carry" ecmp "1 ipv4 routes have several next hops"
in_ns "${HOST[0]}" sysctl -qw net.ipv4.fib_multipath_hash_policy=3
examine
check "fields of the operator's choice are noted" text_has ecmp "note 1 ipv4 routes"
in_ns "${HOST[0]}" sysctl -qw net.ipv4.fib_multipath_hash_policy=1
ip -n "${HOST[0]}" link del slow0

# Packets that are trimmed; and another host's that are lost.  Both links are slow, so that
# the first window alone is too much.
trim_there 2mbit
serve "${HOST[last]}" 5200
check "a transfer over a port that trims" fetch "${HOST[0]}" -s 400000 "$there" 5200
check "its end" served
again "a port that trims"
check "a port that trims: it is seen" text_has trimming "ports trim"
examine "$there"
check "the paths of late" text_has paths "of 32 paths are left out"

tc -n "${LEAF[0]}" qdisc replace dev h0 root tbf rate 10mbit burst 20k limit 30k
serve "${HOST[0]}" 5201
check "a transfer over a port that drops" fetch "${HOST[1]}" -s 8000000 "${ADDRESS[0]}" 5201
check "its end" served
healed=${HOST[0]}
HOST[0]=${HOST[1]}
examine
# Where time is real, a host that is starved of its processor may take a slow port for a black hole.
virtual_time || sed -i '/(MtuHole)$/d' "$TMP/lines"
the_only "a port that drops" trimming "some port drops"
HOST[0]=$healed
tc -n "${LEAF[0]}" qdisc del dev h0 root

# Packets cut by hardware that leaves their lengths: cut IP-LENGTH, 3 of them for 100 bytes
cut() {
	in_ns "${LEAF[0]}" python3 -SE -c '
import socket, struct, sys
mac = bytes.fromhex(sys.argv[1].replace(":", ""))
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("h0", 0))
head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, int(sys.argv[4]), 1, 0, 64, 17, 0,
                   socket.inet_aton(sys.argv[2]), socket.inet_aton(sys.argv[3]))
total = sum(struct.unpack("!10H", head))
total = (total & 0xffff) + (total >> 16)
total = ~((total & 0xffff) + (total >> 16)) & 0xffff
head = head[:10] + struct.pack("!H", total) + head[12:]
udp = struct.pack("!HHHH", 50000, int(sys.argv[5]), 1480, 0)
for _ in range(3):
    s.send(mac + mac + b"\x08\x00" + head + udp + bytes(72))
' "$(in_ns "${HOST[0]}" cat /sys/class/net/eth0/address)" "$there" "${ADDRESS[0]}" "$1" $NDP_PORT
}
# noted_counter TEXT: does the doctor say so?
noted_counter() { examine && text_has counters "$1"; }
cut 1500
check "packets cut without new lengths" wait_for 5 noted_counter "3 packets were cut"
refuse "of UDP's length nothing is said yet" text_has counters "UDP packets"
cut 100
check "packets cut without a new length of UDP" wait_for 5 noted_counter "note 3 UDP packets"
obey "packets cut without a new length of UDP" counters \
	"$(mends counters | sed -n '/repair/s/DEVICE/eth0/p' | head -n 1)"
cut 100
repaired() { [ "$(ndp_stat "${HOST[0]}" Repaired)" -eq 3 ]; }
check "they are made good" wait_for 5 repaired
check "and UDP drops no more" noted_counter "note 3 UDP packets"

# A router that clears the code point, and makes up for it in the header's sum.
check "no code point was cleared yet" [ "$(ndp_stat "${HOST[0]}" RemarkedIn)" -eq 0 ]
tc -n "${HOST[0]}" qdisc add dev eth0 ingress
tc -n "${HOST[0]}" filter add dev eth0 ingress protocol ip u32 match ip protocol 17 0xff \
	match ip dport $NDP_PORT 0xffff match ip tos 0x0c 0xfc \
	action pedit ex munge ip tos set 0 retain 0xfc munge offset 4 u16 add 12 ||
	die "no router that clears code points"
serve "${HOST[0]}" 5202
check "a transfer over a router that clears code points" fetch "${HOST[1]}" -s 100000 \
	"${ADDRESS[0]}" 5202
check "its end" served
check "code points that are cleared" noted_counter "bad .*lost their code point"
tc -n "${HOST[0]}" qdisc del dev eth0 ingress

# Packets that come late, as by a machine that stands still, are taken for lost and were not.
wire_pair rate=1gbit mtu=9000
HOST[0]=$H0
flow_serve "$H1"
flow_begin "$H0" 10.0.0.2
check "packets go" wait_for 20 flow_runs 100
for delay in 50ms 0 100ms 0 200ms 0 400ms 0; do
	tc -n "$H1" qdisc replace dev eth0 root netem delay $delay limit 10000
	sleep 1
done
check "packets go again" wait_for 20 flow_runs 500
check "every byte" flow_end
late=$(ndp_stat "$H0" SpuriousTimeouts SpuriousByOrder) sent=$(ndp_stat "$H0" DataOut)
say "of $sent packets $(ndp_stat "$H0" Timeouts LostByOrder) were taken for lost, $late in vain"
exact "packets were sent again in vain" [ $((1000 * late)) -gt "$sent" ]
examine
# On a slow machine some of the timeouts find that a packet was lost.
exact "which is no port that drops" text_has trimming "note nothing was trimmed yet"

# An address that is no device's by which packets leave.
ns_add routed
# shellcheck disable=SC2154
for device in held leaves; do
	ip -n "$routed" link add $device type dummy
	ip -n "$routed" link set $device up
done
ip -n "$routed" address add 10.88.0.1/32 dev held
ip -n "$routed" route add 10.89.0.0/24 dev leaves src 10.88.0.1
HOST[0]=$routed
examine 10.89.0.2
check "the device that packets leave by" text_has route "reached from 10.88.0.1, leaves,"
check "is looked at, and bad on the way to a host" text_has pace "bad leaves tells no speed"

# Something else has the port.
ns_add taken
# shellcheck disable=SC2154
background ip netns exec "$taken" python3 -SE -c '
import socket, time
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("::", '$NDP_PORT'))
print("bound", flush=True)
time.sleep(1000)' >"$TMP/bound"
wait_for 20 grep -q bound "$TMP/bound" || die "no other program"
HOST[0]=$taken
found "something else has UDP port $NDP_PORT" module "something else has UDP port $NDP_PORT"
check "another has to be all peers'" text_has module "has to be all peers'"
obey "something else has UDP port $NDP_PORT" module \
	"$(mends module | grep sysctl | sed 's/=N/=13142/')"
examine
check "something else has UDP port $NDP_PORT: mended" text_has module "UDP port 13142 is its own"

# Only Debian's kernels track connections here.
if ! modprobe -q nf_conntrack || ! command -v nft >/dev/null; then
	for name in "a tracked connection of TCP" "tracked connections" \
		"tracked connections: in words" \
		"tracked connections: what it says can be done" "tracked connections: mended"; do
		skip "$name" "this kernel has no conntrack"
	done
else
	ns_add other
	# shellcheck disable=SC2154
	HOST[0]=$other
	ip -n "$other" link set lo up
	# As firewalls are: what belongs to a connection, and new ones to some ports.
	in_ns "$other" nft -f - <<-END
		table inet filter {
			chain input {
				type filter hook input priority 0; policy drop;
				ct state established,related accept
				tcp dport $NDP_PORT ct state new accept
				udp dport $NDP_PORT ct state new accept
			}
		}
	END
	in_ns "$other" sysctl -qw net.netfilter.nf_conntrack_udp_timeout=5
	in_ns "$other" python3 -SE -c '
import socket
s = socket.create_server(("127.0.0.1", '$NDP_PORT'))
socket.create_connection(s.getsockname())'
	examine
	check "a tracked connection of TCP" text_has conntrack "good no packets to UDP port"
	serve "$other" -n 1000 5000
	examine 127.0.0.1
	is "tracked connections" "$(bad)" "conntrack "
	check "tracked connections: in words" text_has conntrack "one for each path"
	obey "tracked connections" conntrack
	# What is tracked already ends by itself.
	check "tracked connections: mended" wait_for 60 eval 'examine 127.0.0.1; [ $CODE -eq 0 ]'
fi
