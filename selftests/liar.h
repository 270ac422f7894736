/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a connection in the test's own hands: what the kernel's end sends is heard,
 * and answered as the test likes.  Behind "middle.h".
 */
#ifndef _LIAR_H
#define _LIAR_H

#define ROOM		1000000		/* window advertised */

/* What came from the kernel. */
static struct {
	int		count[TYPES];
	struct packet	first[TYPES];
	struct packet	last[TYPES];
	struct packet	first_again;	/* DATA of the first PSN, as last sent */
	__u32		highest;	/* PSN */
	__u32		fresh;		/* payload, retransmissions left out */
	__u32		longest;	/* payload */
	__u32		window;		/* the first, bytes */
	__u32		bytes;		/* of IP packets */
	__u64		only;		/* conn_id; 0: of all connections */
} heard;

static inline void listen_only(struct packet *p)
{
	int type = ndp_type(p);
	__u32 psn = ntohl(ndp_of(p)->psn);
	__u16 len = ntohs(ndp_of(p)->len);

	if (heard.only && ndp_of(p)->conn_id != heard.only)
		return;
	if (!heard.count[type]++)
		heard.first[type] = *p;
	heard.last[type] = *p;
	if (type == DATA && psn == ntohl(ndp_of(&heard.first[DATA])->psn))
		heard.first_again = *p;
	heard.bytes += p->len;
	if (type == DATA && (heard.count[DATA] == 1 || (__s32)(psn - heard.highest) > 0)) {
		heard.highest = psn;
		heard.fresh += len;
	}
	if (type == DATA && len > heard.longest)
		heard.longest = len;
}

/* An answer to @p, to be sealed. */
static inline struct packet answer_to(const struct packet *p, int type, int flags, __u32 psn,
				      __u32 pull, __u32 window)
{
	struct packet answer = *p;
	struct header *h = ndp_of(&answer);
	__u16 port = h->sport;

	resize(&answer, HDR_LEN);
	set_dscp(&answer, DSCP_CONTROL);
	h->vdt = (h->vdt ^ FROM_ACCEPTOR) & 0xf0;
	h->vdt |= type;
	h->flags = flags;
	h->sport = h->dport;
	h->dport = port;
	h->psn = htonl(psn);
	/* Of a COOKIE it is the transport: NDP's. */
	h->len = type == COOKIE ? 0 : h->path;
	h->psn_off = htonl(pull);
	h->window = htonl(window);
	turn_round(&answer);
	return answer;
}

/* To who sent @p. */
static inline void tell(const struct packet *p, int type, int flags, __u32 psn, __u32 pull,
			__u32 window)
{
	struct packet answer = answer_to(p, type, flags, psn, pull, window);

	seal(&answer);
	arrive(&answer);
}

/*
 * An ACK of @psn that names the packets @map from @first on as well, in @len bytes behind its
 * header, of which @spoilt bits are wrong.
 */
static inline void tell_acks(const struct packet *p, __u32 psn, __u32 first, __u64 map, int len,
			     __u32 spoilt)
{
	struct packet answer = answer_to(p, ACK, HAS_PULL | ACKS, psn, 0, ROOM);
	__u8 *at = (__u8 *)(ndp_of(&answer) + 1);
	__u32 word[4] = { htonl(map >> 32), htonl((__u32)map), htonl(first) };

	word[3] = htonl(crc32c((__u8 *)word, 12) ^ spoilt);
	resize(&answer, HDR_LEN + len);
	memcpy(at, word, len);
	seal(&answer);
	arrive(&answer);
}

/* Make DATA of @p: one byte, its direction's @off-th packet, which has PSN 1000 first. */
static inline void make_data(struct packet *p, __u32 off, int flags)
{
	struct header *h = ndp_of(p);
	__u32 crc;

	resize(p, HDR_LEN + CRC_LEN + 1);
	h->flags = flags;
	h->len = htons(1);
	h->psn = htonl(off + 1000);
	h->psn_off = htonl(off);
	*((__u8 *)(h + 1) + CRC_LEN) = byte_at(off);
	crc = htonl(crc32c((__u8 *)(h + 1) + CRC_LEN, 1));
	memcpy(h + 1, &crc, sizeof(crc));
}

/* One byte of DATA, the connection's @off-th packet. */
static inline void drop_by_drop(const struct packet *opening, __u32 off)
{
	struct packet p = *opening;

	make_data(&p, off, off ? 0 : SYN);
	seal(&p);
	arrive(&p);
}

/* The same to who sent @p, with @window; not @whole: trimmed. */
static inline void tell_data(const struct packet *p, __u32 off, int flags, __u32 window,
			     bool whole)
{
	struct packet data = answer_to(p, DATA, 0, 0, 0, window);

	make_data(&data, off, flags);
	set_dscp(&data, whole ? DSCP_DATA : DSCP_TRIMMED);
	if (!whole)
		resize(&data, HDR_LEN + CRC_LEN);
	seal(&data);
	arrive(&data);
}

/* The first packet of a connection that a socket of the far end opens, and no more. */
static inline bool an_opening(struct packet *p)
{
	int s = new_socket(FAR, SOCK_NONBLOCK);
	union address to = address(NEAR, port);

	memset(&heard, 0, sizeof(heard));
	meddle = listen_only;
	connect(s, &to.any, address_len());
	send(s, "x", 1, MSG_NOSIGNAL);
	settle();
	close_hard(s);
	settle();
	*p = heard.first[DATA];
	return heard.count[DATA];
}

#endif /* _LIAR_H */
