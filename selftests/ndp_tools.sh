#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ndp and ndp_cat, and that packets take the paths that are configured.
#
#	H0 eth0 ==== eth0 H1	10.0.0.2, and 10.9.0.2 as an alias of it
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
require_program tcpdump python3
tap_plan 149

# refused NAME CODE PATTERN COMMAND...: says() of a command in H0
refused() { says "$1" "$2" "$3" in_ns "$H0" "${@:4}"; }

show() { in_ns "$H0" ndp path show "$@" | tr '\n' ';'; }

# captured PACKETS BYTES NAME: a transfer of so many bytes, its first packets captured
captured() {
	in_ns "$H1" timeout 60 tcpdump -n -l -i eth0 -c "$1" \
		"udp dst port $NDP_PORT and greater 1000" >"$TMP/capture" 2>"$TMP/tcpdump" &
	capture=$!
	wait_for 20 grep -q listening "$TMP/tcpdump" || die "no capture"
	serve "$H1" 5000
	check "$3" fetch "$H0" -s "$2" 10.0.0.2 5000
	check "$3: its end" served
	wait $capture
}

# Completion in bash: complete_words WORD... (the last one is being typed), in $TMP
complete_words() {
	in_ns "$H0" bash -c '
		source "$0/$2"
		cd "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		"_$1"
		echo "${COMPREPLY[*]}"' \
		"$(cd "$(dirname "$0")/../tools/completion" && pwd)" "$TMP" "$@"
}

wire_pair rate=1gbit mtu=9000

# half_said NAME COMMAND...: a command that fails prints no half JSON to standard output
half_said() { is "$1" "$(in_ns "$H0" ndp -j "${@:2}" 2>/dev/null; echo $?)" 1; }

# Without the module.
loader=$(cat /proc/sys/kernel/modprobe)
unload_transports
rmmod ndp 2>/dev/null
if [ -e /sys/module/ndp ]; then
	skip "completion does not load the module" "it cannot be unloaded"
	skip "no module: no half JSON of sockets" "it cannot be unloaded"
	skip "no module: nor of paths" "it cannot be unloaded"
else
	for words in "path live" "path show" "path del" "repair del" stat doctor; do
		# shellcheck disable=SC2086
		complete_words ndp $words "" >/dev/null
	done
	refuse "completion does not load the module" [ -e /sys/module/ndp ]
	echo /bin/false >/proc/sys/kernel/modprobe
	half_said "no module: no half JSON of sockets" socket
	half_said "no module: nor of paths" path
	echo "$loader" >/proc/sys/kernel/modprobe
fi
require_module ndp

ip -n "$H1" address add 10.9.0.2/32 dev lo
ip -n "$H0" route add 10.9.0.2 via 10.0.0.2

# Paths as the user writes them.
is "no paths at first" "$(show)" ""
check "add entropy" in_ns "$H0" ndp path add 10.0.0.2 entropy 50001
check "add alias" in_ns "$H0" ndp path add 10.0.0.2 via 10.9.0.2 entropy 50002
check "add a prefix" in_ns "$H0" ndp path add 10.2.0.0/16 mark 7
both="10.0.0.2 entropy 50001;10.0.0.2 via 10.9.0.2 entropy 50002;"
is "show" "$(show)" "${both}10.2.0.0/16 entropy random mark 7;"
is "show one" "$(show 10.2.0.0/16)" "10.2.0.0/16 entropy random mark 7;"
is "show as JSON" "$(in_ns "$H0" ndp -j path | python3 -c '
import json, sys
for p in json.load(sys.stdin):
    print(p["dst"], p["prefixlen"], p.get("via"), p["entropy"], p.get("mark"), end=";")')" \
	"10.0.0.2 32 None 50001 None;10.0.0.2 32 10.9.0.2 50002 None;10.2.0.0 16 None 0 7;"
is "the other namespace has none" "$(in_ns "$H1" ndp path)" ""

