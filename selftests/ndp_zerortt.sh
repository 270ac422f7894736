#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Opening costs no round trip (NDP paper, section 3.2.2): over a long wire a request and
# its answer take one round trip from connect() on, and TCP's take two.
#
#	H0 ======== 50 ms each way ======== H1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp
tap_plan 8

RTT=100000
wire_pair rate=1gbit delay=50ms mtu=9000
set_ndp base_rtt_us=$RTT "$H0" "$H1"

# takes N PROTOCOL ARGS...: does it take so many whole round trips?
takes() {
	local wanted=$1 proto=$2 us

	shift 2
	serve "$H1" -p "$proto" -n 1 "$@"
	us=$(in_ns "$H0" timeout 60 ndp_xfer connect -p "$proto" -t -s 1000 -r 1000 \
		"${@:1:$#-1}" "${ADDRESS[1]}" "${*: -1}" | sed -n 's/^took \([0-9]*\) us$/\1/p')
	served || return
	echo "$proto $*: ${us:-nothing} us"
	[ $((${us:-0} / RTT)) -eq "$wanted" ]
}

exact "NDP: request and answer in one round trip" takes 1 ndp 5000
exact "TCP: in two" takes 2 tcp 5000
exact "NDP: greeting, request and answer in two" takes 2 ndp -f 5001
exact "TCP: in three" takes 3 tcp -f 5001
exact "no timeout on the way" [ "$(ndp_total Timeouts "$H0" "$H1")" -eq 0 ]

# A host refuses by a reset once it has had an NDP socket; one that has had none does so by
# ICMP, or not at all over IPv6.
serve "$H1" 5003
in_ns "$H0" timeout 60 ndp_xfer connect -s 1000 "${ADDRESS[1]}" 5002 >"$TMP/refused" 2>&1
is "a closed port" "$(sed 's/.*: //;1q' "$TMP/refused")" "Connection refused"
in_ns "$H0" timeout 60 ndp_xfer connect -f -s 1000 "${ADDRESS[1]}" 5002 >"$TMP/refused" 2>&1
is "a closed port, waiting for its greeting" "$(sed 's/.*: //;1q' "$TMP/refused")" \
	"Connection refused"
check "counted" [ "$(ndp_stat "$H1" DropNoListener)" -ge 2 ]
