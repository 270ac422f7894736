/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol of zbridge (../zbridge.md; net/zbridge/flow.c and arq.c): one flow between two
 * hosts, with the names of that code's functions and states.  Host 0 has FRAMES frames to send,
 * host 1 has BACK; BUF of them may be unacknowledged.  In each run up to TROUBLES faults occur, of
 * any kinds and at any time: a packet is lost, duplicated, or overtaken by any number of others,
 * even by those of later flows; a timer expires early; a host forgets the flow, because it restarts
 * or declares the other one dead; the sender of a SYN is silent for long.  Checked by
 * tools/lab/models:
 *
 *  - a frame is delivered at most once, and after all frames that were sent before it, except those
 *    that the sender has counted as lost (asserted in deliver());
 *  - an acknowledged frame was delivered (acked());
 *  - frames are given up only if a host has forgotten the flow (anew());
 *  - the run ends: there is no deadlock, and since faults are limited, any cycle is an error;
 *  - at its end both hosts have forgotten the flow, and each frame was delivered or is counted as
 *    lost (time()).
 *
 * Time is modelled by its order: timers expire when no packet is in flight, except late ones.
 *
 * Not modelled: numbers that wrap, or begin at random; more than one gap (BUF is 2); frames that
 * are not retransmitted within a round trip; switches without room; spread, with which gaps are not
 * reported at once; damaged packets, which count as lost; a host that stays dead; and forged
 * packets, so packets that only a forger would send are asserted not to occur.
 */
#ifndef FRAMES
#define FRAMES	2
#endif
#ifndef BACK
#define BACK	1
#endif
#ifndef TROUBLES
#define TROUBLES	2
#endif
#define BUF	2
/* Packets in flight to a host, at most; further ones are lost. */
#define WIRE	3

/* Each BREAK_... breaks one rule; spin must find an error then. */
#ifdef BREAK_ASK
#define ASKS	false
#else
#define ASKS	true	/* After silence an ASK is sent. */
#endif
#ifdef BREAK_ORDER
#define IN_ORDER	true
#else
#define IN_ORDER	(seq == expected[h])	/* An early frame is kept until the gap closes. */
#endif
#ifdef BREAK_RESEND
#define RESENDS	true
#else
#define RESENDS	false	/* A frame sent in one flow is never sent in another. */
#endif
#ifdef BREAK_AGREE
#define AGREE	true
#else
#define AGREE	(seq == expected[h] && ack == nxt[h])	/* CLOSED only if all numbers agree */
#endif
#ifdef BREAK_CROSS
#define CROSS	false
#else
#define CROSS	(state[h] == CLOSING)	/* If both ends close, pending frames use the next flow. */
#endif
#ifdef BREAK_REOPEN
#define REOPENS	true
#else
#define REOPENS	NEWS	/* An old packet does not reopen a closing flow. */
#endif
#ifdef BREAK_REPLACE
#define REPLACES	true
#else
#define REPLACES	false	/* A SYN does not replace the one that a flow has accepted. */
#endif
#ifdef BREAK_PROBE
#define PROBES	true
#else
#define PROBES	false	/* In SYN_RCVD another SYN is answered by SYNACK, not by ASK. */
#endif
#ifdef BREAK_ANSWER
#define WAITED	true
#else
#define WAITED	(type == RST)	/* After another SYN, a SYNACK is kept until that SYN is settled. */
#endif

#ifdef BREAK_KEPT
#define KEPT	(answer[h] != 0)
#else
#define KEPT	false	/* After a long silence a kept SYNACK is too old to be used. */
#endif

mtype = { SYN, SYNACK, DATA, DATA_ASK, ACK, NACK, ASK, CLOSE, CLOSED, RST };

#define NONE	0
#define SYN_SENT	1
#define SYN_RCVD	2
#define OPEN	3
#define CLOSING	4

/* Packets to each host: type, to, from, seq, ack; of DATA also the frame, of NACK the count */
chan wire[2] = [WIRE] of { mtype, byte, byte, byte, byte, byte };
chan late[2] = [1] of { mtype, byte, byte, byte, byte, byte };