refused "path exists" 1 "path exists" ndp path add 10.0.0.2 entropy 50001
refused "no such path" 1 "no such path" ndp path del 10.0.0.2 entropy 50003
refused "no such destination" 1 "no configured paths" ndp path del 10.0.0.9
refused "entropy out of range" 1 "entropy must be" ndp path add 10.0.0.2 entropy 80
refused "bits beyond the prefix" 1 "beyond its prefix" ndp path add 10.0.0.2/24
refused "alias not a prefix" 1 "beyond the prefix" ndp path add 10.2.0.0/16 via 10.9.0.2
refused "alias not a host's" 1 "not a host" ndp path add 10.0.0.2 via 224.0.0.1
refused "no address" 2 "not an IP address" ndp path add nowhere
refused "no number" 2 "not a number" ndp path add 10.0.0.2 entropy many
refused "unknown word" 2 "what is" ndp path add 10.0.0.2 over 3
refused "missing value" 2 "needs a value" ndp path add 10.0.0.2 via
refused "without privilege" 1 "not permitted" setpriv --reuid 65534 --clear-groups \
	"$(command -v ndp)" path add 10.0.0.2 entropy 50004
refused "unknown counter" 1 "no counter" ndp stat NoSuchThing
refused "unknown counter beside a known one" 1 "the name Timeout$" ndp stat ActiveOpens Timeout

# Batches.
printf '%s\n' "# two" "" "path add 10.3.0.1 mark 1" "path add 10.3.0.1 mark 2" >"$TMP/batch"
check "batch" in_ns "$H0" ndp -b "$TMP/batch"
is "all of it" "$(show 10.3.0.1)" "10.3.0.1 entropy random mark 1;10.3.0.1 entropy random mark 2;"
refused "what is wrong in a batch" 1 "batch: line 3: not done" ndp -b "$TMP/batch"
refused "no batch" 1 "No such file" ndp -b "$TMP/none"
check "delete what the batch added" in_ns "$H0" ndp path del 10.3.0.1

# Packets take these paths.
captured 200 4000000 "a transfer over both paths"
is "packets went over these paths only" \
	"$(sed -n 's/.* IP 10.0.0.1\.\([0-9]*\) > \([0-9.]*\)\.'$NDP_PORT':.*/\1 \2/p' \
		"$TMP/capture" | sort -u | tr '\n' ';')" "50001 10.0.0.2;50002 10.9.0.2;"
n=$(grep -c '50001 > ' "$TMP/capture")
# What a slow machine retransmits takes the other path, and one may be left out for it.
exact "both as often, within one round" between 99 "$n" 101

check "delete one" in_ns "$H0" ndp path del 10.0.0.2 entropy 50001
is "the other is left" "$(show 10.0.0.2)" "10.0.0.2 via 10.9.0.2 entropy 50002;"
check "delete all of a destination" in_ns "$H0" ndp path del 10.0.0.2
is "none is left" "$(show 10.0.0.2)" ""

# The alias of a prefix keeps the host's bits.
check "add the alias of a prefix" in_ns "$H0" ndp path add 10.0.0.0/24 via 10.9.0.0
is "show it" "$(show 10.0.0.0/24)" "10.0.0.0/24 via 10.9.0.0 entropy random;"
captured 20 400000 "a transfer to the alias"
is "packets went to the alias" \
	"$(sed -n 's/.* > \([0-9.]*\)\.'$NDP_PORT':.*/\1/p' "$TMP/capture" | sort -u)" 10.9.0.2
check "delete the prefix" in_ns "$H0" ndp path del 10.0.0.0/24

# Together with the destination from above, as many as there may be.
{
	for ((i = 0; i < 4091; i++)); do
		echo "path add 10.$((50 + i / 256)).$((i % 256)).1 entropy 50100"
	done
	for len in 8 16 24; do
		echo "path add 10.0.0.0/$len entropy $((50000 + len))"
	done
	echo "path add 10.0.0.2 entropy 50032"
} >"$TMP/batch"
check "4096 destinations" in_ns "$H0" ndp -b "$TMP/batch"
is "show them" "$(in_ns "$H0" ndp path show | wc -l)" 4096
refused "one more" 1 "4096 destinations already" ndp path add 10.99.0.1 entropy 50100
for len in 32 24 16 8; do
	((len == 32)) && prefix=10.0.0.2/32 || prefix=10.0.0.0/$len
	captured 20 400000 "a transfer by $prefix"
	is "the longest prefix, $prefix" \
		"$(sed -n 's/.* IP 10.0.0.1\.\([0-9]*\) > .*\.'$NDP_PORT':.*/\1/p' \
			"$TMP/capture" | sort -un)" $((50000 + len))
	check "delete $prefix" in_ns "$H0" ndp path del $prefix
done
sed -n '1,4091s/add/del/p' "$TMP/batch" >"$TMP/undo"
check "delete all others" in_ns "$H0" ndp -b "$TMP/undo"
is "none of them is left" "$(show)" "10.2.0.0/16 entropy random mark 7;"

