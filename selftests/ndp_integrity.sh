#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_NDP delivers every byte once and in order, whatever the network does.
#
#	HOST[0] ---- LEAF[0] ---- HOST[1]
#
# Transfers of sizes around a packet's, in both directions at once, under impairments at
# the switch's ports, bit errors on the cables, and small trimming queues.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_netem
require_program ethtool python3
tap_plan 27
MSS=$((9000 - (FAMILY == 4 ? 20 : 40) - 8 - 36))

impair() {
	tc -n "${LEAF[0]}" qdisc replace dev h0 root "$@" &&
		tc -n "${LEAF[0]}" qdisc replace dev h1 root "$@" || die "cannot impair: $*"
}

# Sum of a counter of both ports' qdiscs
ports() { echo $(($(tc_stat "${LEAF[0]}" h0 "$@") + $(tc_stat "${LEAF[0]}" h1 "$@"))); }
# Sum of a counter of both cables
cables() {
	local h

	for h in 0 1; do
		in_ns "${HOST[h]}" ethtool -S eth0
	done | awk -v name="$1:" '$1 == name { n += $2 } END { print n }'
}
# Number of packets that the hosts found to be corrupted
wrong() { echo $(($(ndp_stat "${HOST[0]}" CrcIn DropChecksum) + \
		  $(ndp_stat "${HOST[1]}" CrcIn DropChecksum))); }

SIZES=(0 1 $((MSS - 1)) "$MSS" $((MSS + 1)) 65536 1000000 4000000)
say "seed $SEED"
leaf_spine hosts=2 leaves=1 spines=1 rate=1gbit mtu=9000
ENDS=("${HOST[0]}" "${HOST[1]}" "${ADDRESS[1]}")

transfer "clean" "${ENDS[@]}" "${SIZES[@]}"
for limit in 1 2 8; do
	# A rate so low that every machine fills the queue.
	impair ndp limit $limit rate 40mbit
	transfer "trimming queue of $limit" "${ENDS[@]}" "${SIZES[@]}"
	check "trimming queue of $limit: it trimmed" \
		[ "$(ports trimmed_arrival trimmed_tail)" -gt 0 ]
done
impair netem loss $((RANDOM % 8 + 1))%
transfer "loss" "${ENDS[@]}" "${SIZES[@]}"
check "packets were lost" [ "$(ports drops)" -gt 0 ]
impair netem duplicate $((RANDOM % 50 + 10))%
watch_data "${HOST[1]}"
transfer "duplication" "${ENDS[@]}" "${SIZES[@]}"
check "packets came twice" [ "$(watched twice)" -gt 0 ]
impair netem delay 2ms 2ms
watch_data "${HOST[1]}"
transfer "reordering" "${ENDS[@]}" "${SIZES[@]}"
check "packets were overtaken" [ "$(watched late)" -gt 0 ]
impair netem corrupt $((RANDOM % 5 + 1))%
before=$(wrong)
transfer "corruption" "${ENDS[@]}" "${SIZES[@]}"
check "packets were found to be wrong" [ "$(wrong)" -gt "$before" ]
impair netem loss 2% duplicate 10% corrupt 2% delay 1ms 1ms
before=$(wrong)
watch_data "${HOST[1]}"
transfer "all of these" "${ENDS[@]}" "${SIZES[@]}"
check "packets were lost" [ "$(ports drops)" -gt 0 ]
check "packets came twice" [ "$(watched twice)" -gt 0 ]
check "packets were overtaken" [ "$(watched late)" -gt 0 ]
check "packets were found to be wrong" [ "$(wrong)" -gt "$before" ]
impair ndp limit 8

for mode in drop:lost corrupt:corrupted; do
	for h in 0 1; do
		ip -n "${HOST[h]}" link set eth0 type netwire ber 1e-6 ber-mode ${mode%:*} ||
			die "no bit errors"
	done
	before=$(cables "rx_ber_${mode#*:}")
	transfer "bit errors, ber-mode ${mode%:*}" "${ENDS[@]}" "${SIZES[@]}"
	check "packets were ${mode#*:}" [ "$(cables "rx_ber_${mode#*:}")" -gt "$before" ]
done
for h in 0 1; do
	ip -n "${HOST[h]}" link set eth0 type netwire rate 10gbit ber 0
done
transfer "$((40 / FEWER)) MB" "${ENDS[@]}" $((40000000 / FEWER))

is "nothing was given up" \
	"$(ndp_stat "${HOST[0]}" GivenUp) $(ndp_stat "${HOST[1]}" GivenUp)" "0 0"
is "opened as often as accepted" "$(ndp_stat "${HOST[0]}" ActiveOpens)" \
	"$(ndp_stat "${HOST[1]}" PassiveOpens)"
