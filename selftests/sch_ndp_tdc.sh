#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sch_ndp's parameters, refusals and parents: the cases of tdc/ndp.json.

. "$(dirname "$0")/lib.sh"

require_program python3 tc
require_module sch_ndp dummy sch_prio sch_htb
rm -rf "$TMP"
exec python3 "$(dirname "$0")/tdc.py" "$(dirname "$0")/tdc/ndp.json"
