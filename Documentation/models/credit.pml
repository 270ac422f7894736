/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The credit protocol of zfabric (../zfabric.md; net/zswitch/credit.c) between a sender and the
 * receiver's end of a vNIC.  In each run up to TROUBLES faults occur, of any kinds and at any time:
 * a control message is lost, duplicated, or overtaken by another; a frame is lost; an ask is
 * repeated early; credit is returned although more frames will be sent; the sender or the receiver
 * restarts.  Checked by tools/lab/models:
 *
 *  - frames in flight, frames that wait at the receiver and credit that may be used never exceed
 *    SIZE together, so no credit is created (bounded());
 *  - the run ends: there is no deadlock, and since faults are limited, any cycle is an error;
 *  - at its end all frames have been sent and all credit has been returned, so no credit is lost
 *    permanently.
 *
 * A frame costs one credit, so asks are granted in parts, of any size.  A time in which every frame
 * in flight has arrived or is lost is modelled as "no frame is in flight", and the same for
 * messages.  Counters are modulo 8, instead of 2^32.
 *
 * Not modelled: frames of many credits, whose asks are granted whole or not at all; other senders,
 * and their turns; forged messages.
 */
#define SIZE	2
#define FRAMES	3
#define INC(c)	(((c) + 1) % 8)
#define SUB(a, b)	(((a) - (b) + 8) % 8)
/* Credits that may be granted beyond the last ask */
#define AHEAD	1
#define WITHIN(c, from, told)	(SUB(c, from) <= SUB(((told) + AHEAD) % 8, from))
#ifndef TROUBLES
#define TROUBLES	3
#endif

/* Each BREAK_... breaks one rule; spin must find an error then. */
#ifdef BREAK_QUIET
#define QUIET	false
#else
#define QUIET	quiet	/* A restarted receiver grants nothing until earlier grants have lapsed. */
#endif
#ifdef BREAK_SETTLED
#define SETTLED	src_arrived
#else
#define SETTLED	s	/* The receiver does not wait for settled frames. */
#endif
#ifdef BREAK_LAPSE
#define LAPSES	false
#else
#define LAPSES	true	/* Credit granted to a silent sender is returned. */
#endif
#ifdef BREAK_PART
#define GRANTED	asked
#else
#define GRANTED	n	/* A grant may be for a part of the ask. */
#endif
#ifdef BREAK_VOID
#define ARRIVED	true
#else
#define ARRIVED	(acked == used)	/* Returned credit is settled at once if all frames have arrived. */
#endif
#ifdef BREAK_EPOCH
#define OURS	true
#else
#define OURS	(e == epoch && p == peer)	/* Other pairs' messages change nothing. */
#endif

mtype = { ASK, HELLO, GRANT };

/* ASK: epochs of sender and receiver, asked, settled.  Others: epochs, granted, arrived. */
chan to_receiver = [2] of { mtype, byte, byte, byte, byte };
chan to_sender = [2] of { mtype, byte, byte, byte, byte };

/* Sender */
byte epoch = 1, peer, asked, told, granted, used, settled, acked;
byte left = FRAMES;

/* Receiver: epochs and counters of the pair, its own epoch for the next pair */
byte src_epoch, src_peer, nonce = 1, src_asked, src_told, src_granted, src_arrived;
byte queued, last_nonce = 1;
bool quiet;

byte flying;
byte troubles = TROUBLES;

/* No frame and no message to the sender is in flight, and the sender has no unused credit. */
#define LAPSED	(flying == 0 && granted == used && len(to_sender) == 0)
/* The sender belongs to another pair by now, or has no reason to repeat its ask. */
#define SILENT	(epoch != src_epoch || peer != src_peer || asked == used && acked == used)
#define OUT	(SUB(src_granted, src_arrived) + queued)
#define ROOM	(OUT < SIZE)
#define LAPSING	(src_granted != src_arrived && LAPSES && SILENT && LAPSED)
#define GRANTING	(src_asked != src_granted && !QUIET && ROOM)
/* The sender's zcr_repeat() */
#define UNSURE	(asked != used || acked != used)
/* Nothing can happen before a timer expires. */
#define CALM	(len(to_receiver) == 0 && LAPSED && settled == used && queued == 0 && !quiet && \
		 !GRANTING && !LAPSING)

inline bounded()
{
	assert(flying + queued + SUB(granted, used) <= SIZE);
}

inline send_ask()
{
	told = asked;
	if
	:: nfull(to_receiver) -> to_receiver!ASK(epoch, peer, asked, settled)
	:: full(to_receiver)	/* The ask is lost, and is repeated. */
	fi
}

inline answer(type, e, p)
{
	if
	:: nfull(to_sender) -> to_sender!type(e, p, src_granted, src_arrived)
	:: full(to_sender)
	fi
}

inline sender_begins()
{
	epoch++;
	asked = 0; told = 0; granted = 0; used = 0; settled = 0; acked = 0;
}

