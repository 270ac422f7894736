#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Receiver priority (NDP paper, sections 2.3 and 5.1): of two flows to one host the
# preferred one is pulled first, the other gets the rest, or the share set by
# net.ndp.pull_low_share.  Then the priorities of lossless ports.
#
#	HOST[1], HOST[2] ---- LEAF[0] ---- HOST[0]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_cee
require_program python3
tap_plan 15

# Bytes that flow 2 received while flow 1 lasted, in percent of those of flow 1.
beside() {
	timeout 100 ndp_bench -H "$TMP/hosts" -f "$TMP/flows" -t 20000 --series 1000 "$@" \
		>"$TMP/json" || return
	json "$TMP/json" 'round(100 * sum(flows[2]["series"][:int(flows[1]["finish_us"] / 1000)]) /
				sum(flows[1]["series"]))'
}

# is_between NAME GOT LOW HIGH: in percent.  On a machine that is busy with other things
# one of the two flows may have nothing to send when it should.
is_between() {
	say "$1: $2 %"
	exact "$1" between "$3" "$2" "$4"
}

leaf_spine hosts=3 leaves=1 spines=1 rate=1gbit delay=10us mtu=9000
for h in 0 1 2; do
	echo "${HOST[h]} ${ADDRESS[h]}"
done >"$TMP/hosts"
cat >"$TMP/flows" <<-END
	1->0 id 1 start 0 size 6000000
	2->0 id 2 start 0 size 6000000
END
# So slow that on any machine the pull queue alone decides.
in_ns "${HOST[0]}" sysctl -qw net.ndp.pull_rate_mbit=50 || die "no pull rate"

is_between "nobody preferred: the same for both" "$(beside)" 70 140
# The other has its first window, and pulls while the preferred flow wants none.
is_between "one preferred: the other waits" "$(beside --prefer 1)" 0 15
for share in 20 50; do
	in_ns "${HOST[0]}" sysctl -qw net.ndp.pull_low_share=$share
	want=$((100 * share / (100 - share)))
	is_between "pull_low_share $share: it has that" "$(beside --prefer 1)" \
		$((want * 8 / 10)) $((want * 12 / 10 + 8))
done
# A connection that waits for long is not given up.
in_ns "${HOST[0]}" sysctl -qw net.ndp.pull_low_share=0
is "both end" "$(json "$TMP/json" '[total["done"], total["failed"]]')" "[2, 0]"

# In mid-flow: both are equal, then the second is preferred.  Slower still: even with round
# trips of many milliseconds, as loaded machines have, an initial window must always be more
# than is pulled meanwhile.
in_ns "${HOST[0]}" sysctl -qw net.ndp.pull_rate_mbit=10 || die "no pull rate"
in_ns "${HOST[0]}" timeout 100 python3 -c '
import ctypes, select, socket, struct, sys
libc = ctypes.CDLL(None)
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, libc.socket(22, 1, 0))
listener.bind(("", 5001))
listener.listen()
print("listening", flush=True)
flows = [listener.accept()[0] for _ in range(2)]
got = [0, 0]
def read():
    for flow in select.select(flows, [], [])[0]:
        got[flows.index(flow)] += len(flow.recv(1 << 20))
def receive(total):
    before = got[:]
    while sum(got) < sum(before) + total:
        read()
    total = sum(got) - sum(before)      # a read may bring more
    print(*(100 * (now - then) // total for now, then in zip(got, before)), flush=True)
while got[1] < 200000:     # what was buffered while the first was alone
    read()
receive(1000000)
flows[1].setsockopt(300, 5, struct.pack("i", 1))
receive(300000)     # what was pulled before
receive(1000000)
flows[1].setsockopt(300, 5, struct.pack("i", -1))
receive(300000)
receive(1000000)' >"$TMP/shares" 2>&1 &
SERVER=$!
wait_for 20 grep -q listening "$TMP/shares" || die "no listener: $(cat "$TMP/shares")"
opens=$(ndp_stat "${HOST[0]}" PassiveOpens)
opened() { [ "$(ndp_stat "${HOST[0]}" PassiveOpens)" -eq $((opens + $1)) ]; }
for h in 1 2; do
	background in_ns "${HOST[h]}" timeout 100 bash -c \
		"head -c 20000000 /dev/zero | ndp_cat ${ADDRESS[0]} 5001" >/dev/null 2>&1
	wait_for 20 opened $h || die "flow $h does not begin"
done
check "two flows into one process" wait $SERVER
say "shares: $(tr '\n' ';' <"$TMP/shares")"
share() { sed -n "$1p" "$TMP/shares" | cut -d' ' -f"$2"; }
is_between "both alike" "$(share 2 1)" 40 60
is_between "the second preferred: it has all" "$(share 4 2)" 85 100
is_between "the second put back: the first has all" "$(share 6 1)" 85 100

says "a share above 100" 1 "Invalid argument" \
	in_ns "${HOST[0]}" bash -c 'echo 101 >/proc/sys/net/ndp/pull_low_share'
ns_del_all

# By sch_cee's table pulls and answers, code point 11, have priority 1 to themselves, and data,
# code point 3, has priority 0.
wire_pair rate=1gbit delay=10us hostq="cee prio 0,3 lossless prio 1 strict"
of_prio() { cee_stat "$1" eth0 "$2" in; }
in_ns "$H1" timeout 100 ndp_cat -l -d -v 5002 >/dev/null 2>"$TMP/err" &
wait_for 20 grep -q listening "$TMP/err" || die "no listener"
check "over lossless ports, 4 MB" in_ns "$H0" timeout 100 bash -c \
	"head -c 4M /dev/zero | ndp_cat ${ADDRESS[1]} 5002"
wait $!
say "of the receiver $(of_prio "$H1" 1) packets in priority 1," \
	"of the sender $(of_prio "$H0" 0) in 0"
is "what a receiver sends is not with data" "$(of_prio "$H1" 0)" 0
check "but in its own priority" [ "$(of_prio "$H1" 1)" -ge "$(ndp_stat "$H1" AckOut PullOut)" ]
check "and data is with data" [ "$(of_prio "$H0" 0)" -ge "$(ndp_stat "$H0" DataOut)" ]
