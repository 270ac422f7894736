# SPDX-License-Identifier: GPL-2.0
#
# Linux NDP.  "make help" lists the targets.

comma := ,
ifneq ($(words $(CURDIR))$(findstring :,$(CURDIR))$(findstring $(comma),$(CURDIR)),1)
$(error a space, colon or comma in this path is more than the kernel's build can take: $(CURDIR))
endif

# Only targets of the lab install missing packages; others print the command for it.
export NDP_INSTALL := $(or $(NDP_INSTALL),0)
LAB_TARGETS := check fuzz demo demo-vm bench vm lint deb
$(LAB_TARGETS): export NDP_INSTALL := 1

# K=6.1 or K=6.12 stands for the lab's kernel of that series, 6.12-arm64 for the one for arm64;
# the kernel's headers are fetched into a private directory.  U=fast, debug, kasan or kcsan is a
# kernel that the lab builds itself.
GOALS := $(or $(MAKECMDGOALS),all)
ifneq ($(K)$(U),)
ifneq ($(filter all modules headers install install-modules,$(GOALS)),)
ifneq ($(U),)
LAB  := $(shell NDP_INSTALL=$(NDP_INSTALL) tools/lab/build-kernel "$(U)" $(if $(K),"$(K)"))
export ARCH := $(patsubst ARCH=%,%,$(filter ARCH=%,$(LAB)))
else
LAB  := $(shell NDP_INSTALL=$(NDP_INSTALL) tools/lab/kernel "$(K)")
# W=1 needs Perl (for kernel-doc), so it is only for the lab.  All builds for a kernel have the
# same flags, or everything that lint has compiled would be compiled again.
W    ?= 1
endif
ifeq ($(LAB),)
$(error no kernel for$(if $(K), K=$(K))$(if $(U), U=$(U)))
endif
KVER := $(patsubst KVER=%,%,$(filter KVER=%,$(LAB)))
KDIR := $(patsubst KDIR=%,%,$(filter KDIR=%,$(LAB)))
KCC  := $(patsubst KCC=%,%,$(filter KCC=%,$(LAB)))

# If ccache is installed, nothing is compiled twice for the lab's kernels.  Debian's headers
# support it.  ccache relies on the compiler's list of headers (CCACHE_DEPEND), so a new file
# takes no longer than without it.
ifneq ($(shell command -v ccache),)
export CCACHE_DIR := $(or $(NDP_STATE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/linux-ndp)/ccache
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_MAXSIZE := 1G
export CCACHE_DEPEND := 1
export CCACHE_NOHASHDIR := 1
export CCACHE := ccache
export DEBIAN_KERNEL_USE_CCACHE := 1
LAB_CC := $(if $(U),CC="ccache gcc")
endif
endif
endif

# The headers have a file that tells their release, Debian's one of another name.
ifeq ($(KVER),)
ifeq ($(KDIR),)
KVER := $(shell uname -r)
else
KVER := $(firstword $(shell sed -n 's/^override KERNELRELEASE = //p' $(KDIR)/.kernelvariables 2>/dev/null) \
	  $(shell cat $(KDIR)/include/config/kernel.release 2>/dev/null) unknown)
endif
endif
KDIR    ?= /lib/modules/$(KVER)/build
B       ?= $(CURDIR)/build/$(KVER)
KBUILD  = $(MAKE) -C $(KDIR) $(LAB_CC) $(if $(W),W=$(W))
SRC     := Kbuild dkms.conf include net
NEED    := tools/lab/packages
# All packages that a build needs, so that they can be installed at once
NEED_TOOLS := gcc@gcc libc6-dev libmnl-dev
ifneq ($(filter all install install-tools tools,$(GOALS)),)
NEED_ALSO := $(NEED_TOOLS)
endif

DESTDIR ?=
PREFIX  ?= /usr/local
# The directory in which the distribution's tc and ip look for plugins
LIBDIR  ?= /usr/lib/$(shell $(CC) -print-multiarch 2>/dev/null)

.DEFAULT_GOAL := all

all: modules tools	## build the modules and the tools (for a kernel as below)

# Kernels before 6.13 build modules in their source directory only, so each
# release gets a tree of links of its own.
$(B)/.tree: headers FORCE
	@mkdir -p $(B)
	@cp -rsf $(addprefix $(CURDIR)/,$(SRC)) $(B)/
	@find $(B) -xtype l -delete

# The stamp may be newer than the header, which is not touched if its contents are the same.
# Flags for the modules (W=1, -Werror) must not influence the probes.
$(B)/.compat: include/compat/probes $(wildcard include/compat/probes/*.c) include/compat/probe.sh | $(B)/.tree
	@flock -o $(B)/.lock env -u MAKEFLAGS -u KCFLAGS include/compat/probe.sh $(KDIR) $(B)/probe $(B)/include/generated/ndp_compat.h
	@touch $@

modules: product-modules	## build the modules (KVER=release, KDIR=directory, K=6.1|6.12, U=fast|debug|kasan|kcsan)

product-modules: $(B)/.compat $(B)/.tree
	+flock -o $(B)/.lock $(KBUILD) M=$(B) modules

# Modules that only tests load, built in a tree of their own and never installed.
test-modules: product-modules
	@mkdir -p $(B)/tests
	@cp -rsf $(addprefix $(CURDIR)/,Kbuild dkms.conf net selftests/modules) $(B)/tests/
	@ln -sfn ../include $(B)/tests/include
	+flock -o $(B)/tests/.lock $(KBUILD) M=$(B)/tests TEST_TREE=m \
		KBUILD_EXTRA_SYMBOLS=$(B)/Module.symvers modules

# With one of the lab's kernels the modules for tests are built as well.
ifneq ($(K)$(U),)
modules: test-modules
endif

# Packages that a build against these headers needs; a message of its own for a kernel
# whose headers Debian does not have.
headers:
	@[ -e $(KDIR)/Makefile ] || { $(if $(filter unknown,$(KVER)),false,$(NEED) linux-headers-$(KVER) $(NEED_ALSO)) && \
		[ -e $(KDIR)/Makefile ]; } || { \
		echo "make: no headers of kernel $(KVER) in $(KDIR);" \
		     "name others: KVER=release, KDIR=directory, K=6.1 or K=6.12" >&2; exit 1; }
	@cc=$(or $(KCC),$$(sed -nE 's/^CC = .*(gcc-[0-9]+).*/\1/p' $(KDIR)/.kernelvariables 2>/dev/null | head -n 1)); \
		$(NEED) $${cc:-gcc}@$${cc:-gcc} libc6-dev $(if $(W),perl) $(NEED_ALSO) \
		$$([ ! -e $(KDIR)/vmlinux ] || echo 'pahole|dwarves@pahole')

tools:			## build the tools
	@$(NEED) $(NEED_TOOLS)
	$(MAKE) -C tools

selftests:		## build the tests
	@$(NEED) $(NEED_TOOLS)
	@tools/lab/source >/dev/null
	$(MAKE) -C selftests

# For the lab's machine with K=6.12-arm64; the programs are linked with that system's libraries.
arm64:			## build tools and tests for arm64, with the cross compiler
	@$(NEED) gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	@tools/lab/source >/dev/null
	root=$$(tools/lab/root arm64) && for d in tools selftests; do \
		CFLAGS="-O2 -g -Werror" $(MAKE) -C $$d OUT=$(CURDIR)/build/arm64/$$d \
			CC="aarch64-linux-gnu-gcc -idirafter $$root/usr/include -L$$root/usr/lib/aarch64-linux-gnu" || exit; \
	done

install: install-modules install-tools	## install modules, tools, headers (DESTDIR=, PREFIX=/usr/local; a kernel as above)

# Debian's headers lack the System.map without which modules_install skips depmod.
install-modules: modules
	$(MAKE) -C $(KDIR) M=$(B) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates \
		CONFIG_MODULE_SIG_ALL= modules_install
	$(if $(DESTDIR),,PATH="$$PATH:/usr/sbin:/sbin" depmod $(KVER))

install-tools: tools
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include/linux \
		$(DESTDIR)$(LIBDIR)/tc $(DESTDIR)$(LIBDIR)/ip
	install -m 755 $$(find build/tools -maxdepth 1 -type f -perm -u+x ! -name ndp_run) $(DESTDIR)$(PREFIX)/sbin
	install -m 755 build/tools/ndp_run $(DESTDIR)$(PREFIX)/bin
	install -m 644 build/tools/lib/libndp_run.so $(DESTDIR)$(LIBDIR)
	install -m 644 build/tools/lib/q_*.so $(DESTDIR)$(LIBDIR)/tc
	install -m 644 build/tools/lib/link_*.so $(DESTDIR)$(LIBDIR)/ip
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/wireshark/plugins tools/wireshark/ndp.lua
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/bash-completion/completions tools/completion/*
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 644 Documentation/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 Documentation/man/*.8 $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 644 include/uapi/linux/*.h $(DESTDIR)$(PREFIX)/include/linux

in-tree:		## put the modules' source into a kernel's (KERNEL=directory)
	@tools/in-tree "$(KERNEL)"

deb:			## Debian packages, in build/deb: modules by DKMS, tools, headers, documents
	@$(NEED) build-essential debhelper dh-dkms libmnl-dev lintian@lintian
	@tools/deb

$(LAB_TARGETS): host
host:
	@tools/lab/host

vm:			## a shell in a virtual machine (K=6.1|6.12)
	$(MAKE) modules K=$(or $(K),6.12)
	$(MAKE) tools
	tools/lab/run -k $(or $(K),6.12) -i

check:			## run the selftests, each where it belongs (K=kernel, T=test, SEED=n; FULL=1: all on 6.1 and 6.12, parts on other kernels)
	@$(NEED) python3@python3
	@tools/lab/check $(if $(FULL),--full) $(if $(K),-k "$(K)") $(if $(T),-t "$(T)") \
		$(if $(SEED),-s $(SEED))

fuzz:			## packets, options and messages at random on a debug kernel (HOURS=1, SEED=n)
	@tools/lab/fuzz $(or $(HOURS),1) $(SEED)

demo:			## what NDP is good for: three scenes beside TCP and DCTCP, a table and a picture
	@tools/lab/demo

demo-vm:		## what a lossless virtual switch and zFabric are good for: virtual machines, tables and a picture
	@tools/lab/demo-vm

bench:			## the experiments of the fabric lab (FULL=1, E=experiment, SEEDS=n)
	@$(NEED) python3@python3
	@tools/lab/bench $(if $(FULL),--full) $(if $(SEEDS),--seeds $(SEEDS)) $(E)

lint:			## W=1, sparse and checkpatch on Debian's 6.1, 6.12 and 6.12 for arm64 (K=6.1)
	@tools/lab/lint $(K)

clean:			## remove all build products
	rm -rf build

help:			## show this text
	@awk -F':.*## ' '/^[a-z][a-z0-9-]*:.*## / { sub(/\t+$$/, "", $$1); printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

FORCE:
.PHONY: all modules product-modules test-modules headers tools selftests arm64 install install-modules install-tools in-tree deb host vm check fuzz demo demo-vm bench lint clean help FORCE
