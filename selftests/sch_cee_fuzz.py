#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# sch_cee under random options and random frames (PFC, 802.3x, CNM, garbage), while A and B
# send to C.  The network is that of sch_cee.py.  Prints TAP.
#
# Each round follows from one seed.  Each kind plays the seeds of fuzz_seeds, which have found
# bugs, then ROUNDS (environment) from SEED on; a round that fails prints its seed.
#
#   kept	options that leave priority 3 lossless, including speed and MTU of the links:
#		each of its datagrams arrives, in order
#   counted	any option of all ports: at every hop, all packets that were sent arrived or
#		were dropped, by reason
#   harsh	besides, links go down, qdiscs and ports are deleted, packets change their
#		priority: what arrives was sent, and arrives once
#
# After each round nothing waits, nothing is charged, and new ports work.

import os
import random
import struct
import sys
import time

import sch_cee as cee
from sch_cee import (HOSTS, MACS, PAUSE, ROOM, VIRTUAL, Flow, Forger, Sink, build, counters, destroy, names,
                     settled, sums)
from sch_cee_more import CN, CNM, Tap, point
from sch_ndp import check, run

ENDS = [("S", "p" + host) for host in HOSTS] + [(host, "e0") for host in HOSTS]
REASONS = ("limit", "overflow", "watchdog", "reset")
# Steps of a round, each with new options and some frames
STEPS = 40
# Datagrams of each flow: two flows in priority 3, and one beside them
TOTAL = 300


def any_of(*words):
    return random.choice(words)


def below(n):
    return random.randrange(n)


def safe_words():
    """Options of a port of S with which no traffic is lost, whatever their values."""
    return any_of(
        "prio 3 alpha 0 xoff %d xon 0" % random.randrange(8000, 250000),
        "prio 3 alpha %.3f xon 0" % random.uniform(0.002, 64),
        "prio 3 weight %d" % random.randrange(1, 101), "prio 3 strict",
        "prio 3 flows %d" % random.randrange(1, 257),
        "prio 3 ecn %s min %d max %d" % (any_of("red", "np"), below(20000), random.randrange(20000, 200000)),
        "prio 3 ecn off", "prio 3 qcn %s" % any_of("off", "standard", "thesis"),
        "prio %d lossless" % any_of(2, 4, 5), "prio %d lossy" % any_of(2, 4, 5), "prio 1 limit %d" % below(1 << 18),
        "trust %s" % any_of("yes", "no"), "pause %s" % any_of("pfc", "global"),
        "quanta %d" % any_of(0, random.randrange(1000, 65536)), "action %s" % any_of("drain", "drop"),
        "buffer %d" % random.randrange(8 << 20, 32 << 20), "cable %dus" % random.randrange(1, 100),
        "rate %dmbit" % any_of(0, random.randrange(50, 1000)))


def any_words():
    """Any options of a port, except those that change a packet's priority."""
    prio = below(8)
    return any_of(
        safe_words(), "trust %s" % any_of("yes", "no"), "quanta %d" % below(65536),
        "watchdog %dms action %s" % (below(20), any_of("drain", "drop")), "watchdog off",
        "prio %d %s" % (any_of(1, 3, prio), any_of("lossless", "lossy")),
        "prio 3 xoff %d" % below(1 << 24), "prio 3 xon %d" % below(1 << 18),
        "prio 3 headroom %d" % below(1 << 18), "prio %d alpha %g xon 0" % (prio, random.uniform(0, 70)),
        "prio %d weight %d" % (prio, below(110)), "prio %d limit %d" % (prio, below(1 << 18)),
        "prio %d flows %d" % (prio, below(260)), "prio all strict", "buffer %d" % below(1 << 26),
        "cable %dus ring %d" % (below(20000), below(1 << 17)), "rate %dmbit" % below(20),
        "prio %d ecn np min 0 max %d" % (prio, below(1 << 18)),
        "prio 3 qcn %s qeq %d limiter %s" % (any_of("off", "standard", "thesis"), below(1 << 17),
                                             any_of("off", "prio", "flow")))


def moving_words():
    """Any options of a port, also those that change a packet's priority."""
    return any_of(any_words(), "classify %s" % any_of("dscp", "pcp", "skb"),
                  "dscp %d-%d:%d" % (below(64), below(64), below(9)), "domain other")


def any_pfc():
    quanta = [any_of(0, 65535, below(65536)) for _ in range(8)]
    return PAUSE, b"\x88\x08", struct.pack("!HH8H", 0x0101, below(1 << 16), *quanta)


def any_global():
    return PAUSE, b"\x88\x08", struct.pack("!HH", 1, any_of(0, 65535, below(65536)))


def any_control():
    """MAC control of any operation and length, to anywhere"""
    return (any_of(PAUSE, random.randbytes(6)), b"\x88\x08",
            struct.pack("!H", any_of(1, 0x0101, below(1 << 16))) + random.randbytes(below(60)))


