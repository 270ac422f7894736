#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Compile each probe of include/compat/probes against a kernel and write a
# header with COMPAT_HAVE_<NAME> for each that compiles.
#
# Usage: probe.sh KDIR WORKDIR OUTPUT
set -eu

kdir=$1
work=$2
out=$3
probes=$(cd "$(dirname "$0")/probes" && pwd)

rm -rf "$work"
mkdir -p "$work" "$(dirname "$out")"
cp "$probes"/*.c "$work"/
{
	# A kernel may be configured to treat all warnings as errors.
	echo 'ccflags-y := -Wno-error -Werror=implicit-function-declaration'
	echo 'ccflags-y += -Werror=incompatible-pointer-types -Werror=int-conversion'
	for f in "$probes"/*.c; do
		echo "obj-m += $(basename "${f%.c}").o"
	done
} >"$work/Kbuild"

# Probes may fail; only the objects that appear count.
make -k -j"$(nproc)" -C "$kdir" M="$work" modules >"$work/log" 2>&1 || true

# A probe that every kernel passes tells a broken set-up from an old kernel.
if [ ! -e "$work/sanity.o" ]; then
	echo "probe.sh: cannot compile against $kdir:" >&2
	tail -20 "$work/log" >&2
	exit 1
fi

{
	echo '/* Written by the compile probes; do not edit. */'
	for f in "$probes"/*.c; do
		name=$(basename "${f%.c}")
		if [ -e "$work/$name.o" ]; then
			echo "#define COMPAT_HAVE_$(echo "$name" | tr a-z A-Z) 1"
		fi
	done
} >"$out.tmp"
if cmp -s "$out.tmp" "$out" 2>/dev/null; then
	rm "$out.tmp"
else
	mv "$out.tmp" "$out"
fi
