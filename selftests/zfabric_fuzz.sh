#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# zFabric and zBridge: messages at random; see zfabric_fuzz.py.  PARTS=REGEX runs some of it.

. "$(dirname "$0")/lib.sh"

require_program python3 tc bridge
require_module zswitch zvnic sch_cee netwire zbridge
rm -rf "$TMP"
SEED=$SEED exec python3 "$(dirname "$0")/zfabric_fuzz.py"
