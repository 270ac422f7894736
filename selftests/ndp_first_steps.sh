#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Documentation/first-steps.md as it stands: each of its commands is run where the page says, by
# root after sudo and by the user nobody elsewhere, and the output is what the page shows, numbers
# aside.  Behind a firewall, as where Debian's example of one is in force.
#
#	A eth1 ==== eth1 B	10.0.0.1, 10.0.0.2

# In a mount namespace of its own, so that mounts end with this test.
[ -n "${NDP_FIRST_STEPS_PRIVATE-}" ] || NDP_FIRST_STEPS_PRIVATE=1 exec unshare -m "$0" "$@"

. "$(dirname "$0")/lib_ndp.sh"

PAGE=$(dirname "$0")/../Documentation/first-steps.md
[ -e "$PAGE" ] || skip_all "no Documentation here"
require_module ndp sch_ndp netwire nf_tables nf_conntrack
require_program ndp ndp_cat ndp_run nft setpriv sha256sum
tap_plan 23

# The page's commands, without trailing comments and without the doctor's output.
sed -nE '/^    (good|note|bad) /d; s/^    (\S)/\1/p' "$PAGE" | sed -E 's/ +# .*//' >"$TMP/page"
FILES=$TMP/files
mkdir -m 777 "$FILES"
chmod 755 "$TMP"

# The user nobody, who may read all files, as the tree may lie where only root can read
may=+dac_read_search
NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "$may"
	--ambient-caps "$may")

