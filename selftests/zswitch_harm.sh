#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# zswitch, zvnic and zvtap under failing allocations, lies, loops and deletions; see
# zswitch_harm.py.  PARTS=REGEX runs some of it.

. "$(dirname "$0")/lib.sh"

require_program python3 tc bridge
require_module zswitch zvnic zvtap sch_cee netwire
rm -rf "$TMP"
SEED=$SEED exec python3 "$(dirname "$0")/zswitch_harm.py"
