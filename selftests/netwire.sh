#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netwire alone: what is shown, what is refused, what crosses the wire, and what happens
# when it is deleted.
#
#	   NEAR                     FAR
#	+--------+                +--------+
#	|     h0 |================| s0     |
#	+--------+     netwire    +--------+
#	 10.0.0.1                  10.0.0.2
#
# Frames are numbered and filled from their number, so that each of their bytes is known;
# all frames are accounted for by the counters of both ends.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

tap_plan 93
require_program ip ethtool python3 sha256sum
require_module netwire

cat >"$TMP/frames.py" <<'EOF'
import hashlib, signal, socket, struct, sys, time

TYPE = 0x88b5			# for experiments

def payload(seq, size):
    d = hashlib.sha256(b'%d' % seq).digest()
    return struct.pack('!I', seq) + (d * (size // 32 + 1))[:size - 18]

def packet_socket(dev, proto):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(proto))
    s.bind((dev, proto))
    return s

# send DEV FIRST COUNT SIZE: broadcast frames, SIZE without FCS
def send(dev, first, count, size):
    s = packet_socket(dev, 0)
    head = b'\xff' * 6 + s.getsockname()[4] + struct.pack('!H', TYPE)
    for seq in range(int(first), int(first) + int(count)):
        s.send(head + payload(seq, int(size)))

# receive DEV RESULT: until terminated; then writes the numbers of frames and of wrong ones,
# and whether they arrived in order
def receive(dev, result):
    s = packet_socket(dev, TYPE)
    s.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)	# SO_RCVBUFFORCE
    s.settimeout(0.2)
    going = [True]
    signal.signal(signal.SIGTERM, lambda *_: going.clear())
    open(result + '.ready', 'w').close()
    n = bad = 0
    seqs = []
    while True:
        try:
            f = s.recv(1 << 16)
        except TimeoutError:
            if not going:
                break
            continue
        n += 1
        seq = struct.unpack('!I', f[14:18])[0]
        if f[14:] != payload(seq, len(f)):
            bad += 1
        else:
            seqs.append(seq)
    order = all(a < b for a, b in zip(seqs, seqs[1:]))
    with open(result, 'w') as f:
        print('frames=%d bad=%d ordered=%d' % (n, bad, order), file=f)

# tcpserver FILE: write one connection to the file.  tcpclient ADDRESS FILE: send it
def tcpserver(name):
    l = socket.create_server(('', 5000))
    open(name + '.ready', 'w').close()
    c = l.accept()[0]
    with open(name, 'wb') as f:
        while b := c.recv(1 << 18):
            f.write(b)
    open(name + '.done', 'w').close()

def tcpclient(address, name):
    with socket.create_connection((address, 5000)) as c, open(name, 'rb') as f:
        c.sendfile(f)

# udp ADDRESS COUNT SIZE: datagrams filled from their number
def udp(address, count, size):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for seq in range(int(count)):
        s.sendto(payload(seq, int(size) + 14), (address, 5001))

# udpreceive RESULT: as receive, for datagrams
def udpreceive(result):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)
    s.bind(('', 5001))
    s.settimeout(0.2)
    going = [True]
    signal.signal(signal.SIGTERM, lambda *_: going.clear())
    open(result + '.ready', 'w').close()
    n = bad = 0
    while True:
        try:
            d = s.recv(1 << 16)
        except TimeoutError:
            if not going:
                break
            continue
        n += 1
        bad += d != payload(struct.unpack('!I', d[:4])[0], len(d) + 14)
    with open(result, 'w') as f:
        print('frames=%d bad=%d' % (n, bad), file=f)

# outq ADDRESS DELAY: send a datagram; its memory must be freed while it is in flight
def outq(address, delay):
    import array, fcntl, termios
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    arrival = time.monotonic() + int(delay)
    s.sendto(b'x' * 1000, (address, 5001))
    while time.monotonic() < arrival:
        a = array.array('i', [0])
        fcntl.ioctl(s, termios.TIOCOUTQ, a)
        if not a[0]:
            return
        time.sleep(0.01)
    sys.exit('still %d bytes' % a[0])

