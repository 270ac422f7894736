#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zFabric between hosts: credit by messages over a wire.  Prints TAP.
#
#	container 0 -- z0 \                                  / z1 -- container 1
#	                   zs0 (A) wB ---- cable ---- wA (B) zs0
#	container 3 -- z3 /        or: a box that         \ z2 -- container 2
#	                           loses, doubles, forges
#
# Where time is virtual the rates and the times are exact; elsewhere what depends on the
# machine's speed is not checked.

import random
import socket
import struct
import sys
import threading
import time

import zbed
from sch_cee import ROOM, SO_RCVBUFFORCE, SO_SNDBUFFORCE, VIRTUAL, ip, names, run_parts, tc, verdict
from sch_ndp import ETH_P_ALL, PACKET_OUTGOING, check, exact, inside, run, same, say, wait_for_carrier, wait_until
from zbed import (Datagrams, Sink, Stream, addr, all_ports, destroy, drops, jain, knows, mac, node_add, port, qdisc_drops,
                  rate_of, refused, restless)

RATE = "100mbit" if VIRTUAL else "5mbit"
FAST = "1gbit" if VIRTUAL else "10mbit"
DELAY = 100e-6
RXQ = 64
CREDIT = 2048
# Credit is granted to other hosts in parts, of this size at least when it is short.
PART = RXQ // 8
ETH_P_FABRIC = 0x88b5
MAGIC = 0x7a466162
ASK, HELLO, GRANT = range(3)
SO_NO_CHECK = 11
# Seconds for which a new receiver grants nothing, and until credit of a silent sender lapses
QUIET, LAPSE = 0.5, 3
# Seconds until an idle pair is forgotten
FAR_IDLE = 30
# Host of each container, and for each host the device that leads to the other one
where, ways = {}, {}


def host(h, options="fabric on rxq %d" % RXQ):
    node_add(h)
    ip(h, "link add zs0 type zswitch " + options)
    ip(h, "link set zs0 up")


def container(i, h, rate=None, options=""):
    node_add("C%d" % i)
    ip(h, "link add z%d type zvnic%s peer name eth0 netns %s" % (i, " rate %s" % rate if rate else "", names["C%d" % i]))
    ip(h, "link set z%d master zs0 up" % i)
    if options:
        ip(h, "link set z%d type zswitch_slave %s" % (i, options))
    ip("C%d" % i, "link set eth0 address %s up" % mac(i))
    ip("C%d" % i, "address add %s/24 dev eth0" % addr(i))
    where[i] = h


def join(h, dev, fabric=True):
    """A device becomes a wire of a host's switch."""
    ip(h, "link set %s master zs0 up" % dev)
    tc(h, "qdisc replace dev %s root cee dscp 0-63:3 cable %dus%s" % (dev, DELAY * 1e6, ROOM))
    if fabric:
        ip(h, "link set %s type zswitch_slave fabric on" % dev)


def cable(a, b, fabric=True, delay=DELAY):
    ip(a, "link add w%s type netwire rate %s delay %dus peer name w%s netns %s" % (b, FAST, delay * 1e6, a, names[b]))
    for h, dev in ((a, "w" + b), (b, "w" + a)):
        if h[0] != "M":
            join(h, dev, fabric)
            ways.setdefault(h, dev)
        else:
            ip(h, "link set %s up" % dev)


def addresses(h):
    """Forwarding entries of a host's switch for all containers."""
    for i in where:
        run("bridge -n %s fdb replace %s dev zs0 via %s static" % (
            names[h], mac(i), "z%d" % i if where[i] == h else ways[h]))


def know():
    """Static neighbours and forwarding entries for all, so that no address is resolved."""
    for i in where:
        knows("C%d" % i, "eth0", where)
        wait_for_carrier(names["C%d" % i], "eth0")
    for h in set(where.values()):
        addresses(h)
        if h in ways:
            wait_for_carrier(names[h], ways[h])
    # A new receiver grants nothing for a while.
    time.sleep(2 * QUIET)


def pair(*containers, fabric=True, options="fabric on rxq %d" % RXQ, middle=False):
    """Hosts A and B and their containers: (number, host, rate)."""
    zbed.count += 1
    for h in ("A", "B"):
        host(h, options)
    for c in containers:
        container(*c)
    if middle:
        node_add("M")
        cable("A", "M", fabric)
        cable("B", "M", fabric)
    else:
        cable("A", "B", fabric)
    know()


def z(i):
    return port("z%d" % i, where[i])


def all_out(i):
    """Is all credit of a receiver granted, but for less than a part?"""
    return RXQ - PART < z(i)["credit"] <= RXQ