active proctype sender()
{
	byte e, p, n, a;

	do
	:: atomic { SUB(asked, used) < left && SUB(asked, granted) < SIZE ->
		asked = INC(asked);
		send_ask() }
	:: atomic { granted != used && left > 0 ->
		used = INC(used); left--; flying++;
		bounded() }
	/* Credit that no frame waits for is returned; as a fault, although more frames follow. */
	:: atomic { granted != used && (left == 0 || troubles > 0) ->
		if
		:: left == 0
		:: left > 0 -> troubles--
		fi;
		if
		:: ARRIVED -> settled = granted
		:: !ARRIVED
		fi;
		used = granted }
	:: atomic { to_sender?HELLO(e, p, n, a) ->
		if
		:: e == epoch && peer == 0 -> peer = p; send_ask()
		:: e == epoch && peer != 0 && p != peer ->
			/* The receiver does not know us any more. */
			sender_begins(); peer = p
		:: else
		fi;
		e = 0; p = 0; n = 0; a = 0 }
	:: atomic { to_sender?GRANT(e, p, n, a) ->
		if
		:: OURS ->
			if
			:: WITHIN(n, granted, told) ->
				granted = GRANTED;
				if
				:: SUB(granted, asked) <= AHEAD -> asked = granted
				:: else
				fi
			:: else
			fi;
			if
			:: SUB(a, acked) <= SUB(used, acked) -> acked = a
			:: else
			fi
		:: else
		fi;
		bounded();
		e = 0; p = 0; n = 0; a = 0 }
	/* So long after the last frame that each one has arrived or is lost */
	:: atomic { settled != used && flying == 0 -> settled = used }
	:: atomic { troubles > 0 -> troubles--; peer = 0; sender_begins() }
	:: atomic { CALM && UNSURE -> send_ask() }
	/* An ask is repeated early. */
	:: atomic { troubles > 0 && UNSURE -> troubles--; send_ask() }
	:: atomic { CALM && !UNSURE && left == 0 -> assert(OUT == 0); break }
	od
}

active proctype receiver()
{
	byte e, p, n, s;

end:	do
	:: atomic { to_receiver?ASK(e, p, n, s) ->
		if
		:: e == src_epoch && p == src_peer ->
			/* Settled frames that have not arrived are lost. */
			if
			:: SUB(SETTLED, src_arrived) <= SUB(src_granted, src_arrived) ->
				src_arrived = SETTLED
			:: else
			fi;
			if
			:: SUB(n, src_granted) <= SIZE && SUB(n, src_asked) <= SIZE -> src_asked = n
			:: else
			fi;
			if
			:: SUB(n, src_told) <= SIZE + AHEAD -> src_told = n
			:: else
			fi;
			answer(GRANT, e, p)
		:: e == src_epoch && p != src_peer	/* late, ignored */
		:: e != src_epoch && p == nonce && src_granted == src_arrived ->
			src_epoch = e; src_peer = p;
			last_nonce++; nonce = last_nonce;
			src_asked = n; src_told = n; src_granted = 0; src_arrived = 0
		:: e != src_epoch && p == nonce && src_granted != src_arrived
			/* Credit of the previous incarnation must be used, or lapse, first. */
		:: e != src_epoch && p != nonce ->
			answer(HELLO, e, nonce)
		fi;
		e = 0; p = 0; n = 0; s = 0 }
	/* Grant as much as there is room for, or a part of that. */
	:: atomic { GRANTING ->
		do
		:: src_granted = INC(src_granted);
			if
			:: src_asked != src_granted && ROOM
			:: break
			fi
		od;
		answer(GRANT, src_epoch, src_peer) }
	:: atomic { flying > 0 ->
		flying--; queued++;
		if
		:: src_arrived != src_granted -> src_arrived = INC(src_arrived)
		:: else	/* The frame came without credit. */
		fi;
		/* Grant one more credit without an ask, or do not. */
		if
		:: src_epoch != 0 && src_asked == src_granted && !QUIET && ROOM &&
		   src_granted == src_told ->
			src_granted = INC(src_granted);
			src_asked = src_granted;
			answer(GRANT, src_epoch, src_peer)
		:: true
		fi;
		bounded() }
	:: atomic { queued > 0 -> queued-- }
	/* The sender is silent for so long that its frames have arrived or are lost: forget it. */
	:: atomic { LAPSING ->
		src_epoch = 0; src_peer = 0; last_nonce++; nonce = last_nonce;
		src_asked = 0; src_told = 0; src_granted = 0; src_arrived = 0 }
	/* A restarted receiver does not know its earlier grants: it waits until they lapse. */
	:: atomic { quiet && LAPSED -> quiet = false }
	:: atomic { troubles > 0 ->
		troubles--; quiet = true;
		src_epoch = 0; src_peer = 0; last_nonce++; nonce = last_nonce;
		src_asked = 0; src_told = 0; src_granted = 0; src_arrived = 0; queued = 0 }
	od
}

active proctype way()
{
	mtype t;
	byte a, b, c, d;

end:	do
	:: atomic { troubles > 0 && nempty(to_receiver) -> to_receiver?t(a, b, c, d); troubles--;
		t = 0; a = 0; b = 0; c = 0; d = 0 }
	:: atomic { troubles > 0 && nempty(to_sender) -> to_sender?t(a, b, c, d); troubles--;
		t = 0; a = 0; b = 0; c = 0; d = 0 }
	:: atomic { troubles > 0 && flying > 0 -> flying--; troubles-- }
	:: atomic { troubles > 0 && nempty(to_receiver) && nfull(to_receiver) ->
		to_receiver?<t(a, b, c, d)>; to_receiver!t(a, b, c, d); troubles--;
		t = 0; a = 0; b = 0; c = 0; d = 0 }
	:: atomic { troubles > 0 && nempty(to_sender) && nfull(to_sender) ->
		to_sender?<t(a, b, c, d)>; to_sender!t(a, b, c, d); troubles--;
		t = 0; a = 0; b = 0; c = 0; d = 0 }
	:: atomic { troubles > 0 && len(to_receiver) > 1 ->
		to_receiver?t(a, b, c, d); to_receiver!t(a, b, c, d); troubles--;
		t = 0; a = 0; b = 0; c = 0; d = 0 }
	:: atomic { troubles > 0 && len(to_sender) > 1 ->
		to_sender?t(a, b, c, d); to_sender!t(a, b, c, d); troubles--;
		t = 0; a = 0; b = 0; c = 0; d = 0 }
	od
}
