/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tunnel's protocol (../zbridge.md; net/zbridge/flow.c, arq.c): one flow between two hosts, by a
 * way that loses, doubles and reorders packets of all types, timers that run out early, and restarts
 * of either host.  Host 0 has FRAMES frames to send, host 1 has BACK; BUF of them may be
 * unacknowledged.  At most TROUBLES of those things happen in a run, of each kind no more than its
 * own number.  Checked by tools/lab/models:
 *
 *  - a frame is delivered at most once, and behind those that were sent before it; a gap is only
 *    where a restart has cost frames, which their sender has counted as lost;
 *  - what is acknowledged was delivered;
 *  - when both hosts have forgotten the flow, each frame was delivered or is counted as lost;
 *  - frames are given up only where a restart was;
 *  - nothing is deadlocked, nothing goes on for ever: as troubles are few, any cycle is an error.
 *
 * Not modelled: wrapping of numbers, the spread of a flow over many paths, a host that is dead for
 * good, and damage, which is loss.  A timer runs out when nothing flies but what is late, or early.
 * A silent half-open end is forgotten when nobody else will speak.
 */
#ifndef LOSSES
#define LOSSES	1
#endif
#ifndef COPIES
#define COPIES	1
#endif
#ifndef SWAPS
#define SWAPS	1
#endif
#ifndef RESTARTS
#define RESTARTS	1
#endif
#ifndef TROUBLES
#define TROUBLES	2
#endif
#ifndef EARLY
#define EARLY	1
#endif
#ifndef FRAMES
#define FRAMES	2
#endif
#ifndef BACK
#define BACK	1
#endif
/*
 * Each of these breaks one rule, and must be found out: a CLOSE is agreed to only if all numbers
 * agree; a closing flow goes on only by what is new; a SYN takes no living flow's place, and one in
 * the handshake is answered by SYNACK and not by ASK; what was sent is never sent by another flow.
 */
#ifdef BREAK_AGREE
#define AGREE true
#else
#define AGREE (s == expected[h] && a == nxt[h])
#endif
#ifdef BREAK_REOPEN
#define SHOWN(new) true
#else
#define SHOWN(new) (new)
#endif
#ifdef BREAK_REPLACE
#define REPLACES true
#else
#define REPLACES false
#endif
#ifdef BREAK_PROBE
#define PROBES true
#else
#define PROBES false
#endif
#ifdef BREAK_RESEND
#define RESENDS true
#else
#define RESENDS false
#endif
#define BUF	2
#ifndef SLOTS
#define SLOTS	3
#endif

mtype = { SYN, SYNACK, DATA, DATA_ASK, ASK, ACK, NACK, CLOSE, CLOSED, RST };
#define NONE	0
#define SYN_SENT	1
#define SYN_RCVD	2
#define OPEN	3
#define CLOSING	4

/* To a host: ids of receiver and sender, seq, ack, and a frame or how many are missing. */
chan to[2] = [SLOTS] of { mtype, byte, byte, byte, byte, byte };
/* What comes late: by then any time may have passed. */
chan late[2] = [1] of { mtype, byte, byte, byte, byte, byte };

byte state[2], id[2], peer[2], ids[2];
byte left[2], pending[2], sent[2];	/* frames that the VM has yet to send; that wait; all ever sent */
byte nxt[2], una[2], expected[2], kept[2];

/* What the checks know: the last frame that came, those that restarts cost, a doomed flow */
byte delivered[2], lost[2];
bool doomed[2], checked;

byte early = EARLY, restarts = RESTARTS, troubles = TROUBLES;

#define OTHER	(1 - h)
#define CALM	(empty(to[0]) && empty(to[1]))
#define WAITS(h)	(state[h] == SYN_SENT || state[h] == SYN_RCVD || state[h] == CLOSING || \
			 una[h] != nxt[h])
/* Who was called, and has nothing to send, leaves it to the caller. */
#define REPEATS(h)	(WAITS(h) && !STALE(h))
#define STALE(h)	(state[h] == SYN_RCVD && pending[h] == 0)
#define IDLE(h)	(state[h] == OPEN && una[h] == nxt[h])
#define KNOWN	(state[h] >= SYN_RCVD && i == id[h] && f == peer[h])
#define FRAME(n)	(sent[h] - nxt[h] + (n) + 1)
/* Frames from a to b - 1, as bits */
#define BITS(a, b)	((1 << (b)) - (1 << (a)))

inline send(type, dst, src, seq, ack, what)
{
	if
	:: nfull(to[OTHER]) -> to[OTHER]!type(dst, src, seq, ack, what)
	:: full(to[OTHER])	/* as good as lost */
	fi
}