# Devices that repair lengths, one of them with a name that JSON has to escape.
name='a"b[,{\'
ip -n "$H0" link add "$name" type dummy
check "add a device" in_ns "$H0" ndp repair add "$name"
is "show it" "$(in_ns "$H0" ndp repair show)" "$name"
names() { python3 -SE -c 'import json, sys; print(*json.load(sys.stdin))'; }
is "show it as JSON" "$(in_ns "$H0" ndp -j repair | names)" "$name"
is "and for people" "$(in_ns "$H0" ndp -j -p repair | names)" "$name"
check "delete it" in_ns "$H0" ndp repair del "$name"
ip -n "$H0" link del "$name"

# Counters.
is "stat by name" "$(in_ns "$H0" ndp stat -z GivenUp | tr -s ' ')" "GivenUp 0"
is "stat as JSON" "$(in_ns "$H0" ndp -j stat ActiveOpens)" '{"ActiveOpens":6}'
is "stat shows all of /proc/net/ndp_stat" "$(in_ns "$H0" ndp -z stat | wc -l)" \
	"$(in_ns "$H0" sh -c 'wc -l </proc/net/ndp_stat')"

# Completion in bash.
is "complete a command" "$(complete_words ndp re)" "repair"
is "complete all commands" "$(complete_words ndp "")" \
	"path peer repair dev port socket stat monitor doctor help"
is "complete behind an option" "$(complete_words ndp -j path l)" "live"
is "complete an option" "$(complete_words ndp path --j)" "--json"
is "complete a destination" "$(complete_words ndp path del 10)" "10.2.0.0/16"
is "complete what a path has" "$(complete_words ndp path add 10.0.0.2 e)" "entropy"
is "complete its value" "$(complete_words ndp path add 10.0.0.2 entropy "")" "random"
is "complete a device" "$(complete_words ndp repair add et)" "eth0"
is "complete a device that pulls" "$(complete_words ndp dev et)" "eth0"
is "complete a port" "$(complete_words ndp port et)" "eth0"
is "complete a peer" "$(complete_words ndp peer 10)" "10.0.0.2"
is "complete an event" "$(complete_words ndp monitor open pa)" "path"
is "complete behind an option's value" "$(complete_words ndp -w 1 -c 3 stat ActiveO)" "ActiveOpens"
is "complete no value" "$(complete_words ndp stat -w "")" ""
is "complete counters" "$(complete_words ndp stat Timeouts ActiveO)" "ActiveOpens"
# A name that a shell would run, were it expanded; it has to be quoted.
ip -n "$H0" link add '$(touch${IFS}x)' type dummy
is "complete a device whose name is a command" "$(complete_words ndp repair add '\$')" \
	'\$\(touch\$\{IFS\}x\)'
refuse "which is not run" [ -e "$TMP/x" ]
ip -n "$H0" link del '$(touch${IFS}x)'

is "complete ndp_run: an option" "$(complete_words ndp_run -v --fa)" "--fallback"
is "complete ndp_run: a transport" "$(complete_words ndp_run -t mp)" "mprdma"
is "complete ndp_run: a transport behind =" "$(complete_words ndp_run --transport = mp)" "mprdma"
is "complete ndp_run: a program" "$(complete_words ndp_run -e 22 --fallback = 50 sha256su |
	tr ' ' '\n' | sort -u)" "sha256sum"
echo >"$TMP/file-of-settings"
is "complete ndp_run: a file of settings" "$(complete_words ndp_run -c file-of)" "file-of-settings"
is "complete ndp_run: what the program takes" "$(complete_words ndp_run -v cat --x file-of)" \
	"file-of-settings"

# ndp_cat: a file in each direction over one connection.
head -c 3000000 /dev/urandom >"$TMP/there"
head -c 1000000 /dev/urandom >"$TMP/back"
# A first window that arrives before its listener may be refused by its first packet and
# accepted by its last, so clients wait for the listener.  The output of the listener before
# it is erased first.
listens() { wait_for 20 grep -q "listening on port" "$TMP/err" || die "no listener"; }
for proto in ndp tcp; do
	: >"$TMP/err"
	in_ns "$H1" ndp_cat -v -p $proto -l 5001 <"$TMP/back" >"$TMP/got.there" 2>"$TMP/err" &
	server=$!
	listens
	in_ns "$H0" ndp_cat -p $proto -j 10.0.0.2 5001 <"$TMP/there" >"$TMP/got.back" 2>"$TMP/json"
	is "ndp_cat $proto: exit code" $? 0
	check "ndp_cat $proto: the listener's end" wait $server
	check "ndp_cat $proto: there" cmp "$TMP/there" "$TMP/got.there"
	check "ndp_cat $proto: back" cmp "$TMP/back" "$TMP/got.back"
	is "ndp_cat $proto: its line" "$(python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
