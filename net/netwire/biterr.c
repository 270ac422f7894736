// SPDX-License-Identifier: GPL-2.0
/*
 * netwire: bit errors.
 *
 * Each bit on the wire is wrong with probability p, independently.  Instead of
 * a random number per bit or per frame, the distance to the next wrong bit is
 * drawn, and each frame reduces it by its length.  So frames are corrupted with
 * the exact probability 1 - (1 - p)^bits whatever their length, frames with
 * several wrong bits occur as often as they should, and an error-free wire
 * costs one comparison.  The distance is exponentially distributed: -ln(U) / p.
 *
 * Non-goals: bursts, and errors that depend on the data.
 */
#include <linux/bitops.h>
#include <linux/etherdevice.h>
#include <linux/math64.h>
#include <linux/random.h>
#include "netwire.h"

#define LN2_Q64		0xb17217f7d1cf79acULL	/* ln(2) * 2^64 */

/* -log2(u / 2^64) with 32 fractional bits, for u > 0 */
static u64 netwire_neg_log2(u64 u)
{
	unsigned int whole = fls64(u) - 1;
	u64 m = u << (63 - whole);	/* [1, 2) with 63 fractional bits */
	u64 log = whole;
	int i;

	for (i = 0; i < 32; i++) {
		u64 sq = mul_u64_u64_shr(m, m, 64);	/* m^2, 62 bits */

		log <<= 1;
		if (sq >> 63) {
			log |= 1;
			m = sq;
		} else {
			m = sq << 1;
		}
	}
	return (64ULL << 32) - log;
}

/**
 * netwire_good_bits() - draw the number of good bits before the next bad one
 * @ber: probability of a bit error in NETWIRE_BER_UNIT, not 0
 *
 * A draw beyond 18 times the mean (one in 65 million) is clamped to that, which
 * keeps the product within 64 bits for the smallest @ber.
 */
u64 netwire_good_bits(u64 ber)
{
	u64 e;

	e = mul_u64_u64_shr(netwire_neg_log2(get_random_u64() | 1), LN2_Q64, 64);
	e = min(e, 18ULL << 32);
	/* four more bits keep the mean true to 10^-4 at the largest @ber */
	return mul_u64_u64_shr(e, div64_u64(NETWIRE_BER_UNIT << 4, ber), 36);
}

/**
 * netwire_bit_errors() - count the bit errors in the next frame of a direction
 * @dir: the direction, locked
 * @bits: length of the frame with its FCS
 */
u32 netwire_bit_errors(struct netwire_dir *dir, unsigned int bits)
{
	u64 pos = dir->good_bits;
	u32 errors = 0;

	if (!dir->params.ber)
		return 0;
	while (pos < bits) {
		errors++;
		pos += 1 + netwire_good_bits(dir->params.ber);
	}
	dir->good_bits = pos - bits;
	return errors;
}

static void netwire_flip(struct sk_buff *skb, u32 bit)
{
	skb->data[ETH_HLEN + bit / BITS_PER_BYTE] ^= BIT(bit % BITS_PER_BYTE);
}

static void netwire_flip_bits(struct sk_buff *skb, u32 errors)
{
	u32 bits = (skb->len - ETH_HLEN) * BITS_PER_BYTE;
	u32 first = get_random_u32_below(bits);

	netwire_flip(skb, first);
	while (--errors) {
		u32 bit = get_random_u32_below(bits);

		/* never flip a bit back: a frame counted as corrupted must differ */
		if (bit != first)
			netwire_flip(skb, bit);
	}
}

/**
 * netwire_corrupt() - flip bits after the Ethernet header
 * @skb: the frame, with data at its Ethernet header; consumed
 * @errors: number of wrong bits, at least 1
 *
 * Works on a copy, since the sender may hold a clone for retransmission or the
 * pages of a file.  A checksum that the sender left to the device is computed
 * first: computed later, it would vouch for the flipped bits.
 *
 * Return: the corrupted copy, or NULL without memory.
 */
struct sk_buff *netwire_corrupt(struct sk_buff *skb, u32 errors)
{
	struct sk_buff *copy = skb_copy(skb, GFP_ATOMIC);

	consume_skb(skb);
	if (!copy)
		return NULL;
	if (copy->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(copy)) {
		kfree_skb(copy);
		return NULL;
	}
	copy->ip_summed = CHECKSUM_NONE;
	if (copy->len > ETH_HLEN)
		netwire_flip_bits(copy, errors);
	return copy;
}
