/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a connection is played by the test: packets that the kernel's end sends are recorded,
 * and answered as the test likes.  To be included after "middle.h".
 */
#ifndef _LIAR_H
#define _LIAR_H

#define ROOM		1000000		/* window advertised */

/* Packets that the kernel has sent. */
static struct {
	int		count[TYPES];
	struct packet	first[TYPES];
	struct packet	last[TYPES];
	struct packet	first_again;	/* latest copy of the first PSN's DATA */
	__u32		highest;	/* highest PSN of DATA */
	__u32		fresh;		/* payload, bytes, without retransmissions */
	__u32		longest;	/* longest payload of a packet, bytes */
	__u32		window;		/* first window, bytes */
	__u32		bytes;		/* of all packets, IP headers included */
	__u64		only;		/* the only conn_id recorded; 0: all are */
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

/* An answer to @p, whose checksum the caller computes (seal()). */
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
	/* Echo path; in a COOKIE the transport instead, 0: NDP's own. */
	h->len = type == COOKIE ? 0 : h->path;
	h->psn_off = htonl(pull);
	h->window = htonl(window);
	turn_round(&answer);
	return answer;
}

/* Send an answer to the sender of @p. */
static inline void tell(const struct packet *p, int type, int flags, __u32 psn, __u32 pull,
			__u32 window)
{
	struct packet answer = answer_to(p, type, flags, psn, pull, window);

	seal(&answer);
	arrive(&answer);
}

/*
 * Send a joined ACK: of @psn, and, by a bitmap in @len bytes behind the header, of the packets @map
 * from @first on.  The bits @spoilt of the bitmap's CRC are wrong.
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

/* Turn @p into DATA of one byte: the @off-th packet of a direction that begins with PSN 1000. */
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

/* Send DATA of one byte, the @off-th packet of the opening's sender. */
static inline void drop_by_drop(const struct packet *opening, __u32 off)
{
	struct packet p = *opening;

	make_data(&p, off, off ? 0 : SYN);
	seal(&p);
	arrive(&p);
}

/* Send such DATA to the sender of @p, with @window; trimmed unless @whole. */
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

/* Let a socket of the far end open a connection, and record its first packet alone. */
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
