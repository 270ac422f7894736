#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sch_ndp below other qdiscs; see sch_ndp_parents.py.

. "$(dirname "$0")/lib.sh"

require_program python3 tc
require_module sch_ndp sch_gate veth
rm -rf "$TMP"
SEED=$SEED PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/sch_ndp_parents.py"