# flood DEV: send until the device is deleted; with pauses, for without a carrier each send
# succeeds at once, and in virtual time that would never end
def flood(dev):
    s = packet_socket(dev, 0)
    f = b'\xff' * 6 + s.getsockname()[4] + struct.pack('!H', TYPE) + bytes(1000)
    while True:
        try:
            for i in range(16):
                s.send(f)
        except OSError as e:
            if e.errno in (6, 19):		# ENXIO, ENODEV
                break
        time.sleep(0.001)

globals()[sys.argv[1]](*sys.argv[2:])
EOF

FRAMES=(python3 -SE "$TMP/frames.py")
frames() { in_ns "$NEAR" "${FRAMES[@]}" "$@"; }
near() { in_ns "$NEAR" "$@"; }
far() { in_ns "$FAR" "$@"; }
ip_near() { ip -n "$NEAR" "$@"; }
ip_far() { ip -n "$FAR" "$@"; }
set_wire() { ip_near link set h0 type netwire "$@"; }

# stat NS DEV NAME...: the sum of these counters of ethtool -S
stat() {
	in_ns "$1" ethtool -S "$2" | awk -v names=" ${*:3} " -v wanted=$(($# - 2)) '
		index(names, " " substr($1, 1, length($1) - 1) " ") { sum += $2; found++ }
		END { if (found == wanted) print sum }'
}
# shown NS DEV: a cable's parameters as ip prints them
shown() { ip -n "$1" -d link show "$2" | sed -nE 's/.*netwire (.*ber-mode [a-z]+).*/\1/p'; }
speed() { in_ns "$1" ethtool "$2" | sed -n 's/.*Speed: //p'; }
exists() { ip -n "$1" link show "$2" >/dev/null 2>&1; }
gone() { ! exists "$@"; }
carrier() { ip -n "$1" link show "$2" | grep -q LOWER_UP; }
no_carrier() { ! carrier "$@"; }

# refused NAME TEXT COMMAND...: fails, and its message has the text
refused() {
	local name=$1 text=$2

	shift 2
	if "$@" >"$TMP/out" 2>&1; then
		fail "$name" "accepted: $*"
	elif ! grep -qF -- "$text" "$TMP/out"; then
		fail "$name" "no '$text' in: $(cat "$TMP/out")"
	else
		ok "$name"
	fi
}

# cable [OPTIONS]: a new one between the namespaces instead of the old one, up
cable() {
	! exists "$NEAR" h0 || ip_near link del h0
	ip_near link add h0 type netwire "$@" peer name s0 netns "$FAR" || die "no cable: $*"
	up
}

up() {
	ip_near link set h0 mtu "${MTU-1500}" up
	ip_far link set s0 mtu "${MTU-1500}" up
	ip_near address replace 10.0.0.1/24 dev h0
	ip_far address replace 10.0.0.2/24 dev s0
	# the default qdisc would drop on purpose
	tc -n "$NEAR" qdisc replace dev h0 root pfifo limit 1000
	tc -n "$FAR" qdisc replace dev s0 root pfifo limit 1000
	wait_for 10 carrier "$NEAR" h0 || die "no carrier"
	wait_for 10 carrier "$FAR" s0 || die "no carrier"
}

same_bytes() {
	[ "$(stat "$FAR" s0 rx_bytes)" -eq "$(stat "$NEAR" h0 tx_bytes)" ]
}

# settled N: all of N frames from h0 are accounted for at s0, or found no memory at h0
settled() {
	sent "$1" && [ $(($(stat "$NEAR" h0 tx_nomem) +
		$(stat "$FAR" s0 rx_frames rx_ber_lost rx_oversize rx_nomem))) -eq "$1" ]
}

all_settled() { settled "$(stat "$NEAR" h0 tx_frames)"; }
sent() { [ "$(stat "$NEAR" h0 tx_frames)" -eq "$1" ]; }

# start_receiver COMMAND...: at the far end; stop_receiver puts its result into $GOT
start_receiver() {
	rm -f "$TMP"/got*
	# not through a function: $PID must be the receiver itself
	background ip netns exec "$FAR" "${FRAMES[@]}" "$@" "$TMP/got"
	RECEIVER=$PID
	wait_for 30 test -e "$TMP/got.ready" || die "receiver does not start"
}

stop_receiver() {
	kill "$RECEIVER"
	wait "$RECEIVER"
	GOT=$(cat "$TMP/got")
	say "received: $GOT"
}

field() { sed -nE "s/.*\b$1=([0-9]+).*/\1/p" <<<"$GOT"; }

# between NAME LOW VALUE HIGH
between() {
	say "$1: $3 in [$2, $4]"
	if [ "$3" -ge "$2" ] && [ "$3" -le "$4" ]; then
		ok "$1"
	else
		fail "$1" "$3 is not in [$2, $4]"
	fi
}

test_parameters() {
	local ber="ber 1e-09 ber-mode corrupt"

	modprobe -r netwire
	check "the module loads by kind" ip_near link add h0 type netwire peer name s0
	is "defaults" "$(shown "$NEAR" h0)" "rate 10Gbit delay 1us ber 0 ber-mode drop"
	check "change from the near end" set_wire rate 1.5gbit delay 5us
	check "change from the far end" ip_near link set s0 type netwire ber 1e-9 ber-mode corrupt
	is "the near end shows both" "$(shown "$NEAR" h0)" "rate 1.5Gbit delay 5us $ber"
	is "the far end shows both" "$(shown "$NEAR" s0)" "rate 1.5Gbit delay 5us $ber"
	set_wire rate 12345678901bit delay 1234567ns
	is "odd values are exact" "$(shown "$NEAR" h0)" \
		"rate 12345678.901Kbit delay 1234.567us $ber"
	set_wire rate 125MBps delay 0.25ms
	is "other units" "$(shown "$NEAR" h0)" "rate 1Gbit delay 250us $ber"
	is "JSON" "$(ip_near -d -j link show h0 | python3 -c '
import json, sys
d = json.load(sys.stdin)[0]["linkinfo"]
d = d["info_data"] if d["info_kind"] == "netwire" else {}
print(d["rate"], d["delay"], d["ber"], d["ber_mode"])')" "1000000000 250000 1e-09 corrupt"
	check "ip link help netwire" sh -c 'ip link help netwire | grep -q ber-mode'

	refused "rate 0" "rate must be" set_wire rate 0bit
	refused "rate 11 Tbit/s" "rate must be" set_wire rate 11tbit
	refused "delay 11 s" "delay must be" set_wire delay 11s
	refused "BER 0.01" "bit error rate must be" set_wire ber 0.01
	refused "too much in flight" "in flight" set_wire rate 10tbit delay 10s
	refused "rate without unit" "not a rate" set_wire rate 10
	refused "negative delay" "not a delay" set_wire delay -1us
	refused "finer than a ns" "not a delay" set_wire delay 0.1ns
	refused "BER that is no number" "not a bit error rate" set_wire ber nan
	refused "unknown ber-mode" "not a ber-mode" set_wire ber-mode lose
	refused "unknown option" "unknown option" set_wire speed 1gbit
	refused "other ends" "cannot be changed" set_wire peer name s1
	refused "one end" "peer is missing" ip_near link add h1 type netwire rate 1gbit
	refused "two queues" "one queue" ip_near link add h1 numtxqueues 2 type netwire peer name s1
	refused "MTU 9217 at birth" "mtu greater" \
		ip_near link add h1 mtu 9217 type netwire peer name s1
	refused "peer's MTU 9217" "mtu greater" \
		ip_near link add h1 type netwire peer name s1 mtu 9217
	refused "peer's name in use" "" ip_near link add h1 type netwire peer name h0
	refused "one name for both" "" ip_near link add h1 type netwire peer name h1
	check "nothing is left of those" gone "$NEAR" h1
	is "and nothing was changed" "$(shown "$NEAR" h0)" "rate 1Gbit delay 250us $ber"
	refused "MTU 9217" "mtu greater" ip_near link set h0 mtu 9217
	ip_near link del s0
	check "deleting one end deletes both" gone "$NEAR" h0
}

# Has the monitor begun?  Every device reports a change of its alias.
hears() {
	ip_far link set s0 alias "$RANDOM"
	grep -q s0 "$TMP/monitor"
}

test_link() {
	ip_near link add h0 type netwire rate 1gbit peer name s0 netns "$FAR"
	ip_near link set h0 up
	check "no carrier while one end is down" no_carrier "$NEAR" h0
	ip_far link set s0 up
	check "carrier at the near end" wait_for 10 carrier "$NEAR" h0
	check "carrier at the far end" wait_for 10 carrier "$FAR" s0
	is "operstate" "$(near cat /sys/class/net/h0/operstate)" up

	is "speed" "$(speed "$FAR" s0)" 1000Mb/s
	background ip netns exec "$FAR" ip -o -d monitor link dev s0 >"$TMP/monitor"
	wait_for 20 hears || die "no monitor"
	set_wire rate 2.6mbit
	check "the far end is told of a change" wait_for 10 grep -q "rate 2.6Mbit" "$TMP/monitor"
	kill "$PID"
	is "speed is rounded" "$(speed "$NEAR" h0)" 3Mb/s
	set_wire rate 1kbit
	is "but not to 0" "$(speed "$FAR" s0)" 1Mb/s
	is "driver" "$(near ethtool -i h0 | awk '/^driver/ { print $2 }')" netwire

	ip_far link set s0 down
	check "carrier goes with the far end" wait_for 10 no_carrier "$NEAR" h0
}

# tcp NAME: a file through a TCP connection
tcp() {
	local f=$TMP/file

	head -c $((2 << 20)) /dev/urandom >"$f"
	rm -f "$TMP"/copy*
	background ip netns exec "$FAR" "${FRAMES[@]}" tcpserver "$TMP/copy"
	wait_for 30 test -e "$TMP/copy.ready"
	frames tcpclient 10.0.0.2 "$f"
	wait_for 120 test -e "$TMP/copy.done"
	is "$1" "$(sha256sum <"$TMP/copy")" "$(sha256sum <"$f")"
}

gro() { in_ns "$1" ethtool -k "$2" | sed -n 's/^generic-receive-offload: //p'; }

test_delivery() {
	MTU=1500 cable rate 1gbit
	is "GRO at the near end" "$(gro "$NEAR" h0)" off
	is "GRO at the far end" "$(gro "$FAR" s0)" off
	tcp "TCP delivers the bytes"
	check "all frames arrive" wait_for 10 all_settled
	# Between two readings a late ARP may be counted, but not between two equal ones.
	check "with all their bytes" wait_for 10 same_bytes
	is "none longer than the MTU" "$(stat "$FAR" s0 rx_oversize)" 0

	# Hardly a bit of the first frame leaves while the others are queued.
	MTU=1500 cable rate 1kbit
	frames send h0 0 100 30
	between "ring stops" 1 "$(stat "$NEAR" h0 tx_ring_stops)" 100

	MTU=9216 cable rate 1gbit
	start_receiver receive s0
	frames send h0 0 200 9230
	check "MTU 9216 passes" wait_for 20 settled 200
	stop_receiver
	is "whole and in order" "$GOT" "frames=200 bad=0 ordered=1"
	ip_far link set s0 mtu 1500
	frames send h0 0 5 9230
	check "beyond the receiver's MTU" wait_for 10 settled 205
	is "counted there" "$(stat "$FAR" s0 rx_oversize)" 5
}

# At 8 Mbit/s a byte takes a microsecond, so times are whole; at 7 they are not.
test_serialisation() {
	local t

	MTU=1500 cable rate 8mbit delay 1ms
	t=$(date +%s%N)
	frames send h0 0 100 1514
	wait_for 20 settled 100
	t=$(($(date +%s%N) - t))
	is "100 frames of 1514 bytes occupy the wire" \
		"$(stat "$NEAR" h0 tx_busy_ns)" $((100 * 1538000))
	check "and take no less than that" test $t -ge $((100 * 1538000 + 1000000))
	frames send h0 0 100 30
	wait_for 20 settled 200
	is "short ones count as 60 bytes" \
		"$(stat "$NEAR" h0 tx_busy_ns)" $((100 * 1538000 + 100 * 84000))
	MTU=1500 cable rate 7mbit
	frames send h0 0 100 1514
	wait_for 20 settled 100
	t=$((100 * 1538 * 8000 / 7))
	between "fractions of ns" $((t - 100)) "$(stat "$NEAR" h0 tx_busy_ns)" $((t + 1))
}

# 4000 frames of 12144 bits at 1e-5: 11.4 % bad, 457 +- 20.  Eight sigma.
test_bit_errors() {
	local lost before

	MTU=1500 cable rate 1gbit ber 1e-5
	start_receiver receive s0
	frames send h0 0 4000 1514
	check "drop: sent = received + lost" wait_for 60 settled 4000
	stop_receiver
	lost=$(stat "$FAR" s0 rx_ber_lost)
	is "drop: what arrives is right" "$GOT" "frames=$((4000 - lost)) bad=0 ordered=1"
	between "drop: as many as there should be" 297 "$lost" 617
	is "drop: rx_crc_errors" "$(far cat /sys/class/net/s0/statistics/rx_crc_errors)" "$lost"

	MTU=1500 cable rate 1gbit ber 1e-5 ber-mode corrupt
	start_receiver receive s0
	frames send h0 0 4000 1514
	check "corrupt: all arrive" wait_for 60 settled 4000
	stop_receiver
	is "corrupt: those that differ are counted" "$(field frames) $(field bad)" \
		"4000 $(stat "$FAR" s0 rx_ber_corrupted)"
	between "corrupt: as many as there should be" 297 "$(field bad)" 617

	# the sender leaves checksums to the device; a flip must still be seen
	start_receiver udpreceive
	# only so many packets wait for an address to be resolved
	ip_near neighbour replace 10.0.0.2 lladdr "$(far cat /sys/class/net/s0/address)" \
		dev h0 nud permanent
	before=$(stat "$NEAR" h0 tx_frames)
	frames udp 10.0.0.2 500 1400
	wait_for 60 settled $((before + 500))
	stop_receiver
	# Except for two flips in one column of a 16-bit sum, one up, one down: of
	# these 500 frames 0.1 on average.
	between "corrupt: UDP's checksum catches it" 0 "$(field bad)" 3
	between "corrupt: and those are missing" 300 "$(field frames)" 499
}

# Retransmissions show whether the sender's copy was left alone.
test_retransmission() {
	local g

	for g in off on; do
		MTU=1500 cable rate 1gbit ber 2e-6
		near ethtool -K h0 gro $g
		far ethtool -K s0 gro $g
		tcp "TCP over a lossy wire, GRO $g"
		check "GRO $g: frames were lost" test "$(stat "$FAR" s0 rx_ber_lost)" -gt 0
	done
	# Some ten flips, so few and in so short frames that no checksum is fooled:
	# that takes two flips in one column of one frame, here once in 4000 runs.
	MTU=576 cable rate 1gbit ber 6e-7 ber-mode corrupt
	far ethtool -K s0 gro on
	tcp "TCP over a corrupting wire"
	check "frames were corrupted" test "$(stat "$FAR" s0 rx_ber_corrupted)" -gt 0
	# the far end gets complete checksums, even if the near end left them to the device
	MTU=1500 cable rate 1gbit
	far ethtool -K s0 rx off
	near ethtool -K h0 rx off
	tcp "TCP with receive checksums checked"
}

ten_left() { [ "$(stat "$NEAR" h0 tx_frames)" -eq 10 ]; }

test_flight() {
	cable rate 1gbit delay 500ms
	start_receiver receive s0
	frames send h0 0 20 500
	set_wire delay 0s
	frames send h0 20 20 500
	wait_for 10 settled 40
	stop_receiver
	is "a shorter delay lets no frame overtake" "$GOT" "frames=40 bad=0 ordered=1"

	cable rate 100mbit delay 8s
	ip_near neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:01 dev h0
	check "the sender has its memory back while the frame flies" frames outq 10.0.0.2 8
	frames send h0 0 9 500
	wait_for 20 sent 10
	ip_far link set s0 down
	is "a link that goes down loses the flight" "$(arrived_or_lost)" 10
}

# The sum of what became of all frames that left h0 for s0
arrived_or_lost() {
	echo $(($(stat "$FAR" s0 rx_frames) + $(stat "$NEAR" h0 tx_lost_in_flight tx_nomem)))
}

# The shortest frames: 300 of them are 25 kB on the wire, and no less than 170 kB of
# memory, be it of the smallest kind that a kernel has.
test_memory() {
	local max=/sys/module/netwire/parameters/flight_max default total n m

	default=$(cat $max)
	total=$(awk '/^MemTotal/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
	between "a quarter of the memory may be in flight" $((total / 5)) "$default" $((total / 3))
	cable rate 100mbit delay 10s
	echo 100000 >$max
	refused "rate times delay beyond that memory" "in flight" set_wire delay 9s
	start_receiver receive s0
	frames send h0 0 300 60
	check "what finds no memory is lost" wait_for 60 settled 300
	stop_receiver
	n=$(stat "$NEAR" h0 tx_nomem)
	is "what finds memory arrives" "$GOT" "frames=$((300 - n)) bad=0 ordered=1"
	between "no more of it than the memory allows" 20 $((300 - n)) $((100000 / 576))
	is "tx_dropped" "$(near cat /sys/class/net/h0/statistics/tx_dropped)" "$n"

	frames send h0 300 300 60
	wait_for 20 sent 600
	m=$(stat "$NEAR" h0 tx_nomem)
	check "memory is given back on arrival" test $((m - n)) -lt 280
	ip_far link set s0 down
	ip_far link set s0 up
	wait_for 10 carrier "$NEAR" h0
	is "what was in flight is lost with the link" "$(arrived_or_lost)" 600
	frames send h0 600 20 60
	wait_for 20 sent 620
	is "and its memory is given back" "$(stat "$NEAR" h0 tx_nomem)" "$m"
	echo "$default" >$max
}

test_moves() {
	cable rate 1gbit
	ns_add THIRD
	ip_far link set s0 netns "$THIRD"
	ip -n "$THIRD" link set s0 up
	ip -n "$THIRD" address add 10.0.0.2/24 dev s0
	wait_for 10 carrier "$THIRD" s0
	check "a moved end works" near ping -c 3 -i 0.2 -W 5 10.0.0.2
	ip netns del "$THIRD"
	check "the end of its namespace deletes both" wait_for 20 gone "$NEAR" h0
}

# flooding: both ends send more than 100 Mb/s can carry
flooding() {
	background ip netns exec "$NEAR" "${FRAMES[@]}" flood h0 2>/dev/null
	FLOODS=("$PID")
	background ip netns exec "$FAR" "${FRAMES[@]}" flood s0 2>/dev/null
	FLOODS+=("$PID")
	wait_for 20 busy
}

busy() { [ "$(stat "$NEAR" h0 rx_frames)" -gt 20 ] && [ "$(stat "$FAR" s0 rx_frames)" -gt 20 ]; }

quiet() {
	kill "${FLOODS[@]}" 2>/dev/null
	wait "${FLOODS[@]}" 2>/dev/null
}

test_death() {
	local i left=

	cable rate 100mbit delay 20ms
	flooding
	for ((i = 0; i < 20; i++)); do
		set_wire rate $((RANDOM % 1000 + 1))mbit delay $((RANDOM % 30000))us
		ip_far link set s0 down
		ip_far link set s0 up
	done
	wait_for 10 carrier "$FAR" s0
	i=$(stat "$FAR" s0 rx_frames)
	check "20 changes, downs and ups under traffic" wait_for 20 more_than "$i"
	quiet

	for i in near far near far; do
		cable rate 100mbit delay 20ms
		flooding
		if [ $i = near ]; then ip_near link del h0; else ip_far link del s0; fi
		! exists "$NEAR" h0 || left+="h0 "
		! exists "$FAR" s0 || left+="s0 "
		quiet
	done
	is "either end deleted under traffic, twice" "$left" ""

	for i in 1 2; do
		ns_add LOST
		# shellcheck disable=SC2153
		FAR=$LOST cable rate 100mbit delay 20ms
		FAR=$LOST flooding
		ip netns del "$LOST"
		quiet
		wait_for 20 gone "$NEAR" h0 || left+="h0 "
	done
	is "a namespace ends under traffic, twice" "$left" ""
}

more_than() { [ "$(stat "$FAR" s0 rx_frames)" -gt "$1" ]; }

test_unload() {
	cable rate 100mbit delay 20ms
	flooding
	check "the module leaves under traffic" modprobe -r netwire
	quiet
	check "and takes its devices along" gone "$NEAR" h0
	check "and comes back" modprobe netwire
}

ns_add NEAR FAR
for ns in "$NEAR" "$FAR"; do
	in_ns "$ns" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
		echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
done
say "seed $SEED"

test_parameters
test_link
test_delivery
test_serialisation
test_bit_errors
test_retransmission
test_flight
test_memory
test_moves
test_death
test_unload
