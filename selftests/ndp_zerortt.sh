#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Opening costs no round trip (NDP paper, section 3.2.2): over a long wire a
# request and its answer take one from connect(), and TCP's take two.
#
#	H0 ======== 50 ms each way ======== H1
. "$(dirname "$0")/lib_ndp.sh"

require_module ndp

RTT=100000
wire_pair rate=1gbit delay=50ms mtu=9000
for ns in "$H0" "$H1"; do
	in_ns "$ns" sysctl -qw net.ndp.base_rtt_us=$RTT || die "no base_rtt_us"
done

# round_trips PROTOCOL ARGS...: whole ones that the quickest of five tries took;
# a busy machine makes some of them slow
round_trips() {
	local proto=$1 best=

	shift
	serve "$H1" -p "$proto" -n 5 "$@"
	for _ in 1 2 3 4 5; do
		in_ns "$H0" timeout 60 ndp_xfer connect -p "$proto" -t -s 1000 -r 1000 \
			"${@:1:$#-1}" "${ADDRESS[1]}" "${*: -1}"
	done >"$TMP/tries" 2>&1
	served || return 1
	best=$(sed -n 's/^took \([0-9]*\) us$/\1/p' "$TMP/tries" | sort -n | head -n 1)
	say "$proto $*: ${best:-nothing} us" >&2
	echo $((${best:-0} / RTT))
}

is "NDP: request and answer in one round trip" "$(round_trips ndp 5000)" 1
is "TCP: in two" "$(round_trips tcp 5000)" 2
is "NDP: greeting, request and answer in two" "$(round_trips ndp -f 5001)" 2
is "TCP: in three" "$(round_trips tcp -f 5001)" 3
is "no timeout on the way" "$(ndp_stat "$H0" Timeouts) $(ndp_stat "$H1" Timeouts)" "0 0"

in_ns "$H0" timeout 60 ndp_xfer connect -s 1000 "${ADDRESS[1]}" 5002 >"$TMP/refused" 2>&1
is "a closed port" "$(sed 's/.*: //;1q' "$TMP/refused")" "Connection refused"
in_ns "$H0" timeout 60 ndp_xfer connect -f -s 1000 "${ADDRESS[1]}" 5002 >"$TMP/refused" 2>&1
is "a closed port, waiting for its greeting" "$(sed 's/.*: //;1q' "$TMP/refused")" \
	"Connection refused"
check "counted" [ "$(ndp_stat "$H1" DropNoListener)" -gt 0 ]
