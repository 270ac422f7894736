/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The credit protocol of zfabric (../zfabric.md; net/zswitch/credit.c) between a sender and the
 * receiver's end of a vNIC.  In each run TROUBLES of these happen, any of them at any time, and
 * as often: a control message is lost, comes twice, or is overtaken by another; a frame is lost; an
 * ask is repeated early; credit is given back though frames will come; the sender or the receiver
 * begins anew.  Checked by tools/lab/models:
 *
 *  - what flies, waits at the receiver and may be sent never is more than SIZE, so no credit is
 *    minted (bounded());
 *  - the run ends: nothing is deadlocked, and as troubles are few, any cycle is an error;
 *  - at its end all frames have been sent and all credit is home, so none is lost for good.
 *
 * A frame costs one credit, so asks are granted in parts, of any size.  That a time has passed in
 * which every frame has arrived or is lost is modelled as "nothing flies", and of messages in the
 * same way.  Counters are modulo 8, as 2^32 is there.
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

/* Each of these breaks one rule, and must be found out. */
#ifdef BREAK_QUIET
#define QUIET	false
#else
#define QUIET	quiet	/* Who has begun anew grants nothing before that has lapsed. */
#endif
#ifdef BREAK_SETTLED
#define SETTLED	src_arrived
#else
#define SETTLED	s	/* What was sent long ago is not waited for. */
#endif
#ifdef BREAK_LAPSE
#define LAPSES	false
#else
#define LAPSES	true	/* What a silent sender was granted comes home. */
#endif
#ifdef BREAK_PART
#define GRANTED	asked
#else
#define GRANTED	n	/* A part is not the whole. */
#endif
#ifdef BREAK_VOID
#define ARRIVED	true
#else
#define ARRIVED	(acked == used)	/* What is given back is told when all that was sent has come. */
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

/* Receiver: of whom it has granted to, and of a pairing to come */
byte src_epoch, src_peer, nonce = 1, src_asked, src_told, src_granted, src_arrived;
byte queued, last_nonce = 1;
bool quiet;

byte flying;
byte troubles = TROUBLES;

/* No frame flies, nor a grant, and the sender has none that it may still use. */
#define LAPSED	(flying == 0 && granted == used && len(to_sender) == 0)
/* It is another one by now, or has nothing to say. */
#define SILENT	(epoch != src_epoch || peer != src_peer || asked == used && acked == used)
#define OUT	(SUB(src_granted, src_arrived) + queued)
#define ROOM	(OUT < SIZE)
#define LAPSING	(src_granted != src_arrived && LAPSES && SILENT && LAPSED)
#define GRANTING	(src_asked != src_granted && !QUIET && ROOM)
/* The sender's zcr_repeat() */
#define UNSURE	(asked != used || acked != used)
/* Nobody has anything to do before a timer runs out. */
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
	:: full(to_receiver)	/* as good as lost; it is repeated */
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
	/* What no frame waits for is given back; others may come then. */
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
	/* Long enough after the last frame */
	:: atomic { settled != used && flying == 0 -> settled = used }
	:: atomic { troubles > 0 -> troubles--; peer = 0; sender_begins() }
	:: atomic { CALM && UNSURE -> send_ask() }
	/* Early */
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
			/* What was sent long ago and has not come, never will. */
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
		:: e == src_epoch && p != src_peer	/* late */
		:: e != src_epoch && p == nonce && src_granted == src_arrived ->
			src_epoch = e; src_peer = p;
			last_nonce++; nonce = last_nonce;
			src_asked = n; src_told = n; src_granted = 0; src_arrived = 0
		:: e != src_epoch && p == nonce && src_granted != src_arrived
			/* not before what its former life was granted has come or lapsed */
		:: e != src_epoch && p != nonce ->
			answer(HELLO, e, nonce)
		fi;
		e = 0; p = 0; n = 0; s = 0 }
	/* As much as there is room for, or a part of that */
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
		:: else	/* nobody granted it, but it is here */
		fi;
		/* One more unasked, or not */
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
	/* A sender that is not heard of any more: what it was granted has come or is lost. */
	:: atomic { LAPSING ->
		src_epoch = 0; src_peer = 0; last_nonce++; nonce = last_nonce;
		src_asked = 0; src_told = 0; src_granted = 0; src_arrived = 0 }
	/* Who has restarted does not know what it has granted: it waits until that has lapsed. */
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
