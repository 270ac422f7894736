// SPDX-License-Identifier: GPL-2.0
/* sk_memcg may carry flags. */
#include <linux/module.h>
#include <net/sock.h>

void *probe(const struct sock *sk);

void *probe(const struct sock *sk)
{
	return mem_cgroup_from_sk(sk);
}
MODULE_LICENSE("GPL");
