#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# zvtap: virtual machines on a lossless switch, as descriptors of taps; see zvtap.py.
# PARTS=REGEX runs some of it.

. "$(dirname "$0")/lib.sh"

require_program python3 tc bridge
require_module zswitch zvnic zvtap
rm -rf "$TMP"
SEED=$SEED exec python3 "$(dirname "$0")/zvtap.py"
