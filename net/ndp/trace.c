// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP tracepoints, and the function that changes a socket's state and traces that.
 *
 * Non-goals: counters (stat.c).
 */
#include "queue.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * ndp_set_state - change a socket's state
 * @sk:		socket
 * @state:	TCP_SYN_SENT, TCP_ESTABLISHED, TCP_CLOSE or TCP_LISTEN
 *
 * Lockless readers of the state see what was written before it.
 *
 * Context: any; nobody else may change the state at the same time.
 */
void ndp_set_state(struct sock *sk, int state)
{
	trace_ndp_state(ndp_sk(sk), sk->sk_state, state);
	/* Pairs with smp_load_acquire() in ndp_poll(). */
	smp_store_release(&sk->sk_state, state);
}