/* Each host: members of struct zbr_flow, and the last id that it has used */
byte state[2], id[2], peer[2], answer[2], names[2];
byte una[2], nxt[2], expected[2], kept[2], pending[2];
/* Frames that its VM has yet to send; frames transmitted, or lost before that */
byte left[2], sent[2];

/* For the checks: last delivered frame; frames given up, as bits; a host has forgotten the flow */
byte delivered[2], lost[2];
bool doomed[2];

byte troubles = TROUBLES;

#define OTHER	(1 - h)
#define CALM	(empty(wire[0]) && empty(wire[1]))
#define IDLE(h)	(state[h] == OPEN && una[h] == nxt[h])
#define WAITS(h)	(state[h] != NONE && !IDLE(h))
/* The other end has begun the flow, and retransmits its SYN; this end retransmits nothing. */
#define STALE(h)	(state[h] == SYN_RCVD && pending[h] == 0)
#define REPEATS(h)	(WAITS(h) && !STALE(h))
/* An end in SYN_RCVD has sent no frame: genuine packets acknowledge the number of its SYNACK. */
#define CURRENT	(state[h] >= SYN_RCVD && to == id[h] && from == peer[h] && \
		 (state[h] != SYN_RCVD || type == RST || ack == nxt[h]))
/* The packet shows that the other end has a frame that is not acknowledged. */
#define NEWS	((type == DATA || type == DATA_ASK) && seq >= expected[h] || \
		 type == ASK && seq > expected[h])
/* Frame that has number n */
#define FRAME(n)	(sent[h] - nxt[h] + (n) + 1)
/* Frames from a to b - 1, as bits */
#define BITS(a, b)	((1 << (b)) - (1 << (a)))

inline send(kind, dst, src, s, a, w)
{
	if
	:: nfull(wire[OTHER]) -> wire[OTHER]!kind(dst, src, s, a, w)
	:: full(wire[OTHER])
	fi
}

inline tell(kind, s, w) { send(kind, peer[h], id[h], s, expected[h], w) }

/* Sender */

inline go_on()
{
	do
	:: state[h] == OPEN && pending[h] > 0 && nxt[h] - una[h] < BUF ->
		pending[h]--; sent[h]++; nxt[h]++;
		if
		:: nxt[h] - una[h] == BUF -> tell(DATA_ASK, nxt[h] - 1, sent[h])
		:: else -> tell(DATA, nxt[h] - 1, sent[h])
		fi
	:: else -> break
	od
}

inline acked()
{
	assert(ack <= nxt[h]);	/* The code sends RST otherwise. */
	if
	:: ack > una[h] -> una[h] = ack; assert(delivered[OTHER] >= FRAME(ack) - 1)
	:: else
	fi
}

inline nacked()
{
	do
	:: what > 0 && seq >= una[h] && seq < nxt[h] ->
		if
		:: what == 1 || seq + 1 == nxt[h] -> tell(DATA_ASK, seq, FRAME(seq))
		:: else -> tell(DATA, seq, FRAME(seq))
		fi;
		what--; seq++
	:: what > 0 && seq < una[h] -> what--; seq++
	:: else -> break
	od
}

/* Receiver */

inline asked(end)
{
	if
	:: end > expected[h] -> tell(NACK, expected[h], (kept[h] -> 1 : end - expected[h]))
	:: else -> tell(ACK, nxt[h], 0)
	fi
}

inline deliver(frame)
{
	assert(frame > delivered[h]);
	assert((BITS(delivered[h] + 1, frame) & ~lost[OTHER]) == 0);
	delivered[h] = frame;
	expected[h]++
}

inline take()
{
	if
	:: seq >= expected[h] && IN_ORDER ->
		deliver(what);
		if
		:: kept[h] -> deliver(kept[h]); kept[h] = 0
		:: else
		fi
	:: seq > expected[h] && !IN_ORDER && kept[h] == 0 ->
		kept[h] = what;
		if
		:: type == DATA -> asked(seq)	/* The gap is reported at once. */
		:: else
		fi
	:: else
	fi;
	if
	:: type == DATA_ASK -> asked(seq + 1)
	:: else
	fi
}

/* Common to sender and receiver */