def wire(h):
    return port(ways[h], h)


def ports(h):
    return dict(all_ports(h), zs0=zbed.switch(h))


def end():
    destroy()
    where.clear()
    ways.clear()


def quiet():
    return not any(p.get("waiting") or p.get("backlog") or p.get("held") for h in ways for p in ports(h).values())


def home():
    """Ports whose credit has not all been returned, or does not add up."""
    wrong = {}
    for h in ways:
        for dev, p in ports(h).items():
            c = {k[7:]: v for k, v in p.items() if k.startswith("credit_")}
            if (c["asked"] != c["granted"] + c["withdrawn"] or c["granted"] != c["used"] + c["lapsed"] or
                    c["used"] + c["extra"] != c["returned"] or p.get("credit") or p.get("held") or
                    p["remote_granted"] != p["remote_used"] + p["remote_void"]):
                wrong[h + " " + dev] = {k: v for k, v in p.items() if v}
    return wrong


def comes_home(what=""):
    wait_until(lambda: not home(), what + "credit comes home", 20)


def balanced(sums=True):
    """At rest every frame of every switch is accounted for, and no sender sleeps.  @sums: no port was deleted."""
    wrong = {}
    for h in ways:
        all_of = ports(h)
        for dev, p in all_of.items():
            if restless(p):
                wrong[h + " " + dev] = {k: v for k, v in p.items() if v}
        if sums and sum(p["passed"] for p in all_of.values()) != sum(p["out"] for p in all_of.values()):
            wrong[h] = "sums"
    return wrong


def lost():
    return {h + " " + dev: drops(p) for h in ways for dev, p in ports(h).items() if drops(p)}


def rest(what, senders, losses=None):
    """Nothing is lost anywhere, no sender sleeps, and all credit has been returned."""
    wait_until(quiet, "nothing waits", 120)
    # The next ask but one reports what has lapsed.
    comes_home(what + ": ")
    queues = sum(qdisc_drops("C%d" % i, "eth0") for i in senders)
    same(what + ": nothing is lost at any hop, all credit is home", (lost(), balanced(), queues, home()), (losses or {}, {}, 0, {}))


def arrive(what, sinks, flows, losses=None):
    """Each flow's sink gets all of it, in order."""
    done = [f.finish(now=True) for f in flows]
    wait_until(lambda: all(s.of(f) == f.sent for s, f in zip(sinks, flows)), what + ": all arrive", 60)
    same(what + ": all arrive whole and in order",
         (done, [s.whole(f) for s, f in zip(sinks, flows)], sum(s.disorder for s in set(sinks))),
         ([True] * len(flows), [True] * len(flows), 0))
    rest(what, {int(f.node[1:]) for f in flows}, losses)


def control(kind, src, dst, epoch, peer, count=0, past=0, version=1, flags=0):
    to, by = (bytes.fromhex(a.replace(":", "")) for a in (dst, src))
    return (to + by + struct.pack("!HIBBHIIII", ETH_P_FABRIC, MAGIC, version, kind, flags, epoch, peer, count, past)).ljust(60, b"\0")


class Relay:
    """The box M between A and B: @judge(frame, from A) returns what is forwarded, a list of (delay in s, frame)."""

    def __init__(self, judge=None):
        self.judge, self.stop, self.late = judge, False, []
        self.lock = threading.Lock()
        self.socks = [self.open(dev) for dev in ("wA", "wB")]
        self.threads = [threading.Thread(target=self.work, args=(i,), daemon=True) for i in (0, 1)]
        for t in self.threads:
            t.start()

    @staticmethod
    def open(dev):
        s = inside(names["M"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)))
        # Room for all that waits to be read and sent here, however slow the machine.
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 64 << 20)
        tc("M", "qdisc replace dev %s root pfifo limit 100000" % dev)
        s.bind((dev, ETH_P_ALL))
        s.settimeout(0.05)
        wait_for_carrier(names["M"], dev)
        return s

    @staticmethod
    def is_control(frame):
        return frame[12:14] == struct.pack("!H", ETH_P_FABRIC)

    def send(self, to, frame):
        """@to: 0 is towards A"""
        with self.lock:
            try:
                self.socks[to].send(frame)
            except OSError:
                # The link is down, or was deleted.
                pass

    def work(self, i):
        while not self.stop:
            try:
                frame, where_from = self.socks[i].recvfrom(65536)
            except (socket.timeout, OSError):
                continue
            # Pause frames are for this box, which ignores them.
            if where_from[2] == PACKET_OUTGOING or frame[0] & 1:
                continue
            for delay, copy in self.judge(frame, i == 0) if self.judge else [(0, frame)]:
                if delay:
                    threading.Timer(delay, self.send, (1 - i, copy)).start()
                else:
                    self.send(1 - i, copy)

    def finish(self):
        self.stop = True
        for t in self.threads:
            t.join(10)
        for s in self.socks:
            s.close()