inline send_syn() { send(SYN, 0, id[h], 0, 0, 0) }
inline answer(kind, number) { send(kind, peer[h], id[h], nxt[h], expected[h], number) }
inline send_synack() { send(SYNACK, peer[h], id[h], 0, expected[h], 0) }

inline begin()
{
	ids[h]++;
	assert(ids[h] < 30);
	id[h] = ids[h]
}

inline forget()
{
	state[h] = NONE; id[h] = 0; peer[h] = 0;
	nxt[h] = 0; una[h] = 0; expected[h] = 0; kept[h] = 0; doomed[h] = false;
	if
	:: pending[h] > 0 -> begin(); state[h] = SYN_SENT; send_syn()
	:: else
	fi
}

inline give_up()
{
	if
	:: una[h] != nxt[h] ->
		assert(doomed[h]);
		if
		:: RESENDS ->
			pending[h] = pending[h] + nxt[h] - una[h];
			sent[h] = sent[h] - (nxt[h] - una[h])
		:: else ->
			lost[h] = lost[h] | BITS(FRAME(una[h]), FRAME(nxt[h]))
		fi
	:: else
	fi;
	forget()
}

inline pump()
{
	do
	:: state[h] == OPEN && pending[h] > 0 && nxt[h] - una[h] < BUF ->
		pending[h]--; sent[h]++; nxt[h]++;
		if
		:: nxt[h] - una[h] == BUF ->
			send(DATA_ASK, peer[h], id[h], nxt[h] - 1, expected[h], sent[h])
		:: else ->
			send(DATA, peer[h], id[h], nxt[h] - 1, expected[h], sent[h])
		fi
	:: else -> break
	od
}

inline deliver(frame)
{
	assert(frame > delivered[h]);
	assert((BITS(delivered[h] + 1, frame) & ~lost[OTHER]) == 0);
	delivered[h] = frame;
	expected[h]++
}

inline acked(to_here)
{
	assert(to_here <= nxt[h]);
	if
	:: to_here > una[h] -> una[h] = to_here; assert(delivered[OTHER] >= FRAME(to_here) - 1)
	:: else
	fi
}

/* what = how far the asker has sent */
inline tell(n)
{
	if
	:: n > expected[h] ->
		send(NACK, peer[h], id[h], expected[h], expected[h], (kept[h] -> 1 : n - expected[h]))
	:: else -> answer(ACK, 0)
	fi
}

/* Something new from a peer shows that it has not forgotten the flow. */
inline reopen(new)
{
	if
	:: state[h] == CLOSING && SHOWN(new) -> state[h] = OPEN
	:: else
	fi
}

inline timer()
{
	if
	:: state[h] == SYN_SENT -> send_syn()
	:: state[h] == SYN_RCVD && pending[h] > 0 -> send_synack()
	:: state[h] == OPEN && una[h] != nxt[h] -> answer(ASK, 0)
	:: state[h] == CLOSING -> answer(CLOSE, 0)
	:: else
	fi
}

inline close() { state[h] = CLOSING; answer(CLOSE, 0) }

inline receive()
{
	if
	:: t == SYN ->
		if
		:: state[h] == NONE -> begin(); peer[h] = f; state[h] = SYN_RCVD; send_synack()
		:: state[h] == SYN_SENT -> peer[h] = f; state[h] = SYN_RCVD; send_synack()
		:: state[h] == SYN_RCVD ->
			if
			:: REPLACES -> peer[h] = f; send_synack()
			:: !REPLACES && PROBES && f != peer[h] -> answer(ASK, 0)
			:: else -> send_synack()
			fi
		:: state[h] >= OPEN && f != peer[h] ->
			answer(ASK, 0)
		:: state[h] >= OPEN && f == peer[h]
		fi
	:: t == SYNACK ->
		if
		:: state[h] == SYN_SENT && i == id[h] ->
			peer[h] = f; state[h] = OPEN;
			if
			:: pending[h] > 0
			:: else -> answer(ACK, 0)
			fi
		:: KNOWN ->
			if
			:: state[h] == SYN_RCVD -> state[h] = OPEN
			:: else
			fi;
			answer(ACK, 0)
		:: else -> send(RST, f, i, 0, 0, 0)
		fi
	:: t == RST ->
		if
		:: KNOWN -> give_up()
		:: else
		fi
	:: t == CLOSED ->
		if
		:: KNOWN && state[h] == CLOSING -> forget()
		:: else
		fi
	:: t != SYN && t != SYNACK && t != RST && t != CLOSED && !KNOWN ->
		send(RST, f, i, 0, 0, 0)
	:: else ->
		if
		:: state[h] == SYN_RCVD -> state[h] = OPEN
		:: else
		fi;
		acked(a);
		if
		:: t == DATA || t == DATA_ASK ->
			reopen(s >= expected[h]);
			if
			:: s == expected[h] ->
				deliver(x);
				if
				:: kept[h] -> deliver(kept[h]); kept[h] = 0
				:: else
				fi
			:: s > expected[h] && kept[h] == 0 ->
				assert(s == expected[h] + 1);
				kept[h] = x;
				if
				:: t == DATA -> tell(s)
				:: else
				fi
			:: else
			fi;
			if
			:: t == DATA_ASK -> tell(s + 1)
			:: else
			fi
		:: t == ASK ->
			reopen(s > expected[h]);
			tell(s)
		:: t == NACK ->
			reopen(false);
			do
			:: x > 0 ->
				x--;
				if
				:: s + x >= una[h] && s + x < nxt[h] ->
					send(DATA, peer[h], id[h], s + x, expected[h], FRAME(s + x))
				:: else
				fi
			:: else -> break
			od
		:: t == ACK ->
			reopen(false)
		:: t == CLOSE ->
			if
			:: una[h] == nxt[h] && (pending[h] == 0 || state[h] == CLOSING) && AGREE ->
				answer(CLOSED, 0);
				forget()
			:: else -> answer(ACK, 0)
			fi
		fi
	fi;
	pump()
}

