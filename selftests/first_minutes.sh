#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The section "Five minutes" of the pages on sch_cee, zswitch and zbridge: each of its commands is
# run as it stands there, by root, and checked for its effects.  The output is what a page shows,
# numbers aside.
#
#	sch_cee		a, b, c ---- s
#	zswitch		c1, c2, c3 at zs0, here
#	zbridge		A ==== B, each with a zs0 and a container

. "$(dirname "$0")/lib.sh"

DOCS=$(dirname "$0")/../Documentation
[ -e "$DOCS/sch_cee.md" ] || skip_all "no Documentation here"
require_module sch_cee netwire bridge zswitch zvnic zbridge
require_program tc bridge ip ndp_cat nstat ping python3
tap_plan 13

# blocks PAGE REGEX: the indented blocks of that section whose first line matches
blocks() {
	awk -v first="$2" '
		/^## / { on = /^## Five minutes/ }
		!/^    / { inside = 0; next }
		on && !inside { wanted = $0 ~ first; inside = 1 }
		on && wanted { print substr($0, 5) }' "$DOCS/$1.md"
}
# Output that a page shows is indented once more than commands.
commands() { blocks "$1" '^    [^ ]'; }
shown() { blocks "$1" '^     '; }
numberless() { sed -E 's/[0-9]+/N/g'; }

# put_away NAMESPACE...: delete the namespaces that a page's commands created
put_away() {
	local ns

	for ns; do
		ip netns del "$ns" || return 1
	done
}

# The lines on priority 3, as the page has them
prio3() { awk '/^ *prio |^qdisc / { on = /prio 3 lossless:/ } on'; }

sch_cee() {
	commands sch_cee >"$TMP/commands"
	is "sch_cee: all blocks of commands are found" \
		"$(grep -c 'netns add\|type bridge\|root cee\|show dev' "$TMP/commands")" 6
	check "sch_cee: the commands" \
		bash -e -c ". $TMP/commands >$TMP/said 2>$TMP/errors && ! grep . $TMP/errors"
	is "sch_cee: what is said of priority 3 is what is shown" \
		"$(prio3 <"$TMP/said" | numberless)" "$(shown sch_cee | grep . | numberless)"
	is "sch_cee: of each pause both ends tell" \
		"$(cee_stat s pa 3 xoff_sent) $(cee_stat s pb 3 xoff_sent)" \
		"$(cee_stat a e0 3 xoff_received) $(cee_stat b e0 3 xoff_received)"
	exact "sch_cee: there were pauses" \
		[ "$(($(cee_stat s pa 3 xoff_sent) + $(cee_stat s pb 3 xoff_sent)))" -gt 0 ]
	is "sch_cee: nobody has dropped anything" \
		"$(grep -E ' dropped |overflow' "$TMP/said" |
			grep -E '(dropped|limit|overflow|watchdog|reset) [1-9]')" ""
	check "sch_cee: it is put away" put_away a b c s
}

zswitch() {
	commands zswitch >"$TMP/commands"
	check "zswitch: the commands" bash -e -c ". $TMP/commands >$TMP/said"
	is "zswitch: no counter of drops appears" "$(grep -o 'drop_[a-z]*' "$TMP/said")" ""
	check "zswitch: frames waited" grep -E 'waited [1-9]' "$TMP/said"
	check "zswitch: it is put away" put_away c1 c2 c3
	ip link del zs0
}

# on NS ADDRESS OTHER CONTAINER: run the page's commands in NS, and add a container
on() {
	commands zbridge |
		sed "/monitor/d; s/local 192.0.2.1 /local $2 /; s/dst 192.0.2.2 /dst $3 /" \
			>"$TMP/commands"
	in_ns "$1" bash -e -c ". $TMP/commands" || return 1
	ns_add "$4"
	ip -n "$1" link add z1 type zvnic peer name eth0 netns "${!4}" &&
		ip -n "$1" link set z1 mtu 1400 master zs0 up &&
		ip -n "${!4}" address add "10.9.0.${2##*.}/24" dev eth0 &&
		ip -n "${!4}" link set eth0 mtu 1400 up
}

zbridge() {
	ns_add A B
	ip link add eth0 netns "$A" type netwire rate 100mbit peer name eth0 netns "$B"
	ip -n "$A" address add 192.0.2.1/24 dev eth0
	ip -n "$B" address add 192.0.2.2/24 dev eth0
	ip -n "$A" link set eth0 up
	ip -n "$B" link set eth0 up
	check "zbridge: the commands, at both hosts" eval \
		'on "$A" 192.0.2.1 192.0.2.2 C1 && on "$B" 192.0.2.2 192.0.2.1 C2'
	check "zbridge: containers of both talk" wait_for 10 in_ns "$C1" ping -c 1 -W 1 10.9.0.2
	ns_del_all
}

sch_cee
zswitch
zbridge
