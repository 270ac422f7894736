/* SPDX-License-Identifier: GPL-2.0 */
/* UDP tunnels by their struct sock, as the newest interface has them. */
#ifndef _COMPAT_UDP_TUNNEL_H
#define _COMPAT_UDP_TUNNEL_H

#include <net/udp_tunnel.h>

#ifndef COMPAT_HAVE_UDP_TUNNEL_SK
#define setup_udp_tunnel_sock(net, sk, cfg)				\
	setup_udp_tunnel_sock(net, (sk)->sk_socket, cfg)
#define udp_tunnel_sock_release(sk)	udp_tunnel_sock_release((sk)->sk_socket)
#endif

#endif /* _COMPAT_UDP_TUNNEL_H */
