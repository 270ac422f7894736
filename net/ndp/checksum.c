// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP checksums: that of the NDP header, which covers the addresses too, and the
 * CRC-32C of payloads (Documentation/wire-format.md).
 *
 * Both are computed for each packet at one end and verified at the other, usually over a
 * header and one page fragment.  csum_partial(), made for long buffers, and skb_seq_read(),
 * made for any skb, cost more there.
 *
 * Non-goals: offload to devices, none of which supports either checksum.
 */
#include <linux/crc32c.h>
#include <linux/highmem.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include "ip.h"

/* Sum of 16 bytes, without a loop: each packet needs four of these sums at each end. */
static u64 ndp_sum16(const void *data)
{
	const u32 *word = data;

	return (u64)word[0] + word[1] + word[2] + word[3];
}

/**
 * ndp_ip_checksum - the NDP header's checksum
 * @nh:		header
 * @saddr:	source address
 * @daddr:	destination address
 *
 * The ffff of an IPv4-mapped address adds nothing to a one's complement sum.
 *
 * Return: 0 if @nh's checksum is right; if that field is 0, the checksum to put there.
 */
__sum16 ndp_ip_checksum(const struct ndphdr *nh, const struct in6_addr *saddr,
			const struct in6_addr *daddr)
{
	u64 sum = ndp_sum16(nh) + ndp_sum16((const u8 *)nh + 16);

	BUILD_BUG_ON(sizeof(*nh) != 32);
	sum += ndp_sum16(saddr) + ndp_sum16(daddr);
	/* The sum of 16 words has 36 bits: fold the upper ones in, then the carry of that. */
	sum = (u32)sum + (sum >> 32);
	return csum_fold((__force __wsum)((u32)sum + (u32)(sum >> 32)));
}

static u32 ndp_frag_crc(u32 crc, const skb_frag_t *frag, u32 off, u32 len)
{
	u32 page_off, page_len, done;
	struct page *page;
	void *data;

	/* Device memory has no page and cannot be read: the CRC will not match. */
	if (!skb_frag_page(frag))
		return crc;
	skb_frag_foreach_page(frag, skb_frag_off(frag) + off, len, page, page_off, page_len, done) {
		data = kmap_local_page(page);
		crc = crc32c(crc, data + page_off, page_len);
		kunmap_local(data);
	}
	return crc;
}

/* CRC of any skb, also of one with a frag list, such as a packet that IP reassembled. */
static u32 ndp_skb_crc_any(struct sk_buff *skb, u32 off, u32 len)
{
	struct skb_seq_state st;
	u32 consumed = 0, crc = ~0U, n;
	const u8 *data;

	skb_prepare_seq_read(skb, off, off + len, &st);
	while ((n = skb_seq_read(consumed, &data, &st))) {
		/* The last block may extend beyond the range asked for. */
		n = min(n, len - consumed);
		crc = crc32c(crc, data, n);
		consumed += n;
	}
	return crc;
}

/* CRC of an skb whose data is in its head and page fragments. */
static u32 ndp_skb_crc_pages(const struct sk_buff *skb, int off, int len)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags;
	const skb_frag_t *end = frag + skb_shinfo(skb)->nr_frags;
	int n = min(len, (int)skb_headlen(skb) - off);
	u32 crc = ~0U;

	if (n > 0) {
		crc = crc32c(crc, skb->data + off, n);
		off += n;
		len -= n;
	}
	for (off -= skb_headlen(skb); len && frag < end; frag++) {
		n = min(len, (int)skb_frag_size(frag) - off);
		if (n > 0) {
			crc = ndp_frag_crc(crc, frag, off, n);
			off += n;
			len -= n;
		}
		off -= skb_frag_size(frag);
	}
	return crc;
}

/**
 * ndp_skb_crc - CRC-32C of a part of an skb
 * @skb:	skb, linear or not
 * @off:	where the part begins, bytes
 * @len:	its length, bytes
 *
 * Return: CRC as it is on the wire, in host byte order.
 */
u32 ndp_skb_crc(struct sk_buff *skb, int off, int len)
{
	return ~(skb_has_frag_list(skb) ? ndp_skb_crc_any(skb, off, len) :
					  ndp_skb_crc_pages(skb, off, len));
}
