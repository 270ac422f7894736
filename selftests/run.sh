#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run selftests on this machine, as root.
#
# Usage: run.sh [-1] [TEST...]		all of them by default
#
# TEST:VARIANT runs one variant of the program's fixtures.
# Prints TAP as kselftest's own runner does: each test's output with "# " before
# it, then its result.  A test fails by its exit code (4: skipped), by exceeding the
# time in "settings", or if the kernel complains while it runs.  As 124 and 137 may be
# a test's own exit codes, timeout's message decides.  After a complaint or a time-out
# the kernel is not fit for further tests: with -1 the run ends there (exit code 3).
# TIMEOUT, in seconds, overrides that time.
set -u
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit 1
export PATH=$here/../build/selftests:$PATH

stop_early=
if [ "${1-}" = -1 ]; then
	stop_early=1
	shift
fi
[ $# -gt 0 ] || mapfile -t tests < <(make -s list)
[ $# -eq 0 ] || tests=("$@")
timeout=${TIMEOUT:-$(sed -n 's/^timeout=//p' settings)}
# Virtual time costs nothing: tests that wait for many time-outs of their own may do so.
[ -n "${TIMEOUT-}" ] || [ ! -e /proc/exitcode ] || timeout=$((4 * timeout))

run_one() {
	local test=$1 number=$2 program=./${1%%:*} variant=() code verdict complaint

	[ -e "$program" ] || program=../build/selftests/${program#./}
	[ "$test" = "${test#*:}" ] || variant=(-v "${test#*:}")
	echo "# selftests: $test"
	echo "selftest: begin $test" >/dev/kmsg
	(
		timeout -v -k 10 "$timeout" bash -c 'exec "$0" "$@" 2>&1' "$program" \
			"${variant[@]}" </dev/null 2>"$late"
		echo "$?" >"$codes"
	) | stdbuf -oL sed 's/^/# /'
	code=$(cat "$codes")
	! grep -q '^timeout: sending signal' "$late" || code=late
	# The kernel complains late of objects that are freed late.
	sleep 0.3
	complaint=$(dmesg | awk -v mark="selftest: begin $test" \
		'index($0, mark) { on = 1; next } on' | grep -Ef splat | head -n 5)
	echo "selftest: end $test" >/dev/kmsg

	case $code in
	0)	verdict="ok $number selftests: $test" ;;
	4)	verdict="ok $number selftests: $test # SKIP" ;;
	late)	verdict="not ok $number selftests: $test # TIMEOUT $timeout seconds" ;;
	*)	verdict="not ok $number selftests: $test # exit=$code" ;;
	esac
	if [ -n "$complaint" ]; then
		echo "# kernel: ${complaint//$'\n'/$'\n'# kernel: }"
		verdict="not ok $number selftests: $test # KERNEL"
	fi
	echo "$verdict"
	case $verdict in
	*'# TIMEOUT'*|*'# KERNEL') return 3 ;;
	not*)	return 1 ;;
	esac
}

codes=$(mktemp)
late=$(mktemp)
trap 'rm -f "$codes" "$late"' EXIT
echo "TAP version 13"
echo "1..${#tests[@]}"
failed=0
n=0
for t in "${tests[@]}"; do
	n=$((n + 1))
	run_one "$t" $n
	result=$?
	[ $result -eq 0 ] || failed=1
	if [ $result -eq 3 ] && [ -n "$stop_early" ]; then
		exit 3
	fi
done
# The kernel complains of a device that is not freed after ten seconds.
sleep 11
# Two scans, for objects allocated just before the first one are not reported by it.
leaks=/sys/kernel/debug/kmemleak
if [ -e $leaks ] && echo scan >$leaks && sleep 6 && echo scan >$leaks; then
	# The file's size is 0 even if it has contents.
	report=$(head -n 100 $leaks | sed 's/^/# /')
	if [ -n "$report" ]; then
		echo "$report"
		failed=1
	fi
fi
if dmesg | grep 'unregister_netdevice: waiting'; then
	failed=1
fi
exit $failed
