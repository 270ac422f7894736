#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A program confined by AppArmor may create AF_NDP sockets if its profile allows the address
# family of their number, and use them, like TCP's, if it allows inet streams.
. "$(dirname "$0")/lib_ndp.sh"

[ -d /sys/module/apparmor ] || skip_all "no AppArmor in this kernel"
require_program apparmor_parser aa-exec
require_module ndp
tap_plan 8
mount -t securityfs security /sys/kernel/security 2>/dev/null

# profile NAME RULE...: load a profile that allows everything but networking, and the rules
profile() {
	local name=$1 rule

	shift
	{
		echo "abi <abi/3.0>,"
		echo "profile $name {"
		echo "	capability, mount, file, ptrace, signal, unix, dbus,"
		for rule; do
			echo "	$rule,"
		done
		echo "}"
	} >"$TMP/profile"
	apparmor_parser --skip-cache -r "$TMP/profile" || die "cannot load a profile"
}

# confined PROFILE PORT -p tcp|ndp: a transfer over loopback by a confined client
confined() {
	local name=$1 port=$2

	shift 2
	serve "$A" -n 1 "$@" "$port"
	in_ns "$A" timeout 20 aa-exec -p "$name" -- "$(command -v ndp_xfer)" connect "$@" \
		-s 1000 127.0.0.1 "$port" >"$TMP/client" 2>&1
}

ns_add A
profile ndp_test_none "network unix"
refuse "no family: TCP" confined ndp_test_none 5001 -p tcp
check "and says why" grep -qi "permission denied" "$TMP/client"
refuse "no family: NDP" confined ndp_test_none 5002 -p ndp
check "and says why" grep -qi "permission denied" "$TMP/client"
profile ndp_test_inet "network inet stream"
check "inet: TCP" confined ndp_test_inet 5003 -p tcp
refuse "inet alone: NDP" confined ndp_test_inet 5004 -p ndp
check "and says why" grep -qi "permission denied" "$TMP/client"
profile ndp_test_both "network inet stream" "network sna"
check "inet and its own: NDP" confined ndp_test_both 5005 -p ndp
apparmor_parser -R "$TMP/profile"