proctype host(byte h)
{
	mtype t;
	byte i, f, s, a, x;

end:	do
	:: atomic { to[h]?t(i, f, s, a, x) ->
		receive();
		t = 0; i = 0; f = 0; s = 0; a = 0; x = 0 }
	/* The VM sends a frame. */
	:: atomic { left[h] > 0 ->
		left[h]--; pending[h]++;
		if
		:: state[h] == NONE -> forget()
		:: else -> pump()
		fi }
	:: atomic { early > 0 && troubles > 0 && (WAITS(h) || IDLE(h)) ->
		early--; troubles--;
		if
		:: WAITS(h) -> timer()
		:: else -> close()
		fi }
	:: atomic { restarts > 0 && troubles > 0 && state[h] != NONE ->
		restarts--; troubles--;
		doomed[h] = true;
		doomed[OTHER] = (state[OTHER] != NONE);
		give_up() }
	od
}

/* Nothing flies but what is late: timers run out. */
proctype time()
{
	byte h;

end:	do
	:: atomic { CALM && (REPEATS(0) || REPEATS(1)) ->
		h = 0; timer(); h = 1; timer(); h = 0 }
	:: atomic { CALM && !REPEATS(0) && !REPEATS(1) && STALE(0) ->
		h = 0; forget() }
	:: atomic { CALM && !REPEATS(0) && !REPEATS(1) && STALE(1) ->
		h = 1; forget(); h = 0 }
	:: atomic { CALM && !WAITS(0) && !WAITS(1) && IDLE(0) ->
		h = 0; close() }
	:: atomic { CALM && !WAITS(0) && !WAITS(1) && IDLE(1) ->
		h = 1; close(); h = 0 }
	:: atomic { CALM && !WAITS(0) && !WAITS(1) && IDLE(0) && IDLE(1) ->
		h = 0; close(); h = 1; close(); h = 0 }
	:: atomic { !checked && CALM && state[0] == NONE && state[1] == NONE &&
		    left[0] == 0 && left[1] == 0 ->
		assert(pending[0] == 0 && pending[1] == 0);
		assert((BITS(delivered[1] + 1, FRAMES + 1) & ~lost[0]) == 0);
		assert((BITS(delivered[0] + 1, BACK + 1) & ~lost[1]) == 0);
		checked = true }
	od
}

#define WAY(h)	\
	:: atomic { losses > 0 && troubles > 0 && nempty(to[h]) -> to[h]?t(i, f, s, a, x); losses--; troubles--; \
		t = 0; i = 0; f = 0; s = 0; a = 0; x = 0 } \
	:: atomic { copies > 0 && troubles > 0 && nempty(to[h]) && empty(late[h]) -> \
		to[h]?<t(i, f, s, a, x)>; late[h]!t(i, f, s, a, x); copies--; troubles--; \
		t = 0; i = 0; f = 0; s = 0; a = 0; x = 0 } \
	:: atomic { swaps > 0 && troubles > 0 && nempty(to[h]) && empty(late[h]) -> \
		to[h]?t(i, f, s, a, x); late[h]!t(i, f, s, a, x); swaps--; troubles--; \
		t = 0; i = 0; f = 0; s = 0; a = 0; x = 0 } \
	:: atomic { nempty(late[h]) && nfull(to[h]) -> \
		late[h]?t(i, f, s, a, x); to[h]!t(i, f, s, a, x); \
		t = 0; i = 0; f = 0; s = 0; a = 0; x = 0 }

proctype way()
{
	mtype t;
	byte i, f, s, a, x;
	byte losses = LOSSES, copies = COPIES, swaps = SWAPS;

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
