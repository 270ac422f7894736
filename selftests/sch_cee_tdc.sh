#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sch_cee's parameters, refusals and parents: the cases of tdc/cee.json.

. "$(dirname "$0")/lib.sh"

require_program python3 tc
require_module sch_cee dummy sch_prio
rm -rf "$TMP"
exec python3 "$(dirname "$0")/tdc.py" "$(dirname "$0")/tdc/cee.json"
