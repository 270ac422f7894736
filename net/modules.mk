# SPDX-License-Identifier: GPL-2.0
#
# Included at the end of each Kbuild that has modules.

ifeq ($(KBUILD_EXTMOD),)
# In a kernel tree (make in-tree): the flags that the top Kbuild sets for all objects out of tree
# are set for the objects of these modules only, as other modules may be in the same directory.
ours := ndp ndp_mprdma ndp_dcqcn ndp_light sch_ndp sch_cee netwire zswitch zvnic zvtap zbridge
$(foreach o,$(foreach m,$(ours),$($(m)-y)),$(eval CFLAGS_$(o) += \
	-include $(srctree)/include/compat/compat.h -idirafter $(srctree)/include/compat/fallback))
endif

# In the tests' tree (TEST_TREE=m) the modules themselves are not built.  On a kernel that has
# KUnit, for each module NAME a module NAME_test is built instead, if it has a suite: all
# objects of NAME, but X_test.o in place of X.o where there is an X_test.c.  X_test.c includes
# X.c, so the suites can call static functions, and the module that users load has no trace of
# them.

ifneq ($(TEST_TREE),)
kunit-object = $(if $(wildcard $(src)/$(1:.o=_test.c)),$(1:.o=_test.o),$(1))
kunit-has-suite = $(filter %_test.o,$($(1)_test-y))
names := $(basename $(obj-m))
$(foreach m,$(names),$(eval $(m)_test-y := $(foreach o,$($(m)-y),$(call kunit-object,$(o)))))
obj-m := $(if $(CONFIG_KUNIT),$(foreach m,$(names),$(if $(call kunit-has-suite,$(m)),$(m)_test.o)))
# NOTRACE: only the module that users load defines the tracepoints.
ccflags-y += -include $(src)/../kunit.h -D__DISABLE_EXPORTS -DNOTRACE
endif