print(r["proto"], r["role"], r["peer"], r["sent"], r["received"], r["seconds"] > 0)' \
		"$TMP/json")" "$proto initiator 10.0.0.2 3000000 1000000 True"
done
# A listener that accepts connections without end goes on after one that was reset.
cat >"$TMP/reset.py" <<'END'
import ctypes, os, socket, struct, sys, time
family, address, port, signal = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
to = struct.pack("=H", socket.AF_INET) + struct.pack("!H", port)
to += socket.inet_aton(address) + bytes(8)
s = socket.socket(family, socket.SOCK_STREAM)
if ctypes.CDLL(None, use_errno=True).connect(s.fileno(), to, len(to)):
    raise OSError(ctypes.get_errno(), "connect")
s.send(b"reset me")
while not os.path.exists(signal):
    time.sleep(0.02)
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
END
{ printf 'reset me'; cat "$TMP/there"; } >"$TMP/both"
for proto in ndp tcp; do
	rm -f "$TMP/go"
	: >"$TMP/err"
	background ip netns exec "$H1" ndp_cat -v -p $proto -l -k 0 5002 \
		</dev/null >"$TMP/got" 2>"$TMP/err"
	server=$PID
	listens
	[ $proto = tcp ] && family=2 || family=22
	in_ns "$H0" python3 -SE "$TMP/reset.py" $family 10.0.0.2 5002 "$TMP/go" &
	client=$!
	wait_for 20 test -s "$TMP/got" || die "ndp_cat $proto: nothing came"
	touch "$TMP/go"
	check "ndp_cat $proto: a client resets its connection" wait $client
	check "ndp_cat $proto: the listener says so" wait_for 20 grep -q "reset by peer" "$TMP/err"
	check "ndp_cat $proto: the next client" \
		in_ns "$H0" ndp_cat -p $proto -f "$TMP/there" 10.0.0.2 5002
	check "ndp_cat $proto: what it sent has come" wait_for 20 cmp "$TMP/both" "$TMP/got"
	check "ndp_cat $proto: the listener is still there" kill $server
done

# A descriptor that the shell has closed is not the connection's.
in_ns "$H1" ndp_cat -v -l 5004 <"$TMP/back" >"$TMP/got.there" 2>"$TMP/err" &
server=$!
listens
in_ns "$H0" ndp_cat 10.0.0.2 5004 <&- >"$TMP/got.back"
is "ndp_cat without standard input" "$?" 0
check "ndp_cat without standard input: receives all" cmp "$TMP/back" "$TMP/got.back"
wait $server
is "ndp_cat without standard input: sends nothing" "$(stat -c %s "$TMP/got.there")" 0
in_ns "$H1" ndp_cat -v -l 5004 <"$TMP/back" >"$TMP/got.there" 2>"$TMP/err" &
server=$!
listens
in_ns "$H0" ndp_cat 10.0.0.2 5004 </dev/null >&- 2>"$TMP/out"
is "ndp_cat without standard output: fails" "$? $(grep -c "Bad file descriptor" "$TMP/out")" "1 1"
wait $server
refused "ndp_cat: nobody listens" 1 "Connection refused" ndp_cat 10.0.0.2 5009
refused "ndp_cat: no such file" 1 "No such file" ndp_cat -f "$TMP/none" 10.0.0.2 5009
# Without the option the peer has longer than a minute to answer.
ip -n "$H0" neighbour add 10.0.0.77 lladdr 02:00:00:00:00:77 dev eth0 nud permanent
refused "ndp_cat: a silent peer" 1 "timed out" \
	timeout 60 ndp_cat -w 1 -f "$TMP/there" 10.0.0.77 5009
refused "ndp_cat: no time" 2 "not between" ndp_cat -w 0 10.0.0.2 5009
refused "ndp_cat: no such protocol" 2 "is not one of" ndp_cat -p sctp 10.0.0.2 5009
refused "ndp_cat: no arguments" 2 "Usage" ndp_cat
