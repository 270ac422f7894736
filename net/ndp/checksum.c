// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP checksums: that of the NDP header, which covers the addresses too, and the
 * CRC-32C of payloads (Documentation/wire-format.md).
 *
 * Each packet has both made at one end and tried at the other, most often of a header and of
 * one page fragment: neither csum_partial(), which is for long buffers, nor skb_seq_read(),
 * which is for any skb, costs as little there.
 *
 * Non-goals: what is offloaded to devices.  None of them knows either.
 */
#include <linux/crc32c.h>
#include <linux/highmem.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include "ip.h"

/* Of 16 bytes: no loop, as each packet has four of these at each end. */
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
 * What maps an address of IPv4, ffff, adds nothing to a one's complement sum.
 *
 * Return: 0 if @nh has the right one, or what it must be if that is 0.
 */
__sum16 ndp_ip_checksum(const struct ndphdr *nh, const struct in6_addr *saddr,
			const struct in6_addr *daddr)
{
	u64 sum = ndp_sum16(nh) + ndp_sum16((const u8 *)nh + 16);

	BUILD_BUG_ON(sizeof(*nh) != 32);
	sum += ndp_sum16(saddr) + ndp_sum16(daddr);
	/* The sum of 16 words has 36 bits; what is over 32 is added twice, the second time a 1. */
	sum = (u32)sum + (sum >> 32);
	return csum_fold((__force __wsum)((u32)sum + (u32)(sum >> 32)));
}

static u32 ndp_frag_crc(u32 crc, const skb_frag_t *frag, u32 off, u32 len)
{
	u32 page_off, page_len, done;
	struct page *page;
	void *data;

	/* Memory of a device has no page and cannot be read: the CRC will be another. */
	if (!skb_frag_page(frag))
		return crc;
	skb_frag_foreach_page(frag, skb_frag_off(frag) + off, len, page, page_off, page_len, done) {
		data = kmap_local_page(page);
		crc = crc32c(crc, data + page_off, page_len);
		kunmap_local(data);
	}
	return crc;
}

/* Of any skb: pieces of a packet that IP has put together are a list. */
static u32 ndp_skb_crc_any(struct sk_buff *skb, u32 off, u32 len)
{
	struct skb_seq_state st;
	u32 consumed = 0, crc = ~0U, n;
	const u8 *data;

	skb_prepare_seq_read(skb, off, off + len, &st);
	while ((n = skb_seq_read(consumed, &data, &st))) {
		/* The last block is not cut to what was asked for. */
		n = min(n, len - consumed);
		crc = crc32c(crc, data, n);
		consumed += n;
	}
	return crc;
}

/* Of one whose data is its head and page fragments. */
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
 * @off:	where
 * @len:	how much
 *
 * Return: CRC as it stands on the wire, in host order.
 */
u32 ndp_skb_crc(struct sk_buff *skb, int off, int len)
{
	return ~(skb_has_frag_list(skb) ? ndp_skb_crc_any(skb, off, len) :
					  ndp_skb_crc_pages(skb, off, len));
}
