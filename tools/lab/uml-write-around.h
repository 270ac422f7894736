/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compiled into the lab's user-mode Linux: the write half of fault_around_bytes.  Processes write
 * to neighbouring pages in turn, when they start and after a fork(), and each page fault costs
 * two to four stops under ptrace.
 */

#define WRITE_AROUND	65536UL

/* Make the pages behind a private page that was written writable as well, up to the next
 * multiple of WRITE_AROUND, and where no file has to be read for that.
 * Context: mmap_lock is held for reading.
 */
static void write_around(struct vm_area_struct *vma, unsigned long address)
{
	unsigned long end = min(vma->vm_end, (address | (WRITE_AROUND - 1)) + 1);
	pte_t *pte;

	if (vma->vm_flags & VM_SHARED)
		return;
	for (address = (address & PAGE_MASK) + PAGE_SIZE; address < end; address += PAGE_SIZE) {
		pte = pte_offset_kernel(pmd_off(vma->vm_mm, address), address);
		if (pte_present(*pte) && pte_write(*pte) && pte_dirty(*pte))
			continue;
		if (!pte_present(*pte) && !vma_is_anonymous(vma))
			return;
		if (handle_mm_fault(vma, address, FAULT_FLAG_WRITE, NULL) &
		    (VM_FAULT_ERROR | VM_FAULT_RETRY | VM_FAULT_COMPLETED))
			return;
		flush_tlb_page(vma, address);
	}
}
