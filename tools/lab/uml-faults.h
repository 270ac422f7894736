/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compiled into the lab's user-mode Linux, which runs each process under ptrace: fewer stops
 * for a page fault, and no register written that has not changed.  On a machine that is itself
 * virtual a stop costs some 50 us of a processor, and so does PTRACE_SETREGSET, for which the
 * kernel maps pages.
 */

/* The process whose floating-point registers are fp_loaded, or 0 */
static int fp_pid;
static unsigned long fp_loaded[FP_SIZE];

/* Bytes of @fp that are in use.  Up to AVX-512 and protection keys they are the first 2696 of
 * the standard format; only AMX and what follows it (bit 10 and above of XSTATE_BV) need more.
 */
static size_t fp_bytes(const unsigned long *fp)
{
	return fp[512 / sizeof(*fp)] >> 10 ? sizeof(fp_loaded) : 2696;
}

/* As put_fp_registers().  The stub uses no such register, and the handler that tells of a
 * fault has them restored.
 */
static int load_fp_registers(int pid, unsigned long *fp)
{
	if (pid == fp_pid && !memcmp(fp_loaded, fp, fp_bytes(fp)))
		return 0;
	fp_pid = 0;
	return put_fp_registers(pid, fp);
}

/* As get_fp_registers() */
static int store_fp_registers(int pid, unsigned long *fp)
{
	int err = get_fp_registers(pid, fp);

	fp_pid = err ? 0 : pid;
	memcpy(fp_loaded, fp, fp_bytes(fp));
	return err;
}

/* Where no page is mapped the signal tells the address.  Whether it is a write is not told:
 * FAULT_UNTOLD lets handle_page_fault() take it for one where writing makes a private copy,
 * and for a read elsewhere.  Without this the process would run its handler of SIGSEGV, which
 * tells both, and stop once more.
 */
static int page_is_missing(siginfo_t *si, struct faultinfo *fi)
{
	if (si->si_code != SEGV_MAPERR)
		return 0;
	fi->error_code = FAULT_UNTOLD;
	fi->cr2 = (unsigned long)si->si_addr;
	fi->trap_no = 14;
	return 1;
}