/* Send, or retransmit, the packet that the flow's state calls for. */
inline say()
{
	if
	:: state[h] == SYN_SENT -> send(SYN, 0, id[h], 0, 0, 0)
	:: state[h] == SYN_RCVD -> tell(SYNACK, 0, 0)
	:: state[h] == OPEN && ASKS -> tell(ASK, nxt[h], 0)
	:: state[h] == CLOSING -> tell(CLOSE, nxt[h], 0)
	:: else
	fi
}

inline begin(first)
{
	names[h]++; id[h] = names[h];
	state[h] = first;
	say()
}

/* Forget the flow; pending frames, which were never sent, begin another one. */
inline anew()
{
	assert(una[h] == nxt[h] || doomed[h]);
	if
	:: RESENDS -> pending[h] = pending[h] + nxt[h] - una[h]; sent[h] = sent[h] - nxt[h] + una[h]
	:: else -> lost[h] = lost[h] | BITS(FRAME(una[h]), FRAME(nxt[h]))
	fi;
	state[h] = NONE; id[h] = 0; peer[h] = 0; answer[h] = 0; doomed[h] = false;
	una[h] = 0; nxt[h] = 0; expected[h] = 0; kept[h] = 0;
	if
	:: pending[h] > 0 -> begin(SYN_SENT)
	:: else
	fi
}

inline receive_syn()
{
	if
	:: state[h] == NONE -> peer[h] = from; begin(SYN_RCVD)
	:: state[h] == SYN_SENT -> peer[h] = from; state[h] = SYN_RCVD; say()
	:: state[h] == SYN_RCVD && PROBES && from != peer[h] -> tell(ASK, nxt[h], 0)
	:: state[h] == SYN_RCVD && REPLACES -> peer[h] = from; say()
	:: state[h] == SYN_RCVD && !REPLACES && !(PROBES && from != peer[h]) -> say()
	:: state[h] >= OPEN && from != peer[h] -> tell(ASK, nxt[h], 0)
	:: else
	fi
}

/* This end's SYN is answered: the flow is open. */
inline answered(name)
{
	peer[h] = name; answer[h] = 0; state[h] = OPEN;
	go_on();
	tell(ACK, nxt[h], 0)
}

inline receive_open()
{
	if
	:: state[h] == SYN_RCVD -> state[h] = OPEN; answer[h] = 0
	:: state[h] == CLOSING && REOPENS -> state[h] = OPEN
	:: else
	fi;
	acked();
	go_on();
	if
	:: type == DATA || type == DATA_ASK -> take()
	:: type == SYNACK -> tell(ACK, nxt[h], 0)
	:: type == NACK -> nacked()
	:: type == ASK -> asked(seq)
	:: type == CLOSE ->
		if
		:: una[h] == nxt[h] && (pending[h] == 0 || CROSS) && AGREE ->
			tell(CLOSED, nxt[h], 0);
			anew()
		:: else -> tell(ACK, nxt[h], 0)
		fi
	:: else
	fi
}

inline receive()
{
	if
	:: type == SYN -> receive_syn()
	:: type == SYNACK && state[h] == SYN_SENT && to == id[h] -> answered(from)
	:: type == SYNACK && state[h] == SYN_RCVD && to == id[h] && from != peer[h] ->
		answer[h] = from;
		if
		:: WAITED -> answered(from)
		:: else
		fi
	:: type == RST || type == CLOSED ->
		if
		:: CURRENT && type == RST && state[h] == SYN_RCVD && answer[h] -> answered(answer[h])
		:: CURRENT && (type == RST && !(state[h] == SYN_RCVD && answer[h]) ||
			       state[h] == CLOSING) -> anew()
		:: else
		fi
	:: type != SYN && type != RST && type != CLOSED && CURRENT -> receive_open()
	:: else -> send(RST, from, to, 0, 0, 0)
	fi
}