def flow_of(i, j, **how):
    """A flow without checksums, which a box could not complete: the bytes are compared."""
    f = Datagrams("C%d" % i, addr(j), **how)
    f.sock.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
    return f


class Clock:
    """Measures how long a datagram takes"""

    def __init__(self, i):
        self.sock = inside(names["C%d" % i], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.sock.bind(("0.0.0.0", 7100))
        self.sock.settimeout(20)

    def time(self, i, to):
        """Seconds that one datagram takes"""
        s = inside(names["C%d" % i], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        begin = time.monotonic()
        s.sendto(b"x" * 1000, (addr(to), 7100))
        self.sock.recv(2000)
        took = time.monotonic() - begin
        s.close()
        return took


def clocked(options):
    """Two containers.  Return: a clock, and a datagram's time before the switches have these options"""
    pair((0, "A"), (1, "B"), options="rxq %d" % RXQ)
    clock = Clock(1)
    plain = [clock.time(0, 1) for _ in range(3)][-1]
    for h in ("A", "B"):
        ip(h, "link set zs0 type zswitch " + options)
    time.sleep(2 * QUIET)
    return clock, plain


def all_home(what):
    comes_home()
    same(what + ": all credit is home", (home(), lost()), ({}, {}))


def cold():
    """How long the first frame waits, and those after it."""
    clock, plain = clocked("fabric on")
    first = clock.time(0, 1)
    again = [(time.sleep(0.05), clock.time(0, 1))[1] for _ in range(5)]
    trip = 2 * DELAY
    said = "plain %.0f us, first %.0f us, then %s us, of a round trip of %.0f us" % (
        plain * 1e6, first * 1e6, ["%.0f" % (a * 1e6) for a in again], trip * 1e6)
    say(said)
    # Frames of control are of 60 bytes: 0.7 us each on the cable.
    exact("cold: the first frame to a stranger waits for two round trips", 2 <= (first - plain) / trip < 2.05, said)
    exact("cold: later ones for one", all(1 <= (a - plain) / trip < 1.05 for a in again), said)
    p = wire("A")
    same("cold: each by a credit", (p["remote_used"], z(1)["credit_used"]), (6, 6))
    clock.sock.close()
    all_home("cold")
    end()


def unasked():
    """As many frames as the option allows do not wait."""
    clock, plain = clocked("fabric on unasked 3")
    took = [clock.time(0, 1) for _ in range(5)]
    time.sleep(2 * QUIET)
    took.append(clock.time(0, 1))
    said = "plain %.0f us, then %s us" % (plain * 1e6, ["%.0f" % (t * 1e6) for t in took])
    say(said)
    trips = [round((t - plain) / (2 * DELAY)) for t in took]
    exact("unasked: three go at once, then one waits for two round trips, one for one, and later one goes at once",
          trips == [0, 0, 0, 2, 1, 0], said)
    same("unasked: four without credit, two with", (z(1)["credit_extra"], z(1)["credit_used"]), (4, 2))
    clock.sock.close()
    all_home("unasked")
    end()


def stream():
    """Frames in close succession are not asked for each; credit that is left over is returned."""
    pair((0, "A"), (1, "B"))
    sink, flow = Sink("C1"), flow_of(0, 1, total=1000, pace=0.0005).start()
    flow.finish()
    wait_until(lambda: sink.of(flow) == 1000, "all arrive")
    out, back = (wire(h)["fabric_out"] for h in "AB")
    check("stream: %d asks and %d grants for 1000 frames" % (out, back), out + back <= (200 if VIRTUAL else 1500), (wire("A"), wire("B")))
    comes_home("stream: ")
    a, b = wire("A"), z(1)
    same("stream: what was left over is given back, and was told", (a["remote_used"], a["remote_void"] > 0, b["credit_lapsed"]),
         (1000, True, a["remote_void"]))
    arrive("stream", [sink], [flow])
    sink.finish()
    end()


def stall(fabric):
    """A culprit floods a stalled receiver on another host; a victim sends by the same wire."""
    options = "fabric on rxq %d" % RXQ if fabric else "wire-wait 0"
    pair((0, "A"), (1, "B", RATE), (2, "B", RATE), fabric=fabric, options=options)
    sink, late = Sink("C1"), Sink("C2")
    flow = flow_of(0, 1).start()
    time.sleep(0.3)
    alone = rate_of(sink, flow, 2)
    ip("B", "link set z2 type zvnic rate 1kbit")
    stuck = [flow_of(0, 2).start() for _ in range(8)]
    if fabric:
        wait_until(lambda: all_out(2) and z(0)["slept"] > 0, "the culprit waits for credit")
    beside = rate_of(sink, flow, 2)
    p, w = z(2), {}
    say("victim %d alone, %d beside; receiver %s" % (alone, beside, {k: v for k, v in p.items() if v}))
    if not fabric:
        exact("collapse: without credit it has %.3f" % (beside / alone), beside < 0.1 * alone, (alone, beside, lost()))
        for f in (*stuck, flow):
            f.finish(now=True)
        for s in (sink, late):
            s.finish()
        end()
        return
    if VIRTUAL:
        check("victim: %.3f of its rate beside one that stands still" % (beside / alone), beside >= 0.98 * alone,
              (alone, beside))
    else:
        check("victim: goes on", beside > 0, (alone, beside))
    # Each transmit queue of an input may exceed its share by a frame.  Where time is real the victim's frames
    # wait for credit there as well, and lapsed credit may not have been asked for again yet.
    most = (256 << 10) + 1514 if VIRTUAL else 2 * ((256 << 10) + 8 * 1514)

    def wire_clears():
        w.update(wire("A"))
        return not w["backlog"]
    # A grant lets the victim's frames wait at the wire for a moment; the culprit's would stay there.
    wait_until(wire_clears, "nothing of the culprit's is on the wire")
    check("victim: %d bytes are let in by %d credits, %d wait for more on the other host" % (p["backlog"], p["credit"], w["held"]),
          0 < p["backlog"] <= RXQ * CREDIT and (RXQ - PART if VIRTUAL else 0) < p["credit"] <= RXQ and 0 < w["held"] <= most and not w["backlog"] and
          not p["held"], (p, w))
    ip("B", "link set z2 type zvnic rate " + FAST)
    arrive("victim", [late] * 8 + [sink], stuck + [flow])
    for s in (sink, late):
        s.finish()
    end()


def victim():
    stall(True)


def collapse():
    stall(False)


def shares():
    """Senders on this and on another host share a receiver's credit, by turns."""
    pair((0, "A"), (3, "A"), (1, "B", RATE), (2, "B"))
    sink = Sink("C1")
    flows = [flow_of(i, 1).start() for i in (0, 3, 2)]
    wait_until(lambda: all(sink.of(f) > 200 for f in flows), "all have begun")
    begin = [sink.of(f) for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) >= sum(begin) + 3000, "some have arrived")
    got = [sink.of(f) - b for f, b in zip(flows, begin)]
    check("shares: %s, Jain's index %.4f" % (got, jain(got)), jain(got) > (0.98 if VIRTUAL else 0.3), got)
    check("shares: within the bound", z(1)["credit"] <= RXQ, z(1))
    arrive("shares", [sink] * 3, flows)
    sink.finish()
    end()


def segments():
    """TCP, whose GSO segments of 64 KB are many frames on the wire."""
    pair((0, "A"), (3, "A"), (1, "B", RATE), (2, "B"))
    streams = [Stream("C%d" % a, "C%d" % b, addr(b), n, 1 << 20) for n, (a, b) in enumerate(((0, 1), (3, 1), (1, 3), (2, 0)))]
    same("segments: all bytes of TCP arrive", [s.finish() for s in streams], [True] * 4)
    again = [s.retransmitted for s in streams]
    exact("segments: nothing was sent again", again == [0] * 4, again)
    rest("segments", (0, 1, 2, 3))
    used = [wire("A")["remote_used"], sum(z(i)["credit_used"] for i in (1, 2))]
    # Credit that was given back unused belongs to no frame.
    extra = sum(z(i)["credit_extra"] + z(i)["credit_lapsed"] for i in (1, 2)) - wire("A")["remote_void"]
    same("segments: both ends count the same", (used[0], extra), (used[1], 0))
    end()


def trouble():
    """Frames of control are lost, doubled and delayed; then some frames of data are lost as well."""
    count = {"lost": 0, "doubled": 0, "late": 0, "data": 0}
    lose_data = [False]
    chance = random.Random(random.getrandbits(32))

    def judge(frame, _):
        if not Relay.is_control(frame):
            if lose_data[0] and chance.random() < 0.02:
                count["data"] += 1
                return []
            return [(0, frame)]
        dice = chance.random()
        if dice < 0.15:
            count["lost"] += 1
            return []
        if dice < 0.3:
            count["doubled"] += 1
            return [(0, frame), (chance.random() * 0.05, frame)]
        if dice < 0.4:
            count["late"] += 1
            return [(chance.random() * 0.05, frame)]
        return [(0, frame)]

    pair((0, "A"), (3, "A"), (1, "B", RATE), (2, "B", RATE), middle=True)
    relay = Relay(judge)
    sinks = [Sink("C%d" % i) for i in range(4)]
    ends = ((0, 1), (3, 1), (0, 2), (1, 0), (2, 3))
    flows = [flow_of(a, b, total=400).start() for a, b in ends]
    done = [f.finish() for f in flows]
    wait_until(lambda: all(sinks[b].of(f) == 400 for (_, b), f in zip(ends, flows)), "all arrive", 120)
    say("trouble: %s" % count)
    check("trouble: %d frames of control were lost, %d doubled, %d late" % (count["lost"], count["doubled"], count["late"]),
          all(done) and all(count[k] > 5 for k in ("lost", "doubled", "late")), count)
    arrive("trouble", [sinks[b] for _, b in ends], flows)
    p = wire("A")
    check("trouble: %d asks were repeated, %d of %d messages were old" % (p["fabric_retried"], p["fabric_stale"], p["fabric_in"]),
          p["fabric_retried"] > 0, p)
    lose_data[0] = True
    before = count["data"]
    flows = [flow_of(a, b, total=400).start() for a, b in ends]
    done = [f.finish() for f in flows]

    def absent():
        return sum(400 - sinks[b].of(f) for (_, b), f in zip(ends, flows))

    wait_until(quiet, "nothing waits", 120)
    # On a slow machine the box and the sinks hold frames that no switch counts.
    wait_until(lambda: absent() <= count["data"] - before, "what the box has let pass has come", 60)
    time.sleep(0.5)
    missing = absent()
    same("trouble: only what the box lost is missing", (done, missing), ([True] * 5, count["data"] - before))
    rest("trouble with data", (0, 1, 2, 3))
    lapsed = sum(z(i)["credit_lapsed"] for i in range(4))
    check("trouble: %d credits lapsed of %d frames that were lost" % (lapsed, missing), missing > 5 and lapsed >= missing, lapsed)
    relay.finish()
    for s in sinks:
        s.finish()
    end()


def remake(h):
    """A host's switch is deleted and created again, with all its ports."""
    ip(h, "link del zs0")
    ip(h, "link add zs0 type zswitch fabric on rxq %d" % RXQ)
    ip(h, "link set zs0 up")
    for i in where:
        if where[i] == h:
            ip(h, "link set z%d master zs0 up" % i)
    join(h, ways[h])
    addresses(h)


def restart():
    """Either switch is deleted and created again under traffic: flows go on by themselves."""
    pair((0, "A"), (1, "B", RATE))
    sink = Sink("C1")
    for h, what in (("A", "sender"), ("B", "receiver"), ("A", "sender again")):
        flow = flow_of(0, 1).start()
        wait_until(lambda: sink.of(flow) > 200, "it has begun")
        begin = time.monotonic()
        remake(h)
        at = sink.of(flow)
        wait_until(lambda: sink.of(flow) > at + 300, what + ": it goes on", 20)
        say("%s made again: goes on after %.2f s" % (what, time.monotonic() - begin))
        flow.finish(now=True)
        # Frames that waited in the switch that was deleted are lost with it.
        wait_until(quiet, "nothing waits", 60)
        later = flow_of(0, 1, total=300).start()
        same("restart: %s made again, a flow arrives whole" % what,
             (later.finish(), wait_for(lambda: sink.of(later) == 300), sink.whole(later)), (True, True, True))
        comes_home()
        same("restart: %s made again, all credit is home" % what, (home(), sink.disorder), ({}, 0))
    sink.finish()
    end()


def wait_for(condition, limit=60):
    try:
        wait_until(condition, "", limit)
    except RuntimeError:
        return False
    return True


def vanish():
    """A host that holds credit vanishes: others get it all when it has lapsed."""
    cut = [False]
    pair((0, "A"), (1, "B", RATE), (2, "B"), middle=True)
    relay = Relay(lambda frame, from_a: [] if cut[0] and (from_a and not Relay.is_control(frame) or cut[0] == 2) else [(0, frame)])
    sink = Sink("C1")
    flow = flow_of(0, 1).start()
    wait_until(lambda: sink.of(flow) > 200, "it has begun")
    # At first its frames are lost, so that credit for them is out; then everything is.
    cut[0] = 1
    wait_until(lambda: z(1)["credit"] >= RXQ // 2 and not z(1)["backlog"], "credit is out", 20)
    cut[0] = 2
    begin = time.monotonic()
    taken = z(1)["credit"]
    check("vanish: %d of %d credits are out and none of their frames is there" % (taken, RXQ), taken >= RXQ // 2, z(1))
    wait_until(lambda: z(1)["credit"] == 0, "it lapses", 20)
    took = time.monotonic() - begin
    exact("vanish: it lapses after %.2f s" % took, LAPSE - 0.6 < took < LAPSE + 0.5, took)
    others = [flow_of(2, 1).start() for _ in range(4)]
    most = [0]

    def others_have():
        most[0] = max(most[0], z(1)["credit"])
        return most[0] == RXQ
    wait_until(others_have, "another one has got it all")
    flow.stop = True
    p = z(1)
    check("vanish: another one gets all %d credits" % RXQ, most[0] == RXQ and p["credit_lapsed"] >= taken, p)
    for f in others:
        f.finish(now=True)
    wait_until(lambda: all(sink.of(f) == f.sent for f in others), "the others' frames arrive")
    # The host comes back.
    cut[0] = False
    same("vanish: its own go on when it is back", wait_for(quiet), True)
    flow.finish(now=True)
    back = flow_of(0, 1, total=300).start()
    same("vanish: and arrive whole", (back.finish(), wait_for(lambda: sink.of(back) == 300), sink.whole(back)), (True, True, True))
    comes_home()
    same("vanish: all credit is home", home(), {})
    relay.finish()
    sink.finish()
    end()


def random_control(rnd):
    """Frames of control as anybody may forge them"""
    other = "02:00:00:00:00:%02x" % rnd.randrange(256)
    ends = (rnd.choice((mac(0), mac(0), other, mac(1))), rnd.choice((mac(1), mac(1), mac(2), mac(0), other)))
    number = [lambda: rnd.getrandbits(32), lambda: rnd.randrange(200), lambda: 0, lambda: 2**32 - 1 - rnd.randrange(200)]
    n = [rnd.choice(number)() for _ in range(4)]
    frame = control(rnd.choice((ASK, HELLO, GRANT, rnd.randrange(256))), *ends, *n,
                    version=rnd.choice((1, 1, 1, 1, rnd.randrange(256))), flags=rnd.choice((0, 0, 0, 0, 1, rnd.getrandbits(16))))
    return frame[:rnd.choice((60, 60, 60, rnd.randrange(14, 60)))]


def guests_got(sock):
    """Number of frames of control that a guest got; too short ones do not count."""
    got = 0
    sock.setblocking(False)
    while True:
        try:
            got += sock.recv(2000)[14:18] == struct.pack("!I", MAGIC)
        except BlockingIOError:
            sock.close()
            return got


def forged():
    """Frames of control forged by one who cannot see the answers, by one who can, and by a guest."""
    pair((0, "A"), (1, "B", RATE), (2, "B"), middle=True)
    rnd = random.Random(random.getrandbits(32))
    heard, watch = [], [False]

    def judge(frame, from_a):
        if watch[0] and not from_a and Relay.is_control(frame) and frame[:6] == frame[:5] + b"\x77":
            heard.append(struct.unpack("!BBHIIII", frame[18:38]))
            return []
        return [(0, frame)]

    relay = Relay(judge)
    sink = Sink("C1")
    guests = [inside(names["C%d" % i], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_FABRIC)))
              for i in (1, 2)]
    before = [z(i)["credit_granted"] for i in (1, 2)]
    for _ in range(3000):
        relay.send(1, random_control(rnd))
    time.sleep(0.2)
    same("forged: 3000 of any kind mint no credit", [z(i)["credit_granted"] for i in (1, 2)], before)
    w = wire("B")
    check("forged: %d were taken in, of them %d without meaning; %d are malformed" % (w["fabric_in"], w["fabric_stale"], w["drop_malformed"]),
          w["fabric_in"] > 150 and w["drop_malformed"] > 100, w)
    # While a pair lives, in both directions
    flow = flow_of(0, 1).start()
    wait_until(lambda: sink.of(flow) > 100, "it has begun")
    for i in range(3000):
        relay.send(i & 1, random_control(rnd))
        if i % 50 == 0:
            time.sleep(0.002)
    wait_until(lambda: sink.of(flow) > 1000, "it goes on")
    check("forged: %d credits are out, no more than there are" % z(1)["credit"], z(1)["credit"] <= RXQ, z(1))
    flow.finish(now=True)
    wait_until(lambda: sink.of(flow) == flow.sent, "all arrive")
    same("forged: what is beside them arrives whole and in order", (sink.whole(flow), sink.disorder), (True, 0))
    comes_home()
    same("forged: all credit is home", home(), {})
    # A sender that sees the answers gets the credit it asks for, and loses it when it is silent.
    watch[0] = True
    me = "02:00:00:00:00:77"
    relay.send(1, control(ASK, me, mac(2), 1234, 0, 50))
    wait_until(lambda: heard, "a HELLO")
    hello = heard.pop()
    same("forged: a stranger gets a HELLO and no credit", (hello[1], hello[3], z(2)["credit"]), (HELLO, 1234, 0))
    relay.send(1, control(ASK, me, mac(2), 1234, hello[4], 50))
    wait_until(lambda: heard, "a GRANT")
    grant = heard.pop()
    same("forged: who gives its number back is granted 50", (grant[1], grant[3:6], z(2)["credit"]), (GRANT, (1234, hello[4], 50), 50))
    for count in (51, 115, 2**31, 2**32 - 1, 64):
        relay.send(1, control(ASK, me, mac(2), 1234, hello[4], count, 2**31))
    time.sleep(0.1)
    check("forged: and no more than there is", z(2)["credit"] <= RXQ, z(2))
    wait_until(lambda: z(2)["credit"] == 0, "it lapses", 10)
    same("forged: it lapses", (z(2)["credit_used"], z(2)["credit_granted"], home()), (0, z(2)["credit_lapsed"], {}))
    # Frames of control from a guest
    raw = inside(names["C0"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    raw.bind(("eth0", 0))
    passed = wire("A")["out"]
    for _ in range(500):
        raw.send(control(rnd.randrange(3), mac(0), rnd.choice((mac(1), "ff:ff:ff:ff:ff:ff", mac(9))), rnd.getrandbits(32), 0, 64))
    time.sleep(0.2)
    same("forged: a guest's are dropped, all 500", (z(0)["drop_forged"], wire("A")["out"]), (500, passed))
    same("forged: no guest has got one", [guests_got(s) for s in guests], [0, 0])
    del heard[:]
    ip("B", "link set %s type zswitch_slave fabric off" % ways["B"])
    relay.send(1, control(ASK, me, mac(2), 1234, 0, 50))
    wait_until(lambda: wire("B").get("drop_forged"), "refused")
    same("forged: nor are they taken from a wire without fabric", (wire("B")["drop_forged"], heard), (1, []))
    same("forged: every frame is accounted for", balanced(), {})
    raw.close()
    relay.finish()
    sink.finish()
    end()


def crowd():
    """A receiver has as many senders as it can; others get their numbers as well, and all return them at once."""
    pair((0, "A"), (2, "B"), middle=True)
    told = []

    def judge(frame, from_a):
        if not from_a and Relay.is_control(frame) and frame[:2] == b"\x02\x09":
            told.append((frame[:6].hex(":"), struct.unpack("!BBHIIII", frame[18:38])))
            return []
        return [(0, frame)]

    relay = Relay(judge)

    def answers(what, asks, wanted):
        del told[:]
        for n, (source, nonce) in enumerate(asks):
            relay.send(1, control(ASK, source, mac(2), 1234, nonce))
            if not n % 50:
                time.sleep(0.001)
        wait_until(lambda: len(told) >= wanted, what)
        time.sleep(0.1)
        return [(source, hello[4]) for source, hello in told if hello[1] == HELLO]

    def begin(kind, count):
        return answers("each is told a number", [("02:09:00:%02x:%02x:%02x" % (kind, n >> 8, n & 255), 0) for n in range(count)], count)

    # A pair that asks for no credit is idle, and gets no answer.
    again = answers("they are pairs", begin(1, 1024), 0)
    same("crowd: 1024 senders give their numbers back, and are told no other ones", again, [])
    time.sleep(0.5)
    others = begin(2, 100)
    again = answers("they are pairs", others, 0)
    check("crowd: so do 100 more, to %d of which it is said once more" % len(again), len(others) == 100 and len(again) <= 50, again)
    time.sleep(FAR_IDLE + 1)
    again = answers("an old ask is answered", others[:1], 1)
    same("crowd: who was forgotten does not become a pair by the old number",
         [(source, number != others[0][1]) for source, number in again], [(others[0][0], True)])
    relay.finish()
    end()


def gone():
    """vNICs are removed and the option is turned off and on, while frames wait beyond the wire."""
    pair((0, "A"), (3, "A"), (1, "B", RATE), (2, "B", "1kbit"))
    sink, late = Sink("C1"), Sink("C2")
    flow = flow_of(0, 1).start()
    stuck = [flow_of(i, 2, total=200).start() for i in (0, 3)]
    wait_until(lambda: all_out(2) and all(z(i)["waiting"] > 50000 for i in (0, 3)), "they wait", 20)
    mine, held = z(3)["waiting"], wire("A")["held"]
    ip("A", "link set z3 nomaster")
    same("gone: what waited of who goes, goes with it", wire("A")["held"] <= held - mine + 80 * 1442, True)
    where.pop(3)
    ip("B", "link set z2 type zvnic rate " + FAST)
    for options in ("fabric off", "fabric on") * 3:
        ip("A", "link set %s type zswitch_slave %s" % (ways["A"], options))
        at = sink.of(flow)
        wait_until(lambda: sink.of(flow) > at + 50, "the other one goes on: " + options)
    stuck[0].finish()
    stuck[1].finish(now=True)
    wait_until(lambda: late.of(stuck[0]) == 200, "all of who stays arrive")
    same("gone: who stays gets all through", (late.whole(stuck[0]), late.disorder), (True, 0))
    flow.finish(now=True)
    wait_until(lambda: sink.of(flow) == flow.sent, "all arrive")
    comes_home()
    # Grants for a vNIC that was removed, or on a wire without fabric, are dropped
    same("gone: the other one's arrive whole, all credit is home, and no frame is lost but of control",
         (sink.whole(flow), sink.disorder, home(), {k for p in lost().values() for k in p} - {"drop_local", "drop_forged"}),
         (True, 0, {}, set()))
    # The receiver is removed, with the frames that it has and those that wait for it.
    ip("B", "link set z2 type zvnic rate 1kbit")
    stuck = flow_of(0, 2, total=150).start()
    wait_until(lambda: all_out(2), "its credit is out")
    ip("B", "link set z2 nomaster")
    where.pop(2)
    ip("A", "link set zs0 type zswitch virtual-wait 2000")
    stuck.finish()
    wait_until(quiet, "what waits for it is given up", 30)
    check("gone: what waits for who is gone is given up, and counted", z(0)["drop_still"] > 0, z(0))
    same("gone: every frame is accounted for", balanced(sums=False), {})
    for s in (sink, late):
        s.finish()
    end()


def through():
    """Another switch between the hosts forwards frames of control, in their VLAN."""
    zbed.count += 1
    for h in ("A", "B", "X"):
        host(h, "fabric on rxq %d vlan-filtering on" % RXQ)
    container(0, "A")
    container(1, "B", RATE)
    cable("A", "X")
    cable("B", "X")
    for h, devs in (("A", ("wX", "z0")), ("B", ("wX", "z1")), ("X", ("wA", "wB"))):
        for dev in devs:
            run("bridge -n %s vlan add vid 10 dev %s%s" % (names[h], dev, " pvid untagged" if dev[0] == "z" else ""))
    for h in ("A", "B"):
        for i in where:
            run("bridge -n %s fdb replace %s dev zs0 via %s vlan 10 static" % (
                names[h], mac(i), "z%d" % i if where[i] == h else "wX"))
    # X learns the addresses.
    ways.pop("X")
    know()
    sink = Sink("C1")
    flow = flow_of(0, 1, total=500).start()
    flow.finish()
    wait_until(lambda: sink.of(flow) == 500, "all arrive")
    arrive("through", [sink], [flow])
    x = [port(dev, "X") for dev in ("wA", "wB")]
    same("through: by credit, and the switch between takes none of it in",
         (wire("A")["remote_used"], z(1)["credit_used"], z(1)["credit_extra"], [p["fabric_in"] for p in x]), (500, 500, 0, [0, 0]))
    sink.finish()
    end()


def refusals():
    pair((0, "A"), (1, "B"))
    for command, words in (("link set z0 type zswitch_slave fabric on", "fabric of a port is for wires"),
                           ("link set zs0 type zswitch unasked 65", "at most 64 credits"),
                           ("link set %s type zswitch_slave fabric x" % ways["A"], 'fabric is on or off, not "x"')):
        said = refused("ip " + command, "A")
        check("refused: %s" % command, said is not None and words in said, said)
    shown = ip("A", "-d -s link show " + ways["A"])
    check("refused: people see it", all(w in shown for w in ("fabric on", "remote_used 0", "fabric_in 0")), shown)
    end()


PARTS = (cold, unasked, stream, victim, collapse, shares, segments, trouble, restart, vanish, forged, crowd, gone, through, refusals)
# Number of results
PLAN = 71


def what_ports_say():
    for h in ways:
        for dev, p in ports(h).items():
            say("%s %s: %s" % (h, dev, {k: v for k, v in p.items() if v}))


def main():
    chosen = run_parts(PARTS, PLAN, end, what_ports_say)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
