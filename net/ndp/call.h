/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, what applications and operators call: sockets, options, netlink.
 */
#ifndef _NDP_CALL_H
#define _NDP_CALL_H

#include <linux/poll.h>
#include "conn.h"

/* af_ndp.c */
extern int ndp_family;

/* connect.c */
int ndp_check_addr(const struct sock *sk, const struct sockaddr *addr, int len);
void ndp_conn_renew(struct sock *sk);
int ndp_connect_locked(struct socket *sock, struct sockaddr *addr, int len,
		       int flags);

/* stream.c */

/**
 * struct ndp_queued - bytes that wait in a connection's queues
 * @in:		received bytes that can be read, or wait behind a part of another message
 * @out:	bytes that were written, and are not acknowledged
 * @unsent:	part of @out that was not sent yet
 */
struct ndp_queued {
	u32	in;
	u32	out;
	u32	unsent;
};

int ndp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int ndp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
int ndp_fill_list(struct ndp_sock *np, struct sk_buff_head *list, struct msghdr *msg,
		  size_t len);
struct sk_buff *ndp_unlink_tail(struct ndp_sock *np, struct sk_buff_head *queue);
int ndp_send_begin(struct socket *sock, struct msghdr *msg, long *timeo);

/* Memory that @len bytes of payload are charged with. */
static inline u32 ndp_send_truesize(const struct ndp_sock *np, size_t len)
{
	return len + DIV_ROUND_UP(len, np->mss) * SKB_TRUESIZE(NDP_HEADROOM);
}

bool ndp_send_reserve(struct ndp_sock *np, u32 size);
void ndp_send_unreserve(struct ndp_sock *np);
int ndp_send_wait(struct sock *sk, u32 size, long *timeo);
void ndp_send_abort_late(struct ndp_sock *np);
bool ndp_rx_at_end(const struct sock *sk);
int ndp_rx_ended(struct sock *sk);
int ndp_rx_may_wait(long timeo);
int ndp_rx_wait(struct sock *sk, long *timeo, const struct sk_buff *tail);
void ndp_rx_consumed(struct ndp_sock *np, u32 n);
void ndp_rx_stamp(const struct sock *sk, struct sk_buff *skb,
		  struct sk_buff **stamped);
void ndp_open_now(struct ndp_sock *np);
__poll_t ndp_poll(struct file *file, struct socket *sock, poll_table *wait);
struct ndp_queued ndp_queued(struct ndp_sock *np);
int ndp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

/* message.c */
int ndp_msg_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int ndp_msg_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		    int flags);

/* option.c */
u8 ndp_info_state(const struct ndp_sock *np);
void ndp_fill_info(struct ndp_sock *np, struct ndp_info *info);
int ndp_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen);
int ndp_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen);

/* tcp_option.c */
void ndp_tcp_options_init(struct ndp_sock *np);
int ndp_tcp_setsockopt(struct sock *sk, int optname, int val);
int ndp_tcp_getsockopt(const struct sock *sk, int optname, int *val);
void ndp_tcp_info(struct ndp_sock *np, struct tcp_info *info);
void ndp_keepalive(struct sock *sk, int on);

/* diag.c */
void ndp_diag_init(void);
void ndp_diag_exit(void);

/* netlink.c */
int ndp_netlink_init(void);
void ndp_netlink_exit(void);

/* netlink_dev.c */
int ndp_nl_dev_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* repair.c */
#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)
bool ndp_repair_on(const struct net_device *dev);
int ndp_repair_add(struct net_device *dev);
int ndp_repair_del(struct net_device *dev);
int ndp_repair_init(void);
void ndp_repair_exit(void);
#else
static inline bool ndp_repair_on(const struct net_device *dev)
{
	return false;
}

static inline int ndp_repair_add(struct net_device *dev)
{
	return -EOPNOTSUPP;
}

static inline int ndp_repair_del(struct net_device *dev)
{
	return -ENOENT;
}

static inline int ndp_repair_init(void)
{
	return 0;
}

static inline void ndp_repair_exit(void)
{
}
#endif

#endif /* _NDP_CALL_H */
