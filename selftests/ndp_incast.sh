#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many senders to one receiver through one trimming port: all data arrives, and the
# counters of hosts and switch agree.
#
#	HOST[1] .. HOST[n] ==200 Mb/s== LEAF[0] --50 Mb/s-- HOST[0]
#
# The first window of one sender alone overflows the port, even where a slow
# machine starts the senders far apart.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
tap_plan 16

leaf_spine hosts=16 leaves=1 spines=1 rate=200mbit delay=10us mtu=9000
ip -n "${HOST[0]}" link set eth0 type netwire rate 50mbit || die "no slow port"
tc -n "${LEAF[0]}" qdisc replace dev h0 root ndp limit 4 || die "no short queue"
incast 7 400000
incast_sums $((7 * (400000 + 16)))
is "no header was lost or returned" "$(tc_stat "${LEAF[0]}" h0 drop_header bounced)" 0
check "the port trimmed" \
	[ "$(tc_stat "${LEAF[0]}" h0 trimmed_arrival trimmed_tail)" -gt 0 ]

incast 15 180000
incast_sums $((7 * (400000 + 16) + 15 * (180000 + 16)))
