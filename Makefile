# SPDX-License-Identifier: GPL-2.0
#
# Linux NDP.  "make help" lists what there is.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
B    := $(CURDIR)/build/$(KVER)
SRC  := Kbuild include net

.DEFAULT_GOAL := all

all: modules tools	## build the modules and the tools

# Kernels before 6.13 build modules in their source directory only, so each
# release gets a tree of links of its own.
$(B)/.tree: FORCE
	@mkdir -p $(B)
	@cp -rsf $(addprefix $(CURDIR)/,$(SRC)) $(B)/
	@find $(B) -xtype l -delete

$(B)/include/generated/ndp_compat.h: $(wildcard include/compat/probes/*.c) include/compat/probe.sh | $(B)/.tree
	@include/compat/probe.sh $(KDIR) $(B)/probe $@

modules: $(B)/include/generated/ndp_compat.h $(B)/.tree	## build the modules (KVER=release or KDIR=directory)
	$(MAKE) -C $(KDIR) M=$(B) modules

tools:			## build the tools
	$(MAKE) -C tools

clean:			## remove all build products
	rm -rf build

help:			## show this text
	@awk -F':.*## ' '/^[a-z][a-z-]*:.*## / { sub(/\t+$$/, "", $$1); printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

FORCE:
.PHONY: all modules tools clean help FORCE
