#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# zswitch and zvnic: no frame is lost, and no port blocks another; see zswitch.py.  PARTS=REGEX
# runs some of it.

. "$(dirname "$0")/lib.sh"

require_program python3 tc bridge
require_module zswitch zvnic zvtap sch_cee netwire
rm -rf "$TMP"
SEED=$SEED exec python3 "$(dirname "$0")/zswitch.py"
