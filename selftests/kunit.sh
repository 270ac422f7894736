#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The KUnit suites.  They are in separate modules (net/*/*_test.c) and run when these are
# loaded on a kernel that has KUnit; their results are in debugfs.
. "$(dirname "$0")/lib.sh"

modules="ndp_test ndp_mprdma_test ndp_dcqcn_test ndp_light_test sch_ndp_test sch_cee_test"
modules+=" zswitch_test"
suites="ndp_checksum ndp_cookie ndp_dcqcn ndp_entropy ndp_light ndp_mprdma ndp_mtu ndp_ooo"
suites+=" ndp_order ndp_owed ndp_path ndp_psn ndp_pull ndp_room ndp_rto ndp_score ndp_storm"
suites+=" ndp_table ndp_transport ndp_window"
suites+=" sch_cee_buffer sch_cee_config sch_cee_ecn sch_cee_ets sch_cee_pfc"
suites+=" sch_cee_qcn_cp sch_cee_qcn_rp sch_cee_queue sch_cee_watch"
suites+=" sch_ndp_trim sch_ndp_wrr"
suites+=" zswitch_credit zswitch_fdb zswitch_queue zswitch_vlan"
results=/sys/kernel/debug/kunit

# cases SUITE: "ok NAME" or "not ok NAME" for each of its cases
cases() { sed -nE 's/^ +((not )?ok) [0-9]+ (.*)/\1 \3/p' "$results/$1/results"; }

# planned SUITE: the number of cases in its plan
planned() {
	local n

	n=$(sed -nE 's/^ +1\.\.([0-9]+)$/\1/p' "$results/$1/results")
	echo "${n:-0}"
}

[ -d $results ] || skip_all "this kernel has no KUnit"
# shellcheck disable=SC2086
modprobe -r -a $modules
require_module ndp ndp_mprdma ndp_dcqcn ndp_light sch_cee sch_ndp zswitch
before=$(ls $results)
# shellcheck disable=SC2086
require_module $modules
total=2
for suite in $suites; do
	total=$((total + $(planned "$suite") + 1))
done
tap_plan $total

is "what users load has no suite" "$before" ""
is "these suites have run" "$(cd $results && echo ./*)" "./${suites// / ./}"
for suite in $suites; do
	n=0
	while read -r verdict name; do
		n=$((n + 1))
		case $verdict in
		ok)	ok "$suite: $name" ;;
		*)	sed 's/^/# /' "$results/$suite/results"
			fail "$suite: ${name#ok }" ;;
		esac
	done < <(cases "$suite")
	check "$suite: there are cases, and all have run" \
		[ $n -gt 0 -a $n -eq "$(planned "$suite")" ]
done
# Otherwise a later test could not unload sch_cee.
modprobe -r zswitch_test
# Including the modules that use zswitch, if an earlier test has left them loaded
modprobe -r -a zvtap zvnic zswitch
