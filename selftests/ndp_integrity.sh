#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_NDP delivers every byte once and in order, whatever the network does.
#
#	HOST[0] ---- LEAF[0] ---- HOST[1]
#
# Sizes around a packet's, in both directions at once, under impairments at the
# switch's ports, bit errors on the cables, and small trimming queues.
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp sch_netem
PORT=5000
MSS=$((9000 - (FAMILY == 4 ? 20 : 40) - 8 - 36))

# transfer NAME BYTES...: each size both ways, one after the other
transfer() {
	local name=$1 n bad=0

	shift
	for n; do
		PORT=$((PORT + 1))
		serve "${HOST[1]}" $PORT
		fetch "${HOST[0]}" -s "$n" -r "$n" "${ADDRESS[1]}" $PORT || bad=1
		served || bad=1
	done
	check "$name" [ $bad -eq 0 ]
}

impair() {
	tc -n "${LEAF[0]}" qdisc replace dev h0 root "$@" &&
		tc -n "${LEAF[0]}" qdisc replace dev h1 root "$@" || die "cannot impair: $*"
}

SIZES=(0 1 $((MSS - 1)) "$MSS" $((MSS + 1)) 65536 1000000 4000000)
say "seed $SEED"
leaf_spine hosts=2 leaves=1 spines=1 rate=1gbit mtu=9000

transfer "clean" "${SIZES[@]}"
for limit in 1 2 8; do
	impair ndp limit $limit
	transfer "trimming queue of $limit" "${SIZES[@]}"
done
impair netem loss $((RANDOM % 8 + 1))%
transfer "loss" "${SIZES[@]}"
impair netem duplicate $((RANDOM % 50 + 10))%
transfer "duplication" "${SIZES[@]}"
impair netem delay 2ms 2ms
transfer "reordering" "${SIZES[@]}"
impair netem corrupt $((RANDOM % 5 + 1))%
transfer "corruption" "${SIZES[@]}"
impair netem loss 2% duplicate 10% corrupt 2% delay 1ms 1ms
transfer "all of these" "${SIZES[@]}"
impair ndp limit 8

for mode in drop corrupt; do
	for h in 0 1; do
		ip -n "${HOST[h]}" link set eth0 type netwire ber 1e-6 ber-mode $mode ||
			die "no bit errors"
	done
	transfer "bit errors, ber-mode $mode" "${SIZES[@]}"
done
for h in 0 1; do
	ip -n "${HOST[h]}" link set eth0 type netwire rate 10gbit ber 0
done
transfer "$((40 / FEWER)) MB" $((40000000 / FEWER))

is "nothing was given up" \
	"$(ndp_stat "${HOST[0]}" GivenUp) $(ndp_stat "${HOST[1]}" GivenUp)" "0 0"
is "opened as often as accepted" "$(ndp_stat "${HOST[0]}" ActiveOpens)" \
	"$(ndp_stat "${HOST[1]}" PassiveOpens)"