proctype host(byte h)
{
	mtype type;
	byte to, from, seq, ack, what;

end:	do
	:: atomic { wire[h]?type(to, from, seq, ack, what) ->
		receive();
		type = 0; to = 0; from = 0; seq = 0; ack = 0; what = 0 }
	/* The VM sends a frame. */
	:: atomic { left[h] > 0 ->
		left[h]--; pending[h]++;
		if
		:: state[h] == NONE -> begin(SYN_SENT)
		:: else -> go_on()
		fi }
	/* A timer expires early. */
	:: atomic { troubles > 0 && state[h] != NONE && !STALE(h) ->
		troubles--;
		if
		:: IDLE(h) -> state[h] = CLOSING
		:: else
		fi;
		say() }
	/* The host restarts, or declares the other one dead: pending frames are lost as well. */
	:: atomic { troubles > 0 && state[h] != NONE ->
		troubles--;
		doomed[h] = true; doomed[OTHER] = (state[OTHER] != NONE);
		sent[h] = sent[h] + pending[h]; nxt[h] = nxt[h] + pending[h]; pending[h] = 0;
		anew() }
	/*
	 * Frames wait for a SYN's sender that is silent for so long that the other end may have
	 * forgotten a half-open flow of its own: this end begins the flow.
	 */
	:: atomic { troubles > 0 && state[h] == SYN_RCVD && pending[h] > 0 ->
		troubles--;
		if
		:: STALE(OTHER) -> h = OTHER; anew(); h = OTHER
		:: true
		fi;
		doomed[OTHER] = (state[OTHER] != NONE);
		if
		:: KEPT -> answered(answer[h])
		:: else -> anew()
		fi }
	od
}

/* No packet is in flight, except late ones: timers expire. */
proctype time()
{
	byte h;

	do
	:: atomic { CALM && (REPEATS(0) || REPEATS(1)) ->
		do
		:: h < 2 ->
			if
			:: REPEATS(h) -> say()
			:: else
			fi;
			h++
		:: else -> break
		od;
		h = 0 }
	/* The end that began the flow is gone: the half-open flow is forgotten. */
	:: atomic { CALM && !REPEATS(0) && !REPEATS(1) && (STALE(0) || STALE(1)) ->
		h = (STALE(0) -> 0 : 1);
		anew();
		h = 0 }
	/* Either end asks to close, or both do. */
	:: atomic { CALM && !WAITS(0) && !WAITS(1) && (IDLE(0) || IDLE(1)) ->
		if
		:: IDLE(0)
		:: IDLE(1) -> h = 1
		fi;
		do
		:: state[h] = CLOSING; say();
			if
			:: h == 0 && IDLE(1) -> h = 1
			:: break
			fi
		od;
		h = 0 }
	:: atomic { CALM && state[0] == NONE && state[1] == NONE && left[0] == 0 && left[1] == 0 ->
		assert((BITS(delivered[1] + 1, FRAMES + 1) & ~lost[0]) == 0);
		assert((BITS(delivered[0] + 1, BACK + 1) & ~lost[1]) == 0);
		break }
	od
}

#define CLEAR	type = 0; to = 0; from = 0; seq = 0; ack = 0; what = 0
#define WAY(h)	\
	/* Packets are lost, duplicated, overtaken. */ \
	:: atomic { troubles > 0 && nempty(wire[h]) -> \
		troubles--; wire[h]?type(to, from, seq, ack, what); CLEAR } \
	:: atomic { troubles > 0 && nempty(wire[h]) && empty(late[h]) -> \
		troubles--; wire[h]?<type(to, from, seq, ack, what)>; \
		late[h]!type(to, from, seq, ack, what); CLEAR } \
	:: atomic { troubles > 0 && nempty(wire[h]) && empty(late[h]) -> \
		troubles--; wire[h]?type(to, from, seq, ack, what); \
		late[h]!type(to, from, seq, ack, what); CLEAR } \
	:: atomic { nempty(late[h]) && nfull(wire[h]) -> \
		late[h]?type(to, from, seq, ack, what); \
		wire[h]!type(to, from, seq, ack, what); CLEAR }

proctype way()
{
	mtype type;
	byte to, from, seq, ack, what;

end:	do
	WAY(0)
	WAY(1)
	od
}

init
{
	atomic {
		left[0] = FRAMES; left[1] = BACK;
		run host(0); run host(1); run time(); run way()
	}
}
