#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Header queues so small that they overflow: headers are returned to their senders
# (NDP paper, section 3.2.4) or dropped, all data arrives nevertheless, and the
# counters add up.
#
#	HOST[1] .. HOST[4] ==1 Gb/s== LEAF[0] --20 Mb/s-- HOST[0]
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
tap_plan 21

leaf_spine hosts=5 leaves=1 spines=1 rate=1gbit delay=10us mtu=9000
ip -n "${HOST[0]}" link set eth0 type netwire rate 20mbit || die "no slow port"

tc -n "${LEAF[0]}" qdisc replace dev h0 root ndp limit 1 hdr_limit 128 ||
	die "no short queues"
incast 4 500000
incast_sums $((4 * (500000 + 16)))
returned=$(senders BouncedIn)
check "headers came back" [ "$returned" -gt 0 ]
is "all that the port returned reached its sender" "$(port bounced)" "$returned"
is "none was lost for want of a way back" "$(port drop_header)" "$(port drop_bounce)"
is "nobody gave up" "$(senders GivenUp)" 0

tc -n "${LEAF[0]}" qdisc change dev h0 root ndp overflow drop || die "no dropping"
incast 4 500000
incast_sums $((8 * (500000 + 16)))
is "no header came back" "$(senders BouncedIn)" "$returned"
check "headers were dropped" [ "$(port drop_header)" -gt 0 ]
is "nobody gave up" "$(senders GivenUp)" 0
