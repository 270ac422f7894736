#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# zswitch and zvnic: misbehaving receivers, senders and frames; see zswitch_more.py.
# PARTS=REGEX runs some of it.

. "$(dirname "$0")/lib.sh"

require_program python3 tc bridge ethtool unshare nsenter
require_module zswitch zvnic sch_cee netwire bridge 8021q tun
rm -rf "$TMP"
SEED=$SEED exec python3 "$(dirname "$0")/zswitch_more.py"
