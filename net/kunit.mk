# SPDX-License-Identifier: GPL-2.0
#
# Included at the end of a module's Kbuild.  In the tests' tree (TEST_TREE=m) the module
# itself is not built.  On a kernel that has KUnit a module NAME_test is built
# instead: all objects of NAME, but X_test.o in place of X.o where there is an X_test.c.
# X_test.c includes X.c, so the suites can call static functions, and the module that
# users load has no trace of them.

ifneq ($(TEST_TREE),)
name := $(basename $(obj-m))
$(name)_test-y := $(foreach o,$($(name)-y),$(if $(wildcard $(src)/$(o:.o=_test.c)),$(o:.o=_test.o),$(o)))
obj-m := $(if $(and $(CONFIG_KUNIT),$(wildcard $(src)/*_test.c)),$(name)_test.o)
ccflags-y += -include $(src)/../kunit.h -D__DISABLE_EXPORTS
endif