# at NS COMMAND: run one of the page's commands there
at() {
	local ns=$1 command=$2 who=("${NOBODY[@]}")

	grep -qxF -- "$command" "$TMP/page" || {
		echo "not on the page: $command"
		return 1
	}
	echo "$command" >>"$TMP/done"
	if [ "${command#sudo }" != "$command" ]; then
		command=${command#sudo } who=()
	fi
	# A gigabyte is more than the memory of a test machine.
	command=${command/ 1G / 4M }
	in_ns "$ns" "${who[@]}" bash -c "${command//\/tmp\//$FILES/}"
}
on_both() { at "$A" "$1" && at "$B" "$1"; }

# numberless: replace each number by N
numberless() { sed -E 's/[0-9]+/N/g'; }
# shown SECTION: the doctor's output in that section, without "rss", which no NIC here has.
shown() {
	awk -v section="$1" '
		/^## / { on = index($0, "## " section) == 1 }
		on && /^    (good|note|bad|      ) / {
			if ($0 !~ /^          /)
				rss = $2 == "rss"
			if (!rss)
				print substr($0, 5)
		}' "$PAGE" | numberless
}
# says_so NS COMMAND SECTION: the command's output contains everything that the section shows
says_so() {
	at "$1" "$2" >"$TMP/said"
	cat "$TMP/said"
	shown "$3" >"$TMP/shown"
	[ -s "$TMP/shown" ] && diff "$TMP/shown" <(numberless <"$TMP/said" | grep -xFf "$TMP/shown")
}
not_bad() { ! grep -A 3 ^bad "$TMP/said"; }

qdisc=$(sysctl -n net.core.default_qdisc)
sysctl -qw net.core.default_qdisc=fq_codel
wire_pair rate=10gbit delay=10us mtu=9000 hostq=
sysctl -qw net.core.default_qdisc="$qdisc"
A=$H0 B=$H1
for ns in "$A" "$B"; do
	ip -n "$ns" link set eth0 down
	ip -n "$ns" link set eth0 name eth1 up
	in_ns "$ns" nft -f - <<-END
		table inet filter {
			chain input {
				type filter hook input priority filter; policy drop;
				ct state established,related accept
				meta l4proto { icmp, icmpv6 } accept
			}
		}
	END
done
# ndp_run checks files by access(2), which ignores a user's capabilities: mount them in reach.
if [ -d "${NDP_PROGRAMS-}/usr" ]; then
	mount --bind "$NDP_PROGRAMS/usr" /mnt || die "no mount"
	PATH=$PATH:/mnt/bin:/mnt/sbin
	LD_LIBRARY_PATH=$(printf '%s:' /mnt/lib/*-linux-gnu)
	export LD_LIBRARY_PATH
fi

# became: does a program run to its end, and does -v report its sockets as the page shows?
became() {
	local what

	# shellcheck disable=SC2016
	what=$(sed -n 's/.*"\(connect .*: NDP\)".*/\1/p' "$PAGE")
	at "$A" "ndp_run -v iperf3 -c 10.0.0.2" 2>&1 | tee "$TMP/client"
	grep -q receiver "$TMP/client" && grep -q "${what:?}" "$TMP/client"
}

# 1, 2: one machine alone
check "1: it is loaded" on_both "sudo modprobe ndp"
check "2: the doctor says what is shown" says_so "$A" "sudo ndp doctor" 2
check "2: nothing is bad" not_bad
mend=$(sed -n 's/^ *\(tc qdisc replace dev eth1 .*\)/\1/p' "$TMP/said")
for ns in "$A" "$B"; do
	check "2: what it says of the qdisc mends it" in_ns "$ns" bash -c "$mend"
done

# 3: the doctor detects a firewall, and the page's commands open it
in_ns "$B" ndp doctor 10.0.0.1 >"$TMP/said"
check "3: a firewall is in the way" grep "^bad .*answer .*says nothing" "$TMP/said"
grep "^sudo nft [ai]" "$TMP/page" >"$TMP/rules"
is "3: it is opened by so many commands" "$(wc -l <"$TMP/rules")" 6
open_port() {
	local command

	while read -r command; do
		on_both "$command" || return 1
	done <"$TMP/rules"
}
check "3: they are done on both" open_port

# 4, 5: a listener
background at "$B" "ndp_cat -l 5000 > /tmp/received"
LISTENER=$PID
listens() { in_ns "$B" ndp -l socket sport "$1" | grep -q ^listen; }
check "4: B listens" wait_for 20 listens 5000
check "4: the doctor says what is shown" says_so "$A" "sudo ndp doctor 10.0.0.2" 4
check "4: nothing is bad" not_bad
background at "$A" "ndp -t monitor" >"$TMP/monitor"
MONITOR=$PID
check "6: the monitor runs" wait_for 20 has_monitor "$A"
check "5: a file is made" at "$A" "head -c 1G /dev/urandom > /tmp/sent"
check "5: it is sent" at "$A" "ndp_cat -v 10.0.0.2 5000 < /tmp/sent"
wait $LISTENER
sum=$(at "$A" "sha256sum /tmp/sent")
is "5: and has arrived" "$(in_ns "$B" sha256sum <"$FILES/received" | cut -c -64)" "${sum%% *}"
check "6: the monitor has seen it" wait_for 20 grep -q 5000 "$TMP/monitor"
kill $MONITOR

if ! command -v iperf3 >/dev/null; then
	for name in "B serves" "TCP's program is NDP's"; do
		skip "5: $name" "there is no iperf3"
	done
	printf 'ndp_run %s\n' "iperf3 -s" "-v iperf3 -c 10.0.0.2" >>"$TMP/done"
else
	background at "$B" "ndp_run iperf3 -s" >"$TMP/server"
	check "5: B serves" wait_for 60 listens 5201
	check "5: TCP's program is NDP's" became
fi

# 6
told() {
	local name

	at "$A" "ndp stat" >"$TMP/stat" && cat "$TMP/stat" || return 1
	for name in $(sed -n '/^## 6/,/^## Back/p' "$PAGE" | grep -o '`[A-Z][A-Za-z]*`' |
		      tr -d '`'); do
		ndp_stat "$A" "$name" | grep -x '[0-9]*' || return 1
	done
}
check "6: counters" told
paths() { at "$A" "ndp path live 10.0.0.2" >"$TMP/live" && cat "$TMP/live" &&
	grep 10.0.0.2 "$TMP/live"; }
check "6: paths" paths
at "$A" "sudo ndp doctor 10.0.0.2" >"$TMP/said"
check "6: the doctor knows of trimming" eval \
	'cat "$TMP/said"; grep " trimming " "$TMP/said" && ! grep "hardly anything was" "$TMP/said"'

# Back
# shellcheck disable=SC2046
kill $(ns_pids) 2>"$TMP/err"
unload_transports
back() {
	on_both "sudo tc qdisc delete dev eth1 root" &&
		wait_for 20 at "$A" "sudo modprobe -r sch_ndp ndp" &&
		on_both "sudo nft delete table inet ndp" && [ ! -e /sys/module/ndp ] &&
		[ ! -e /sys/module/sch_ndp ]
}
check "back: all of it" back

# Commands that are run by the test of the packages
is "no other command is on the page" "$(sort -u "$TMP/done" | grep -vxFf - "$TMP/page")" \
"make deb
sudo apt install linux-headers-amd64 ./build/deb/linux-ndp-{dkms,tools}_*.deb
sudo apt purge linux-ndp-dkms linux-ndp-tools"
