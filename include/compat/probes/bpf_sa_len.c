// SPDX-License-Identifier: GPL-2.0
/* A cgroup program that checks an address may change its length. */
#include <linux/bpf-cgroup.h>
#include <linux/module.h>

int probe(struct sock *sk, void *addr, int *len);

int probe(struct sock *sk, void *addr, int *len)
{
	return BPF_CGROUP_RUN_SA_PROG(sk, addr, len, CGROUP_INET4_CONNECT);
}
MODULE_LICENSE("GPL");
