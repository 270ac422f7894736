#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sch_cee: QCN and more; see sch_cee_more.py.  PARTS=REGEX runs some of it.

. "$(dirname "$0")/lib.sh"

require_program python3 tc bridge ethtool
require_module sch_cee netwire veth bridge 8021q macvlan
rm -rf "$TMP"
SEED=$SEED exec python3 "$(dirname "$0")/sch_cee_more.py"
