#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The modules' own KUnit suites, which run when a module is loaded on a kernel that
# has KUnit; their results are in debugfs.
. "$(dirname "$0")/lib.sh"

suites="ndp_cookie ndp_path ndp_psn ndp_pull ndp_rto sch_ndp_trim sch_ndp_wrr"
results=/sys/kernel/debug/kunit

[ -d $results ] || skip_all "this kernel has no KUnit"
require_module ndp sch_ndp
for suite in $suites; do
	file=$results/$suite/results
	[ -e $file ] || { check "$suite: has run" false; continue; }
	while read -r verdict _ name; do
		case $verdict in
		ok)	check "$suite: $name" true ;;
		not)	sed 's/^/# /' $file
			check "$suite: ${name#* }" false ;;
		esac
	done < <(sed -nE 's/^ +((not )?ok) ([0-9]+) (.*)/\1 \3 \4/p' $file)
done
