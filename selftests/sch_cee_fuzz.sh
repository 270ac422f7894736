#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sch_cee: options and frames at random; see sch_cee_fuzz.py.  PARTS=REGEX runs some of it.

. "$(dirname "$0")/lib.sh"

require_program python3 tc bridge
require_module sch_cee netwire bridge 8021q
rm -rf "$TMP"
SEED=$SEED exec python3 "$(dirname "$0")/sch_cee_fuzz.py"