def any_cnm(quoted):
    """A CNM about a frame that was sent, or about random bytes"""
    what = any_of(quoted, random.randbytes(64))[:any_of(64, below(65))]
    body = point(below(64), what, below(8), any_of(0, 0, below(4)), any_of(None, below(80)))
    tag = random.randbytes(2) + struct.pack("!H", CNM)
    proto = any_of(CNM, CNM, CN)
    return (bytes.fromhex(MACS[any_of("pA", "pB", "pC")].replace(":", "")), struct.pack("!H", proto),
            (tag if proto == CN else b"") + any_of(body, body, random.randbytes(below(100))))


def garbage():
    return any_of(PAUSE, b"\xff" * 6, random.randbytes(6)), random.randbytes(2), random.randbytes(below(1400))


class Strangers:
    """All hosts send random frames; frames that their own ports refuse do not matter."""

    def __init__(self, mode):
        self.forgers = [Forger(host) for host in HOSTS]
        self.tap = Tap("C", (0x86dd if mode.endswith("6") else 0x0800,))
        self.tap.sock.setblocking(False)
        self.quoted = bytes(64)
        self.number = 0

    def quote(self):
        """Take the last packet that C has received"""
        try:
            while True:
                self.quoted = self.tap.sock.recv(2000)[12:76]
        except BlockingIOError:
            pass

    def send(self):
        dest, proto, payload = any_of(any_pfc, any_pfc, any_global, any_control, lambda: any_cnm(self.quoted), garbage)()
        try:
            random.choice(self.forgers).frame(payload, dest=dest, proto=proto)
            self.number += 1
        except OSError:
            pass

    def close(self):
        for forger in self.forgers:
            forger.close()
        self.tap.close()


class Round:
    def __init__(self, kind, mode):
        self.kind, self.mode = kind, mode
        self.wrong = []
        cee.say("%s: %s" % (kind, mode))
        self.accepted = self.refused = 0
        build(mode)
        for host in HOSTS:
            if not mode.startswith("route"):
                # Flooded frames would be counted at two ports.
                run("bridge -n %s fdb replace %s dev p%s master static%s" % (
                    names["S"], MACS[host], host, " vlan 10" if mode == "vlan" else ""))
        self.fresh()
        self.sink = Sink(mode)
        # The VLAN does not carry priority 1 (egress-qos-map).
        self.beside = 0 if mode == "vlan" else 1
        self.flows = [Flow(mode, host, prio, n, TOTAL) for n, (host, prio) in
                      enumerate((("A", 3), ("B", 3), ("A", self.beside)))]

    def fresh(self):
        """Set up new ports"""
        for node, dev in ENDS:
            words = "watchdog off" if self.kind == "kept" else ""
            if self.mode == "vlan":
                words += " classify pcp"
            cee.port(node, dev, words + ROOM)

    def options(self):
        words = {"kept": safe_words, "counted": any_words, "harsh": moving_words}[self.kind]()
        node, dev = random.choice(ENDS[:3] if self.kind == "kept" else ENDS)
        verb = any_of("change", "change", "replace")
        if cee.refused(node, "qdisc %s dev %s root handle 10: cee%s %s" % (verb, dev, ROOM, words)):
            self.refused += 1
        else:
            self.accepted += 1

    def links(self):
        """Change a link's rate, or its MTU, which stays large enough for the datagrams"""
        host = random.choice(HOSTS)
        if below(2):
            cee.ip(host, "link set e0 type netwire rate %dmbit" % any_of(100, 1000, random.randrange(50, 2000)))
        else:
            # A port drops frames longer than its own MTU.
            cee.ip(*any_of((host, "link set e0 mtu %d" % random.randrange(1500, 9001)),
                           ("S", "link set p%s mtu %d" % (host, random.randrange(1500, 9001)))))

    def blows(self):
        host = random.choice(HOSTS)
        what = below(4)
        if what == 0:
            cee.ip("S", "link set p%s down" % host)
            cee.ip("S", "link set p%s up" % host)
            if self.mode.startswith("route"):
                cee.routed(self.mode, host)
        elif what == 1:
            # With an MTU below 1280 a device has no IPv6.
            least = 1280 if self.mode == "route6" else 576
            cee.ip("S", "link set p%s mtu %d" % (host, any_of(least, 1500, 9000)))
        elif what == 2:
            cee.tc("S", "qdisc del dev p%s root" % host)
            cee.port("S", "p" + host)
        elif self.mode == "bridge":
            cee.ip("S", "link set p%s nomaster" % host)
            cee.ip("S", "link set p%s master br0" % host)

    def play(self):
        strangers = Strangers(self.mode)
        for flow in self.flows:
            flow.start()
        for _ in range(STEPS):
            strangers.quote()
            for _ in range(below(10)):
                strangers.send()
            self.options()
            if below(4) == 0:
                self.links()
            if self.kind == "harsh" and below(4) == 0:
                self.blows()
            time.sleep(random.expovariate(1000))
        strangers.close()
        self.equal("frames were sent", strangers.number > STEPS, True)
        self.equal("options were accepted", self.accepted > 0, True)

    def equal(self, what, got, wanted):
        if got != wanted:
            self.wrong.append("%s: got %r, wanted %r" % (what, got, wanted))

    def judge(self):
        if self.kind == "harsh":
            for host in HOSTS:
                cee.ip("S", "link set p%s mtu 1500" % host)
            self.fresh_again()
        self.equal("senders end", [flow.finish() for flow in self.flows], [True] * 3)
        drain(300)
        got = self.sink.read()
        of = [[d for d in got if d[0] == n] for n in range(3)]
        for n, flow in enumerate(self.flows):
            name = "flow %d" % n
            sent = set(flow.sent)
            self.equal(name + ": all was sent", len(sent), TOTAL)
            self.equal(name + ": what arrives was sent", [d for d in of[n] if d not in sent], [])
            self.equal(name + ": and arrives once", len(of[n]), len(set(of[n])))
            if self.kind != "harsh":
                self.equal(name + ": in order", of[n], sorted(of[n], key=lambda d: d[1:5]))
        ports = {end: counters(*end) for end in ENDS}
        self.equal("counters add up", [end for end in ENDS if not sums(ports[end])], [])
        if self.kind != "harsh":
            self.hops(ports, of)

    def hops(self, ports, of):
        """Packets that were sent are accounted for at each hop."""
        def at(ends, prio, key):
            return sum(ports[end]["prio%d" % prio][key] for end in ends)
        for prio, arrived, flows in ((3, len(of[0]) + len(of[1]), 2), (self.beside, len(of[2]), 1)):
            if prio == 0:
                # Random frames are counted there as well.
                continue
            name = "priority %d: " % prio
            self.equal(name + "the hosts have all", at(ENDS[3:], prio, "in"), flows * TOTAL)
            self.equal(name + "what left them came to S", at(ENDS[:3], prio, "in"), at(ENDS[3:], prio, "sent"))
            self.equal(name + "what left S arrived", arrived, at(ENDS[:3], prio, "sent"))
            drops = {why: at(ENDS, prio, "drop_" + why) for why in REASONS}
            self.equal(name + "sent, arrived, dropped by %r" % drops, arrived + sum(drops.values()), flows * TOTAL)
            if self.kind == "kept" and prio == 3:
                self.equal(name + "no drop", sum(drops.values()), 0)

    def fresh_again(self):
        for node, dev in ENDS:
            cee.tc(node, "qdisc del dev %s root" % dev)
        self.fresh()

    def works(self):
        """New ports work as they should"""
        self.fresh_again()
        for host in HOSTS:
            cee.wait_for_carrier(names["S"], "p" + host)
        drain(10)
        flow = Flow(self.mode, "A", 3, 9, 20).start()
        self.equal("new ports: all was sent", flow.finish(), True)
        drain(60)
        self.equal("new ports: all arrive", self.sink.read() == flow.sent, True)


