#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What sch_ndp does with packets; see sch_ndp.py.

. "$(dirname "$0")/lib.sh"

require_program python3 tc
require_module sch_ndp veth sch_prio sch_htb
rm -rf "$TMP"
SEED=$SEED exec python3 "$(dirname "$0")/sch_ndp.py"