def quiet():
    return settled() and not any(counters(host, "e0")["qlen"] for host in HOSTS)


def drain(limit):
    """Wait until nothing is queued.  As slow links take seconds, polls get ever rarer."""
    end, gap = time.monotonic() + limit, 0.02
    while not quiet():
        if time.monotonic() > end:
            raise RuntimeError("something waits, or is charged")
        time.sleep(gap)
        gap = min(2 * gap, 2)


def play(kind, seed):
    """Play a round.  Return: what was wrong"""
    random.seed("%s %d" % (kind, seed))
    r = None
    try:
        r = Round(kind, any_of("bridge", "vlan", "route", "route6"))
        r.play()
        r.judge()
        r.works()
        r.sink.sock.close()
        return r.wrong
    except RuntimeError as e:
        return (r.wrong if r else []) + [str(e)] + ["%s %s: %r" % (*end, counters(*end)) for end in ENDS]
    finally:
        destroy()


def seeds(kind):
    """Seeds that have found bugs, then new ones"""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz_seeds"), encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words and words[0] == kind:
                yield int(words[1])
    first = int(os.environ["SEED"])
    yield from range(first, first + int(os.environ.get("ROUNDS", 2 if VIRTUAL else 1)))


def rounds(kind, play):
    begin = time.monotonic()
    for number, seed in enumerate(seeds(kind)):
        wrong = play(kind, seed)
        if wrong:
            check("%s: SEED=%d ROUNDS=1 PARTS=%s" % (kind, seed, kind), False, "; ".join(wrong[:12]))
            return
    check("%s: %d rounds, %d s" % (kind, number + 1, time.monotonic() - begin), True)


def kept():
    rounds("kept", play)


def counted():
    rounds("counted", play)


def harsh():
    rounds("harsh", play)


PARTS = (kept, counted, harsh)
# One result for each part, and the module's unloading
PLAN = 3 + 1

if __name__ == "__main__":
    sys.exit(cee.main(PARTS, PLAN))
