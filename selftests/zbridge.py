#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zBridge: frames between the switches of two or three hosts by a tunnel over UDP.  Prints TAP.
#
#	container 0 -- z0 - zs0 - zf0 (A) wB ---- cable ---- wA (B) zf0 - zs0 - z1 -- container 1
#	                                or: a box that loses, doubles, delays, damages, forges
#
# Where time is virtual the times are exact; elsewhere what depends on the machine's speed is
# not checked.

import json
import mmap
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import zbed
import zfabric_wire
from sch_cee import VIRTUAL, ip, names, run_parts, sysctl, tc, verdict
from sch_ndp import check, checksum, exact, inside, run, same, say, wait_for_carrier, wait_until
from zbed import Datagrams, Sink, Stream, addr, all_ports, destroy, drops, knows, mac, node_add, port, rate_of, refused
from zfabric_wire import Relay, container, flow_of, host, where

RATE = "1gbit" if VIRTUAL else "50mbit"
DELAY = 20e-6
PORT = 13142
ID = 42
HEADER = struct.Struct("!BBBBIIIIII")
CONTROL = struct.Struct("!6s6sI")
SYN, SYNACK, DATA, ACK, NACK, ASK, CLOSE, CLOSED, RST = range(9)
IDLE, DEAD, CHECK = 60, 3, 2
# UDP, header, Ethernet, VLAN
HEADERS = 8 + HEADER.size + 14 + 4
family = 4


def under(h):
    """Address of a host"""
    return ("192.168.7.%d" if family == 4 else "fd00:7::%d") % (ord(h) - ord("A") + 1)


def under_mac(h, other):
    return "02:00:00:00:%02x:%02x" % (ord(h), ord(other))


def cable(a, b, mtu=1600, options=""):
    """A cable between two hosts, or a host and the box M"""
    ip(a, "link add w%s mtu %d type netwire rate %s delay %dus %s peer name w%s mtu %d netns %s" % (
        b, mtu, RATE, DELAY * 1e6, options, a, mtu, names[b]))
    for h, other in ((a, b), (b, a)):
        dev = "w" + other
        if h == "M":
            ip(h, "link set %s up" % dev)
            continue
        ip(h, "link set %s address %s up" % (dev, under_mac(h, other)))
        tc(h, "qdisc replace dev %s root cee dscp 0-63:3 cable %dus" % (dev, DELAY * 1e6))


def route(h, other, by):
    """Route to another host by the device w<by>, whose other end is that host or the box M"""
    dev = "w" + by
    if family == 4:
        ip(h, "address replace %s/32 dev %s" % (under(h), dev))
        ip(h, "route replace %s/32 dev %s" % (under(other), dev))
    else:
        sysctl(h, "ipv6/conf/%s/disable_ipv6" % dev, 0)
        ip(h, "-6 address replace %s/128 dev %s nodad" % (under(h), dev))
        ip(h, "-6 route replace %s/128 dev %s" % (under(other), dev))
    ip(h, "neighbour replace %s lladdr %s nud permanent dev %s" % (under(other), under_mac(other, "M" if by == "M" else h), dev))


def tunnel(h, others, by, options="", fabric=True):
    ip(h, "link add zf0 type zbridge id %d local %s dev w%s %s" % (ID, under(h), by, options))
    ip(h, "link set zf0 master zs0 up")
    if fabric:
        ip(h, "link set zf0 type zswitch_slave fabric on")
    for other in others:
        run("bridge -n %s fdb append 00:00:00:00:00:00 dev zf0 dst %s" % (names[h], under(other)))


def pair(*containers, fabric=True, middle=False, options="", cable_options="", switch=None, mtu=1600):
    """Hosts A and B and their containers: (number, host, rate)."""
    zbed.count += 1
    for h in ("A", "B"):
        host(h, switch if switch is not None else "fabric on" if fabric else "")
    if middle:
        node_add("M")
        cable("A", "M", mtu)
        cable("B", "M", mtu)
    else:
        cable("A", "B", mtu, cable_options)
    for h, other in (("A", "B"), ("B", "A")):
        route(h, other, "M" if middle else other)
        tunnel(h, [other], "M" if middle else other, options, fabric)
    for c in containers:
        container(*c)
    know()


def know():
    """Static neighbours and forwarding entries; each host knows on which host an address is."""
    for i in where:
        ip("C%d" % i, "link set eth0 mtu 1500")
        knows("C%d" % i, "eth0", where)
        wait_for_carrier(names["C%d" % i], "eth0")
    for h in set(where.values()):
        wait_for_carrier(names[h], "zf0")
        for i in where:
            here = where[i] == h
            run("bridge -n %s fdb replace %s dev zs0 via %s static" % (names[h], mac(i), "z%d" % i if here else "zf0"))
            if not here:
                run("bridge -n %s fdb replace %s dev zf0 dst %s" % (names[h], mac(i), under(where[i])))
    # A new receiver grants nothing for a while.
    time.sleep(2 * zfabric_wire.QUIET)


def zf(h):
    return json.loads(ip(h, "-s -d -j link show dev zf0"))[0]["linkinfo"]["info_data"]


def zf_port(h):
    return port("zf0", h)


def hosts():
    return sorted(h for h in names if h in "ABD" and "zf0" in ip(h, "-o link show"))


# Drops of frames that the tunnel does not deliver later
FINAL = ("drop_nodest", "drop_full", "drop_nomem", "drop_dead", "drop_reset", "drop_down")


def lost():
    """Frames lost in all switches and tunnels"""
    wrong = {}
    for h in hosts():
        for dev, p in all_ports(h).items():
            if drops(p):
                wrong[h + " " + dev] = drops(p)
        for k, v in drops(zf(h)).items():
            if k in FINAL:
                wrong[h + " " + k] = v
    return wrong


def unsettled():
    """Tunnels that hold frames, or whose frames are not accounted for"""
    wrong = {}
    for h in hosts():
        t = zf(h)
        if t["used"] or t["taken"] != t["acked"] + t["drop_dead"] + t["drop_reset"] + t["drop_down"]:
            wrong[h] = {k: v for k, v in t.items() if v}
    return wrong


def settle(what, losses=None):
    """Wait until all is acknowledged, and each frame taken on one host was delivered on the other."""
    def rest():
        # Messages that return credit are frames as well, also between two readings.
        tunnels = [zf(h) for h in hosts()]
        return not unsettled() and sum(t["taken"] for t in tunnels) == sum(t["delivered"] for t in tunnels)

    wait_until(rest, what + ": all is acknowledged, and all that was taken was delivered", 20)
    same(what + ": nothing is lost, all that was taken was delivered", lost(), losses or {})


def arrive(what, sinks, flows, losses=None):
    done = [f.finish(now=True) for f in flows]
    wait_until(lambda: all(s.of(f) == f.sent for s, f in zip(sinks, flows)), what + ": all arrive", 60)
    same(what + ": all arrive whole and in order",
         (done, [s.whole(f) for s, f in zip(sinks, flows)], sum(s.disorder for s in set(sinks))),
         ([True] * len(flows), [True] * len(flows), 0))
    settle(what, losses)


def end():
    global family
    destroy()
    where.clear()
    zfabric_wire.ways.clear()
    family = 4


def carried(what, fabric):
    pair((0, "A"), (1, "B"), (2, "A"), (3, "B"), fabric=fabric)
    sinks = {i: Sink("C%d" % i) for i in (1, 2)}
    flows = [Datagrams("C0", addr(1), total=3000).start(), Datagrams("C3", addr(2), total=3000).start()]
    streams = [Stream("C2", "C3", addr(3), 1, 2 << 20)]
    for f in flows:
        f.finish()
    same(what + ": TCP arrives to the byte", [s.finish() for s in streams], [True])
    arrive(what, [sinks[1], sinks[2]], flows)
    a = zf("A")
    # Where time is real A asks again before a slow host has answered.
    exact(what + ": there are %d asks and %d acknowledgements for them" % (a["asks_out"], zf("B")["acks_out"]),
          zf("B")["acks_out"] <= a["sent"] / 20 + 40, a)
    check(what + ": %d frames are sent once" % a["sent"], a["sent"] == a["taken"] and not a["resent"], a)
    acks = {}

    def agree():
        # Messages that return credit are frames as well, also between two readings.
        acks["in"], acks["out"] = [zf(h)["acks_in"] for h in "AB"], [zf(h)["acks_out"] for h in "BA"]
        return acks["in"] == acks["out"]

    wait_until(agree, what + ": no acknowledgement is on its way", 20)
    same(what + ": each acknowledgement is counted where it leaves, and where it comes", acks["in"], acks["out"])
    for s in sinks.values():
        s.finish()
    end()


def plain():
    carried("plain", False)


def credit():
    carried("credit", True)


def six():
    global family
    family = 6
    carried("IPv6", True)


# Packets as the box M sees them

CRC_TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ 0x82f63b78 if n & 1 else n >> 1
    CRC_TABLE.append(n)


def crc32c(data, crc=0xffffffff):
    for b in data:
        crc = CRC_TABLE[(crc ^ b) & 0xff] ^ crc >> 8
    return crc


def packet(kind, to=0, by=0, seq=0, ack=0, body=b"", flags=0, prio=0, version=1, vni=ID, good=True):
    """A packet of the tunnel: header and body"""
    fields = (version << 4 | kind, flags, prio, 0, vni << 8, to, by, seq, ack)
    crc = crc32c(HEADER.pack(*fields, 0), crc32c(body)) ^ 0xffffffff
    return HEADER.pack(*fields, crc if good else crc ^ 1) + body


def ip_header(src, dst, length, tos=0):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, length, 0, 0, 64, 17, 0, socket.inet_aton(src), socket.inet_aton(dst))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:]


def frame_to(h, payload, src=None, sport=50000):
    """A frame from the other host, or one that looks like it"""
    other = "B" if h == "A" else "A"
    macs = bytes.fromhex((under_mac(h, "M") + under_mac(other, "M")).replace(":", ""))
    udp = struct.pack("!HHHH", sport, PORT, 8 + len(payload), 0) + payload
    return macs + b"\x08\0" + ip_header(src or under(other), under(h), 20 + len(udp), 0) + udp


class Seen:
    """A packet of the tunnel in an IPv4 frame; kind is None for any other frame"""

    def __init__(self, frame):
        self.kind = None
        if frame[12:14] != b"\x08\0" or frame[23] != 17 or len(frame) < 42 + HEADER.size:
            return
        self.tos = frame[15]
        self.sport, dport = struct.unpack("!HH", frame[34:38])
        if dport != PORT:
            return
        vt, self.flags, self.prio, _, _, self.to, self.by, self.seq, self.ack, self.crc = HEADER.unpack(frame[42:42 + HEADER.size])
        self.kind = vt & 15
        self.body = frame[42 + HEADER.size:]


def trouble():
    """Packets of all kinds are lost, duplicated, delayed and damaged."""
    pair((0, "A"), (1, "B"), middle=True)
    count = {"lost": 0, "doubled": 0, "late": 0, "damaged": 0, "control": 0}
    chance = random.Random(random.getrandbits(32))

    def judge(frame, _):
        x = Seen(frame)
        if x.kind is None:
            return [(0, frame)]
        what = chance.random()
        if what < 0.02:
            count["lost"] += 1
            count["control"] += x.kind != DATA
            return []
        if what < 0.04:
            count["doubled"] += 1
            return [(0, frame), (0, frame)]
        if what < 0.05:
            count["late"] += 1
            return [(0.002, frame)]
        if what < 0.07:
            count["damaged"] += 1
            # Behind the network's id, by which the tunnel is found that counts it
            at = chance.randrange(50, len(frame))
            return [(0, frame[:at] + bytes([frame[at] ^ 1 << chance.randrange(8)]) + frame[at + 1:])]
        return [(0, frame)]

    relay = Relay(judge)
    sinks = [Sink("C1"), Sink("C0")]
    flows = [flow_of(0, 1, total=2000, pace=0.0002).start(), flow_of(1, 0, total=2000, pace=0.0002).start()]
    for f in flows:
        f.finish()
    arrive("trouble", sinks, flows)
    say("trouble: %s" % count)
    t = [zf(h) for h in hosts()]
    check("trouble: all of it happened, and was seen: %s" % count,
          all(count.values()) and all(x["resent"] and x["early"] and x["duplicate"] and x["drop_crc"] for x in t), (count, t))
    same("trouble: what was damaged was counted", sum(x["drop_crc"] for x in t), count["damaged"])
    relay.finish()
    for x in sinks:
        x.finish()
    end()


def bits():
    """The cable has bit errors."""
    pair((0, "A"), (1, "B"), cable_options="ber 1e-6")
    stream = Stream("C0", "C1", addr(1), 1, 8 << 20)
    same("bit errors: all bytes arrive", stream.finish(), True)
    # A frame that is lost twice may arrive later than TCP's tail loss probe.
    again = zf("A")["resent"]
    exact("bit errors: TCP sent %d segments again where the tunnel did %d" % (stream.retransmitted, again),
          stream.retransmitted <= again / 20, zf("A"))
    settle("bit errors")
    check("bit errors: %d frames were sent again" % zf("A")["resent"], zf("A")["resent"] > 10, zf("A"))
    end()


def late():
    """Packets of a flow are reordered: with one path missing ones are asked for at once, with many they are not."""
    for spread in (False, True):
        pair((0, "A"), (1, "B"), middle=True, options="spread %s" % ("on" if spread else "off"))
        sports, chance = set(), random.Random(random.getrandbits(32))

        def judge(frame, from_a):
            x = Seen(frame)
            if x.kind == DATA and from_a and not x.prio:
                sports.add(x.sport)
                if chance.random() < 0.1:
                    return [(0.0005, frame)]
            return [(0, frame)]

        relay, sink = Relay(judge), Sink("C1")
        flow = flow_of(0, 1, total=1000, pace=0.0002).start()
        flow.finish()
        what = "many paths" if spread else "one path"
        arrive(what, [sink], [flow])
        a, b = zf("A"), zf("B")
        same(what + ": source ports", len(sports), 16 if spread else 1)
        check(what + ": %d of %d early ones were asked for" % (b["nacks_out"], b["early"]),
              b["early"] and (b["nacks_out"] < b["early"] / 10 if spread else b["nacks_out"] > 20), (a, b))
        relay.finish()
        sink.finish()
        end()


def victim():
    """A receiver that is stalled: with credit it blocks no other one."""
    pair((0, "A"), (1, "B"), (2, "B"), switch="fabric on rxq 64")
    sink, stuck_sink = Sink("C1"), Sink("C2")
    flow = Datagrams("C0", addr(1)).start()
    time.sleep(0.1)
    alone = rate_of(sink, flow, 0.5)
    ip("B", "link set z2 type zvnic rate 1kbit")
    stuck = Datagrams("C0", addr(2)).start()
    wait_until(lambda: port("z2", "B")["credit"] > 50 and zf_port("A")["held"] > (1e5 if VIRTUAL else 3e4), "the receiver's credit is out")
    beside = rate_of(sink, flow, 0.5)
    check("victim: %.3f of its rate beside one that stands still" % (beside / alone),
          beside >= 0.98 * alone if VIRTUAL else beside > 0, (alone, beside))
    ip("B", "link set z2 type zvnic rate 1gbit")
    arrive("victim", [stuck_sink, sink], [stuck, flow])
    for x in (sink, stuck_sink):
        x.finish()
    end()


def stops():
    """Without credit a stalled receiver stops the flow, at both ends, and nothing is lost."""
    pair((0, "A"), (1, "B"), fabric=False, options="buffer 64", switch="wire-wait 0")
    sink = Sink("C1")
    ip("B", "link set z1 type zvnic rate 1kbit")
    flow = Datagrams("C0", addr(1)).start()
    time.sleep(2)
    sent, a, b = flow.sent, zf("A"), zf("B")
    time.sleep(5)
    same("stops: the sender sleeps, both ends know that the other lives", (flow.sent - sent, zf("A")["dead"], zf("B")["dead"]), (0, 0, 0))
    asks = zf("A")["asks_out"] - a["asks_out"]
    exact("stops: it is asked ever less often, %d times in 5 s" % asks, 8 <= asks <= 12, asks)
    check("stops: both ends keep what they may", 0 < a["used"] < (2 << 20) and 0 < b["used"] < (1 << 20), (a, b))
    same("stops: what waits for the switch alone is not early", zf("B")["early"], 0)
    ip("B", "link set z1 type zvnic rate 1gbit")
    arrive("stops", [sink], [flow])
    sink.finish()
    end()


def raw_frames(node, addresses, size=60):
    """Send frames with these pairs of destination and source"""
    s = inside(names[node], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    s.bind(("eth0", 0))
    for n, (to, by) in enumerate(addresses):
        s.send(bytes.fromhex((to + by).replace(":", "")) + b"\x88\xb6" + bytes(size))
        if not n % 50:
            time.sleep(0.001)
    s.close()


def made_up(kind, n):
    return "02:%02x:00:00:%02x:%02x" % (kind, n >> 8, n & 255)


def apart():
    """Many flows for which the switch has no room do not stop those of another priority."""
    pair((0, "A"), (1, "B"), (2, "B"), fabric=False, switch="wire-wait 0")
    ip("B", "link set z1 type zvnic rate 1kbit")
    # Each flow asks twice a second, and a slow machine has to answer.
    flows = 200 if VIRTUAL else 40
    raw_frames("C0", [(mac(1), made_up(1, n % flows)) for n in range(2000)], 1400)
    time.sleep(0.5)
    check("apart: they wait", zf("B")["used"] > 100000, zf("B"))
    sink, flow = Sink("C2"), flow_of(0, 2, total=200, tos=0x40).start()
    flow.finish()
    wait_until(lambda: sink.of(flow) == 200, "the others arrive")
    same("apart: another priority's arrive whole and in order", (sink.whole(flow), sink.disorder), (True, 0))
    ip("B", "link set z1 type zvnic rate 1gbit")
    settle("apart")
    sink.finish()
    end()


def crowd():
    """A guest that forges addresses"""
    pair((0, "A"), (1, "B"), fabric=False)
    sink, flow = Sink("C1"), flow_of(0, 1, total=20).start()
    flow.finish()
    arrive("crowd: before", [sink], [flow])
    before = zf("A")["flows"]
    raw_frames("C0", [(made_up(2, n), mac(0)) for n in range(2000)])
    settle("crowd: destinations")
    same("crowd: what is for nobody goes by one flow", zf("A")["flows"] - before, 1)
    if VIRTUAL:
        raw_frames("C0", [(mac(1), "02:03:00:%02x:%02x:%02x" % (n >> 16, n >> 8 & 255, n & 255)) for n in range(33000)])
        time.sleep(3)
        flows = zf("A")["flows"]
        check("crowd: of 33000 flows of sources, idle ones are closed soon: %d are left" % flows, flows <= 32768, zf("A"))
        settle("crowd: sources")
    again = flow_of(0, 1, total=20).start()
    again.finish()
    arrive("crowd: after", [sink], [again])
    # The broadcast address of a network is no host's.
    ip("A", "address add 192.168.8.1/24 dev wB")
    run("bridge -n %s fdb append 00:00:00:00:00:00 dev zf0 dst 192.168.8.255" % names["A"])
    wire = inside(names["A"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
    wire.bind(("wB", 3))
    wire.settimeout(0.5)
    raw_frames("C0", [(made_up(2, 1), mac(0))])
    seen = []
    try:
        while True:
            seen.append(wire.recv(2000)[:6])
    except socket.timeout:
        wire.close()
    same("crowd: no packet of the tunnel's is for a whole network", (len(seen) > 0, b"\xff" * 6 in seen), (True, False))
    sink.finish()
    end()


def restart():
    """A host's tunnel is deleted and created again while frames flow."""
    pair((0, "A"), (1, "B"))
    sink = Sink("C1")
    flow = Datagrams("C0", addr(1), pace=0.0005).start()
    for _ in range(3):
        wait_until(lambda n=sink.of(flow): sink.of(flow) > n + 200, "frames arrive", 30)
        ip("B", "link del zf0")
        time.sleep(0.2)
        tunnel("B", ["A"], "A")
        for i in where:
            if where[i] != "B":
                run("bridge -n %s fdb replace %s dev zs0 via zf0 static" % (names["B"], mac(i)))
    wait_until(lambda n=sink.of(flow): sink.of(flow) > n + 200, "frames arrive", 30)
    flow.finish(now=True)
    wait_until(lambda: not unsettled(), "all is acknowledged", 20)
    time.sleep(1)
    a = zf("A")
    missing = flow.sent - sink.of(flow)
    say("restart: %d of %d lost; %s" % (missing, flow.sent, {k: v for k, v in a.items() if v}))
    same("restart: no frame comes twice, or behind a later one", sink.disorder, 0)
    # Frames that arrived unacknowledged count as lost at A.  A port that is deleted loses the frames it had taken.
    check("restart: what is lost was counted", a["reset"] >= 3 and missing <= a["drop_reset"] + sum(drops(port("z1", "B")).values()) +
          sum(drops(port("z0", "A")).values()) + sum(drops(zf_port("A")).values()) + 64 * 3, (missing, a))
    sink.finish()
    end()


def dead():
    """The path is cut for longer than a host may be silent."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True)
    cut = [False]
    relay, sink = Relay(lambda frame, _: [] if cut[0] else [(0, frame)]), Sink("C1")
    flow = flow_of(0, 1, total=50).start()
    flow.finish()
    arrive("dead: before", [sink], [flow])
    cut[0] = True
    begin = time.monotonic()
    flow = flow_of(0, 1, total=50).start()
    flow.finish()
    wait_until(lambda: zf("A")["dead"], "the host is dead")
    took = time.monotonic() - begin
    exact("dead: known after %.2f s" % took, DEAD <= took < DEAD + 0.3, took)
    same("dead: what is lost is counted", (zf("A")["drop_dead"], unsettled()), (50, {}))
    cut[0] = False
    flow = flow_of(0, 1, total=50).start()
    flow.finish()
    wait_until(lambda: sink.of(flow) == 50, "frames arrive again")
    same("dead: after that all arrive", sink.whole(flow), True)
    relay.finish()
    sink.finish()
    end()


def watched(judge, what, total):
    """Open a flow whose packets @judge sees.  Return: the box, and sinks of C1 and C0."""
    relay, sinks = Relay(judge), [Sink("C1"), Sink("C0")]
    flow = flow_of(0, 1, total=total).start()
    flow.finish()
    arrive(what + ": before", sinks[:1], [flow])
    return relay, sinks


def both_ways(sinks, total, what):
    """Flows from C0 to C1 and back; returns when they have arrived"""
    flows = [flow_of(0, 1, total=total).start(), flow_of(1, 0, total=total).start()]
    for f in flows:
        f.finish()
    wait_until(lambda: all(s.of(f) == total for s, f in zip(sinks, flows)), what)
    return flows


def differ():
    """A frame is lost, and a forged packet acknowledges it: the ends' numbers differ, and no frame reveals that."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True)
    forge, seq, lies = [False], [0], [0]

    def judge(frame, from_a):
        x = Seen(frame)
        if forge[0] and x.kind == DATA and from_a:
            seq[0] = x.seq
            return []
        if forge[0] and x.kind in (ACK, NACK) and not from_a:
            lies[0] += 1
            return [(0, frame_to("A", packet(ACK, x.to, x.by, x.seq, (seq[0] + 1) & 0xffffffff, x.body)))]
        return [(0, frame)]

    relay, sinks = watched(judge, "differ", 20)
    forge[0] = True
    liar = flow_of(0, 1, total=1).start()
    liar.finish()
    wait_until(lambda: lies[0] and not zf("A")["used"], "it is acknowledged")
    forge[0] = False
    same("differ: it has not come", sinks[0].of(liar), 0)
    wait_until(lambda: not zf("A")["flows"] and not zf("B")["flows"], "both ends have forgotten the flow", IDLE / 2)
    check("differ: both ends have forgotten the flow", zf("A")["dead"] == 1, zf("A"))
    flows = both_ways(sinks, 50, "the next ones arrive")
    same("differ: the next ones arrive whole", [s.whole(f) for s, f in zip(sinks, flows)], [True, True])
    wait_until(lambda: not unsettled(), "all is acknowledged")
    same("differ: nothing else is lost", lost(), {})
    relay.finish()
    for s in sinks:
        s.finish()
    end()


def phantom():
    """Both ends keep a forged frame that is ahead in sequence."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True)
    changed, on = {}, [False]

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind != DATA or not on[0] or from_a in changed:
            return [(0, frame)]
        changed[from_a] = x.seq
        to = "B" if from_a else "A"
        return [(0, frame_to(to, packet(DATA, x.to, x.by, (x.seq + 9) & 0xffffffff, x.ack, x.body, 0, x.prio))), (0, frame)]

    relay, sinks = watched(judge, "phantom", 1)
    on[0] = True
    both_ways(sinks, 1, "they arrive")
    same("phantom: both ends keep one", (len(changed), zf("A")["early"], zf("B")["early"]), (2, 1, 1))
    wait_until(lambda: not zf("A")["used"] and not zf("B")["used"], "they are dropped", CHECK + 5)
    flows = both_ways(sinks, 20, "the next ones arrive")
    same("phantom: none is taken for a real one", ([s.whole(f) for s, f in zip(sinks, flows)], [zf(h)["dead"] + zf(h)["reset"] for h in "AB"]),
         ([True, True], [0, 0]))
    relay.finish()
    for s in sinks:
        s.finish()
    end()


def mixed():
    """Openings arrive with a changed address or priority: the ends disagree on which flow they have."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True)
    changed = []

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind != SYN or from_a or len(changed) == 2:
            return [(0, frame)]
        changed.append(x)
        prio, body = ((5, x.body), (x.prio, x.body[:6] + b"\2\x17" + x.body[8:]))[len(changed) - 1]
        return [(0, frame_to("A", packet(SYN, 0, x.by, x.seq, 0, body, x.flags, prio)))]

    relay, sinks = Relay(judge), [Sink("C0"), Sink("C1")]
    flows = []
    for sink, (i, j) in zip(sinks, ((1, 0), (0, 1))):
        flow = flow_of(i, j, total=20).start()
        flows.append(flow)
        flow.finish()
        wait_until(lambda: sink.of(flow) == 20, "they arrive")
    same("mixed: two openings were changed", len(changed), 2)
    arrive("mixed", sinks, flows)
    relay.finish()
    for s in sinks:
        s.finish()
    end()


def closed():
    """A flow that is idle is closed, and another begins with the next frame."""
    pair((0, "A"), (1, "B"), fabric=False)
    sink = Sink("C1")
    for n in (1, 2):
        flow = Datagrams("C0", addr(1), total=20).start()
        flow.finish()
        arrive("closed %d" % n, [sink], [flow])
        opened = zf("A")["opened"]
        time.sleep(IDLE - 5)
        same("closed %d: both ends know the flow" % n, (zf("A")["flows"], zf("B")["flows"]), (1, 1))
        time.sleep(8)
        a, b = zf("A"), zf("B")
        same("closed %d: both ends have forgotten it, nobody was reset" % n,
             (a["flows"], b["flows"], a["closed"] + b["closed"], a["reset"] + b["reset"], opened), (0, 0, 2 * n, 0, n))
    sink.finish()
    end()


def forged():
    """Packets forged by a sender that sees no traffic, beside a live flow."""
    pair((0, "A"), (1, "B"), middle=True)
    strange, into, ids = [0], [0], set()

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind == DATA and from_a and not x.prio:
            ids.add((x.to, x.by, x.seq, x.body[:12]))
        strange[0] += frame[30:34] == socket.inet_aton("192.168.7.66")
        return [(0, frame)]

    relay, sink = Relay(judge), Sink("C1")
    flow = flow_of(0, 1, pace=0.001).start()
    wait_until(lambda: sink.of(flow) > 50, "the flow has begun")
    to, by, seq, macs = next(iter(ids))
    chance = random.Random(random.getrandbits(32))
    them = macs + struct.pack("!I", 1024)

    def send(payload, src=None):
        into[0] += 1
        relay.send(1, frame_to("B", payload, src))

    def number():
        return chance.getrandbits(32) or 1

    before = zf("B")
    for _ in range(100):
        # Random bytes, random bytes with this network's id, and a packet with one wrong bit
        send(chance.randbytes(chance.randrange(1, 200)))
        send(chance.randbytes(4) + struct.pack("!I", ID << 8) + chance.randbytes(chance.randrange(20, 200)))
        send(packet(DATA, to, by, seq, 0, macs + b"\x08\0" + bytes(50), good=False))
    wait_until(lambda: zf("B")["drop_crc"] >= before["drop_crc"] + 200, "damaged ones have come")
    for version, kind in ((2, DATA), (1, 9), (1, 15), (0, SYN)):
        send(packet(kind, to, by, seq, 0, them, version=version))
    send(packet(ACK, to, by, seq, 0, them[:5]))
    send(packet(DATA, to, by, seq, 0, b"short"))
    wait_until(lambda: zf("B")["drop_malformed"] >= 6, "malformed ones have come")
    for kind in (DATA, ACK, NACK, ASK, CLOSE, CLOSED, RST, SYNACK):
        for ids_of in ((to, number()), (number(), by), (number(), number())):
            send(packet(kind, *ids_of, seq, seq, them if kind != DATA else macs + b"\x08\0" + bytes(50)))
    wait_until(lambda: zf("B")["stale"] >= before["stale"] + 24, "stale ones have come")
    # Another host sends with the right flow ids.
    send(packet(RST, to, by, seq, 0, them), src="192.168.7.77")
    # A SYN for a live flow, and a NACK of nothing
    send(packet(SYN, 0, number(), number(), 0, them))
    send(packet(NACK, to, number(), 0, seq, them))
    time.sleep(0.5)
    same("forged: the flow goes on as the same one", (zf("A")["reset"], zf("B")["reset"], zf("A")["dead"]), (0, 0, 0))
    # Openings in the name of a host that does not answer
    ip("B", "route replace 192.168.7.66/32 dev wM")
    ip("B", "neighbour replace 192.168.7.66 lladdr %s nud permanent dev wM" % under_mac("A", "M"))
    flows, into[0] = zf("B")["flows"], 0
    # Half open for 3 s; a machine that emulates takes longer than that to send them all.
    openings = 5000 if VIRTUAL else 300
    for n in range(openings):
        send(packet(SYN, 0, number(), number(), 0, macs[:6] + b"\x02" + struct.pack("!IB", n, 1) + struct.pack("!I", 64)), src="192.168.7.66")
        if not n % 100:
            time.sleep(0.001)
    if VIRTUAL:
        wait_until(lambda: zf("B")["flows"] - flows + zf("B")["drop_stranger"] == openings, "openings have come")
        same("forged: of 5000 openings so many are half open, the oldest are forgotten",
             (zf("B")["flows"] - flows, zf("B")["drop_stranger"]), (4096, 904))
    # A live host can open a flow nevertheless.
    late = flow_of(0, 1, total=20, tos=0x40).start()
    late.finish()
    wait_until(lambda: sink.of(late) == 20, "a flow opens beside them")
    time.sleep(5)
    same("forged: they are forgotten", zf("B")["flows"] <= flows + 2, True)
    # Later flows can open, too.
    other = Sink("C0")
    back = flow_of(1, 0, total=20, tos=0x20).start()
    back.finish()
    wait_until(lambda: other.of(back) == 20, "a new flow opens")
    arrive("forged", [sink], [flow])
    # Each opening is answered once.
    check("forged: %d answers to %d openings" % (strange[0], into[0]), strange[0] == into[0], (strange, into))
    relay.finish()
    sink.finish()
    other.finish()
    end()


def guessed():
    """A sender that sees no traffic has opened a flow and guessed its id here, but not the first sequence number."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True)
    answers = []

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind is None or from_a or x.to != 77:
            return [(0, frame)]
        if x.kind == SYNACK:
            answers.append(x)
        # Host A does not know the flow, and must not answer with a reset.
        return []

    relay = Relay(judge)
    them = bytes.fromhex((mac(1) + made_up(5, 1)).replace(":", ""))
    s = inside(names["C1"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b6)))
    s.bind(("eth0", 0x88b6))
    s.settimeout(10)

    def send(ack):
        body = them + b"\x88\xb6" + struct.pack("!I", ack).ljust(50)
        relay.send(1, frame_to("B", packet(DATA, answers[0].by, 77, 1000, ack, body)))

    relay.send(1, frame_to("B", packet(SYN, 0, 77, 1000, 0, them + struct.pack("!I", 64))))
    wait_until(lambda: answers, "the opening is answered")
    before, first = zf("B"), answers[0].seq
    # The flow is half open for 3 s.
    for n in (-1, -1 << 30, 1, 1 << 30):
        send((first + n) & 0xffffffff)
    wait_until(lambda: sum(zf("B")[k] - before[k] for k in ("stale", "received", "reset")) >= 4, "they have come")
    same("guessed: frames that acknowledge any other number are of no flow, and the half-open one is left",
         [zf("B")[k] - before[k] for k in ("stale", "received", "flows")], [4, 0, 0])
    send(first)
    same("guessed: of all frames that of who has got the answer arrives", s.recv(2000)[14:18], struct.pack("!I", first))
    relay.finish()
    s.close()
    end()


def unanswered():
    """Openings are forged in the name of a host whose resets are lost: frames of the flow wait, and none is lost."""
    for what, limit in (("its first reset", 1), ("each of its resets", None)):
        pair((0, "A"), (1, "B"), fabric=False, middle=True)
        resets = []

        def judge(frame, from_a):
            if Seen(frame).kind != RST or from_a:
                return [(0, frame)]
            resets.append(frame)
            return [] if limit is None or len(resets) <= limit else [(0, frame)]

        relay, sink = Relay(judge), Sink("C1")
        body = bytes.fromhex((mac(0) + mac(1)).replace(":", "")) + struct.pack("!I", 64)
        relay.send(0, frame_to("A", packet(SYN, 0, 77, 5, 0, body)))
        wait_until(lambda: resets, "B knows nothing of it")
        time.sleep(0.2)
        flow = flow_of(0, 1, total=20).start()
        flow.finish()
        begin = time.monotonic()
        arrive("unanswered: %s is lost" % what, [sink], [flow])
        took = time.monotonic() - begin
        exact("unanswered: %s is lost: this takes %.2f s" % (what, took), took < 1 if limit else DEAD - 0.1 < took < DEAD + 1, took)
        check("unanswered: %s is lost: %d were sent" % (what, len(resets)), len(resets) >= 2 if limit else len(resets) >= 3, len(resets))
        relay.finish()
        sink.finish()
        end()


def crossed():
    """Each opening crosses one that is forged in the other host's name; then one does, and all resets are lost."""
    for quiet in (False, True):
        pair((0, "A"), (1, "B"), fabric=False, middle=True)
        made, late, resets = [], [], []

        def judge(frame, from_a):
            x = Seen(frame)
            if x.kind == SYN and from_a and not x.prio and len(made) < (1 if quiet else 200):
                made.append(x)
                relay.send(0, frame_to("A", packet(SYN, 0, 1000 + len(made), 5, 0, x.body[6:12] + x.body[:6] + x.body[12:])))
            if x.kind == SYNACK and not from_a and not x.prio:
                late.append(x)
            if x.kind == RST and not from_a and quiet:
                resets.append(x)
                return []
            return [(0, frame)]

        relay, sink = Relay(judge), Sink("C1")
        flow = flow_of(0, 1, total=50).start()
        flow.finish()
        if not quiet:
            arrive("crossed", [sink], [flow])
            same("crossed: the first answer was taken: openings, answers, what was given up",
                 (len(made), len(late), [zf(h)["reset"] for h in "AB"]), (1, 1, [0, 0]))
        else:
            arrive("crossed, without resets", [sink], [flow])
            check("crossed, without resets: one was forged, %d resets are lost" % len(resets), len(made) == 1 and len(resets) > 2,
                  (len(made), len(resets)))
        relay.finish()
        sink.finish()
        end()


def strangers():
    """With learning off only hosts that the operator has named can begin flows."""
    pair((0, "A"), (1, "B"), middle=True, options="learning off")
    relay, sink = Relay(lambda frame, _: [(0, frame)]), Sink("C1")
    flow = flow_of(0, 1, total=50).start()
    flow.finish()
    arrive("strangers", [sink], [flow])
    flows = zf("B")["flows"]
    body = bytes.fromhex((mac(1) + mac(9)).replace(":", "")) + struct.pack("!I", 64)

    def knock():
        relay.send(1, frame_to("B", packet(SYN, 0, 77, 5, 0, body), src="192.168.7.99"))

    knock()
    wait_until(lambda: zf("B")["drop_stranger"] == 1, "the stranger is refused")
    raw_frames("C0", [(mac(1), "02:00:00:00:00:ee")])
    time.sleep(1)
    settle("strangers: a made-up address")
    flows = zf("B")["flows"]
    same("strangers: what a known host sends is not learnt", "02:00:00:00:00:ee" in run("bridge -n %s fdb show dev zf0" % names["B"]), False)
    same("strangers: no flow, nothing learnt", (zf("B")["flows"], mac(9) in run("bridge -n %s fdb show dev zf0" % names["B"])), (flows, False))
    # A host with two entries is a stranger again when both are deleted.
    entries = ["%s dev zf0 dst 192.168.7.99" % mac(n) for n in (20, 21)]
    for entry in entries:
        run("bridge -n %s fdb add %s" % (names["B"], entry))
    run("bridge -n %s fdb del %s" % (names["B"], entries[0]))
    knock()
    wait_until(lambda: zf("B")["flows"] == flows + 1, "who is named is no stranger")
    run("bridge -n %s fdb del %s" % (names["B"], entries[1]))
    wait_until(lambda: zf("B")["flows"] == flows, "nobody confirms it")
    knock()
    wait_until(lambda: zf("B")["drop_stranger"] == 2, "who was named is a stranger again")
    same("strangers: named once, and twice, and not at all", (zf("B")["drop_stranger"], zf("B")["flows"]), (2, flows))
    relay.finish()
    sink.finish()
    end()


def marks():
    """DSCP and ECN are copied to the outer header; marks of the network arrive."""
    pair((0, "A"), (1, "B"), middle=True)
    tos = set()

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind != DATA or x.prio == 7 or not from_a:
            return [(0, frame)]
        tos.add(x.tos)
        head = ip_header(under("A"), under("B"), len(frame) - 14, x.tos | 3)
        return [(0, frame[:14] + head + frame[34:])]

    relay = Relay(judge)
    s = inside(names["C1"], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    s.setsockopt(socket.IPPROTO_IP, 13, 1)
    s.bind(("0.0.0.0", 7000))
    s.settimeout(10)
    got = []
    for t in (0x28 | 2, 0x28):
        flow = flow_of(0, 1, total=1, tos=t).start()
        flow.finish()
        got.append(s.recvmsg(2000, 100)[1][0][2][0])
    same("marks: outside as inside", tos, {0x2a, 0x28})
    same("marks: a mark arrives where it may", got, [0x2b, 0x28])
    settle("marks")
    relay.finish()
    s.close()
    end()


def vlan():
    """Frames with a VLAN tag"""
    pair((0, "A"), (1, "B"))
    for i in (0, 1):
        node = "C%d" % i
        ip(node, "link add link eth0 name v5 mtu 1500 type vlan id 5")
        ip(node, "link set v5 up")
        ip(node, "address add 10.5.0.%d/24 dev v5" % (i + 1))
        ip(node, "neighbour replace 10.5.0.%d lladdr %s nud permanent dev v5" % (2 - i, mac(1 - i)))
    sink = Sink("C1")
    flow = Datagrams("C0", "10.5.0.2", total=500).start()
    flow.finish()
    arrive("vlan", [sink], [flow])
    sink.finish()
    end()


def flood():
    """A broadcast is copied to each host."""
    zbed.count += 1
    for h in "ABD":
        host(h, "")
    cable("A", "B")
    cable("A", "D")
    for h in "BD":
        route("A", h, h)
        route(h, "A", "A")
        tunnel(h, ["A"], "A", fabric=False)
    ip("A", "link add zf0 type zbridge id %d local %s" % (ID, under("A")))
    ip("A", "link set zf0 mtu 1500 master zs0 up")
    for h in "BD":
        run("bridge -n %s fdb append 00:00:00:00:00:00 dev zf0 dst %s" % (names["A"], under(h)))
    for i, h in enumerate("ABD"):
        container(i, h)
    know()
    sinks = [Sink("C1"), Sink("C2")]
    flow = Datagrams("C0", "10.0.0.255", total=100, pace=0.001).start()
    flow.finish()
    wait_until(lambda: all(s.of(flow) == 100 for s in sinks), "all arrive")
    same("flood: each host gets each once, in order", [(s.whole(flow), s.disorder) for s in sinks], [(True, 0)] * 2)
    settle("flood")
    same("flood: one copy for each", zf("A")["taken"], 200)
    for x in sinks:
        x.finish()
    end()


def hold_back():
    """Return: a judge that keeps dropping the first long frame from A, and the flag for that, in a list"""
    hole, hold = [None], [True]

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind == DATA and from_a and not x.prio and len(frame) > 1000:
            if hole[0] is None:
                hole[0] = x.seq
            if x.seq == hole[0] and hold[0]:
                return []
        return [(0, frame)]
    return judge, hold


def full():
    """Frames behind a missing one use up all memory for such frames; the missing one arrives at last."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True, options="buffer 1024")
    ip("B", "link set zf0 type zbridge memory 1048576")
    judge, hold = hold_back()
    relay, sink = Relay(judge), Sink("C1")
    flow = flow_of(0, 1, total=1000, size=1400).start()
    wait_until(lambda: zf("B")["drop_window"], "there is no room for early ones")
    back, other = flow_of(1, 0, total=20).start(), Sink("C0")
    wait_until(lambda: other.of(back) == 20, "frames go the other way meanwhile")
    hold[0] = False
    arrive("full", [sink, other], [flow, back])
    relay.finish()
    sink.finish()
    other.finish()
    end()


def hoard():
    """Somebody opens many flows in A's name, for each of which one frame waits for a slow receiver: B's memory is bounded."""
    pair((0, "A"), (1, "B", "1mbit"), fabric=False, middle=True, switch="wire-wait 0 virtual-wait 0")
    limit, flows, base = 1 << 20, 3000 if VIRTUAL else 300, 1000000
    ip("B", "link set zf0 type zbridge memory %d" % limit)
    opened, said = set(), {ACK: 0, NACK: 0}

    def macs(n):
        return bytes.fromhex((mac(1) + made_up(6, n)).replace(":", ""))

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind is None or from_a or not base <= x.to < base + flows:
            return [(0, frame)]
        if x.kind == SYNACK and x.to not in opened:
            opened.add(x.to)
            relay.send(1, frame_to("B", packet(DATA, x.by, x.to, 5, x.seq, macs(x.to - base) + b"\x88\xb6" + bytes(1386), 1)))
        if x.kind in said:
            said[x.kind] += 1
        return []

    relay, sink = Relay(judge), Sink("C1")
    for n in range(flows):
        relay.send(1, frame_to("B", packet(SYN, 0, base + n, 5, 0, macs(n) + struct.pack("!I", 64))))
        if not n % 50:
            time.sleep(0.001)
    wait_until(lambda: len(opened) == flows and said[ACK] + said[NACK] >= flows, "all are open, and their frames answered", 120)
    b = zf("B")
    check("hoard: B keeps %d bytes" % b["used"], b["used"] < limit + 65536, b)
    exact("hoard: which is all that it may, and %d frames are dropped" % b["drop_window"],
          b["used"] > limit - 65536 and b["drop_window"] > flows / 4, b)
    same("hoard: an ask for what there is no room for is answered, but not by a NACK", said[NACK], 0)
    # A genuine flow waits with them.
    flow = flow_of(0, 1, total=20).start()
    flow.finish()
    time.sleep(1)
    ip("B", "link set z1 type zvnic rate 1gbit")
    wait_until(lambda: sink.of(flow) == 20 and not zf("A")["used"], "a genuine flow arrives", 60)
    same("hoard: it arrives whole and in order", (sink.whole(flow), sink.disorder, zf("A")["dead"]), (True, 0, 0))
    relay.finish()
    sink.finish()
    end()


def silent():
    """A host vanishes whose first frame never arrived: the frames behind it are discarded."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True)
    relay, sink = Relay(hold_back()[0]), Sink("C1")
    flow = flow_of(0, 1, total=50).start()
    flow.finish()
    wait_until(lambda: zf("B")["early"] >= 40, "they have come")
    check("silent: they are kept", zf("B")["used"] > 0, zf("B"))
    ip("A", "link del zf0")
    time.sleep(2 * DEAD)
    b = zf("B")
    same("silent: the host is dead, nothing is kept", (b["flows"], b["used"], b["dead"]), (0, 0, 1))
    relay.finish()
    sink.finish()
    end()


def closing():
    """Both ends ask to close, and have new frames before the other's request arrives."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True)
    opened, seen = [False], set()

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind == CLOSE and not opened[0]:
            seen.add(from_a)
        return [] if seen and not opened[0] and x.kind is not None else [(0, frame)]

    relay, sinks = watched(judge, "closing", 20)
    wait_until(lambda: len(seen) == 2, "both ask", IDLE + 10)
    flows = [flow_of(0, 1, total=5).start(), flow_of(1, 0, total=5).start()]
    time.sleep(0.1)
    opened[0] = True
    arrive("closing", sinks, flows)
    relay.finish()
    for x in sinks:
        x.finish()
    end()


def shared():
    """A page that is sent by sendfile() is written to before its frame is retransmitted."""
    pair((0, "A"), (1, "B"), fabric=False, middle=True)
    lost_one = []

    def judge(frame, from_a):
        x = Seen(frame)
        if x.kind == DATA and from_a and not x.prio and len(frame) > 1000 and not lost_one:
            lost_one.append(1)
            return []
        return [(0, frame)]

    relay, sink = Relay(judge), Sink("C1")
    s = inside(names["C0"], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    s.setsockopt(socket.SOL_SOCKET, 11, 1)
    s.connect((addr(1), 7001))
    first = flow_of(0, 1, total=1).start()
    first.finish()
    arrive("shared: before", [sink], [first])
    with tempfile.TemporaryFile() as file:
        file.write(bytes(8192))
        file.flush()
        page = mmap.mmap(file.fileno(), 8192)
        os.sendfile(s.fileno(), file.fileno(), 0, 1400)
        wait_until(lambda: lost_one, "it is lost")
        page[0:1400] = b"x" * 1400
        flow = flow_of(0, 1, total=20).start()
        flow.finish()
        arrive("shared", [sink], [flow])
        page.close()
    same("shared: its checksum is right", zf("B")["drop_crc"], 0)
    relay.finish()
    s.close()
    sink.finish()
    end()


def slow():
    """A receiver of half the wire's speed, without credit, is kept busy."""
    pair((0, "A"), (1, "B", "500mbit" if VIRTUAL else "25mbit"), options="buffer 256", fabric=False, switch="wire-wait 0")
    sink = Sink("C1")
    flow = Datagrams("C0", addr(1)).start()
    time.sleep(0.2)
    rate = rate_of(sink, flow, 1) * 1514 * 8
    exact("slow: it gets %.0f of 500 Mb/s" % (rate / 1e6), rate > 450e6, (rate, zf("A"), zf("B")))
    arrive("slow", [sink], [flow])
    sink.finish()
    end()


def through():
    """Frames arrive by a wire and leave by a tunnel, which pauses the wire when it is full."""
    pair((1, "B"), fabric=False, switch="wire-wait 0 virtual-wait 0")
    host("D", "")
    ip("D", "link add wX type netwire rate %s delay 20us peer name wX netns %s" % (RATE, names["A"]))
    for h in "AD":
        ip(h, "link set wX master zs0 up")
        tc(h, "qdisc replace dev wX root cee dscp 0-63:3 cable 20us watchdog off")
    container(0, "D")
    where.pop(0)
    ip("C0", "link set eth0 mtu 1500")
    ip("C0", "neighbour replace %s lladdr %s nud permanent dev eth0" % (addr(1), mac(1)))
    for h, i, by in (("D", 1, "wX"), ("A", 0, "wX"), ("A", 1, "zf0"), ("B", 0, "zf0")):
        run("bridge -n %s fdb replace %s dev zs0 via %s static" % (names[h], mac(i), by))
    ip("A", "link set zf0 type zbridge memory 1048576 buffer 64")
    ip("B", "link set z1 type zvnic rate 1kbit")
    sink = Sink("C1")
    flow = Datagrams("C0", addr(1), pace=0.0002).start()
    time.sleep(2)
    used, sent = zf("A")["used"], flow.sent
    time.sleep(1)
    check("through: the tunnel holds %d bytes, the sender waits" % used, 0 < zf("A")["used"] < (2 << 20) and flow.sent == sent,
          (zf("A"), sent, flow.sent))
    ip("B", "link set z1 type zvnic rate 1gbit")
    flow.finish(now=True)
    wait_until(lambda: sink.of(flow) == flow.sent, "all arrive", 60)
    same("through: whole and in order", (sink.whole(flow), sink.disorder), (True, 0))
    sink.finish()
    end()


def within():
    """A tunnel whose packets would leave by a device on top of it: they are lost, and nothing else happens."""
    zbed.count += 1
    node_add("A")
    ip("A", "link add zf0 type zbridge id 1 local 10.9.0.1")
    ip("A", "link set zf0 up mtu 1400")
    ip("A", "link add link zf0 name v10 type vlan id 10")
    ip("A", "link set v10 up")
    ip("A", "address add 10.9.0.1/24 dev v10")
    ip("A", "neighbour replace 10.9.0.2 lladdr 02:00:00:00:00:99 nud permanent dev v10")
    run("bridge -n %s fdb append 00:00:00:00:00:00 dev zf0 dst 10.9.0.2" % names["A"])
    s = inside(names["A"], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    s.sendto(b"x", ("10.9.0.2", 7))
    time.sleep(2 * DEAD)
    a = zf("A")
    check("within: refused, and dead in time", a["drop_full"] and not a["flows"], a)
    s.close()
    end()


def upon():
    """A device on top of the tunnel is a port of the same switch: frames from the tunnel do not go back into it."""
    pair((0, "A"), (1, "B"), fabric=False)
    ip("A", "link add link zf0 name v10 type vlan id 10")
    ip("A", "link set v10 master zs0 up")
    wait_for_carrier(names["A"], "v10")
    sink = Sink("C0")
    flow = Datagrams("C1", "10.0.0.255", total=50, pace=0.001).start()
    flow.finish()
    arrive("upon", [sink], [flow], {"A drop_full": 50})
    sink.finish()
    end()


def far():
    """NACKs that ask for more frames than a host should look at"""
    pair((0, "A"), (1, "B"), fabric=False, middle=True, options="buffer 4096")
    cut, seen = [False], []
    macs = bytes.fromhex((mac(0) + mac(1)).replace(":", ""))

    def say_as_b(kind, seq, count):
        relay.send(0, frame_to("A", packet(kind, seen[0].by, seen[0].to, seq & 0xffffffff, seen[0].seq,
                                           macs + struct.pack("!I", count))))

    def judge(frame, from_a):
        x = Seen(frame)
        if not cut[0] or x.kind is None:
            return [(0, frame)]
        if from_a and x.kind == DATA:
            seen.append(x)
        # B is alive, and has received nothing.
        if from_a and (x.kind == ASK or x.flags & 1):
            say_as_b(ACK, 0, 0)
        return []

    relay, sinks = watched(judge, "far", 1)
    cut[0] = True
    flow = flow_of(0, 1, total=3000, size=20).start()
    flow.finish()
    wait_until(lambda: len(seen) == 3000, "all were sent once")
    time.sleep(0.1)
    for what, seq, count, again in (("one far behind the first", 2000, 1, 0), ("more than there are", 2, 3500, 0),
                                    ("more than there can be", 2, 1 << 31, 0), ("old ones", -100, 50, 0),
                                    ("the first ones", 0, 2, 2), ("one at hand", 1000, 1, 1)):
        resent, nacks = zf("A")["resent"], zf("A")["nacks_in"]
        say_as_b(NACK, seen[0].seq + seq, count)
        wait_until(lambda: zf("A")["nacks_in"] == nacks + 1, "the NACK has come")
        same("far: %s: so many are sent again" % what, zf("A")["resent"] - resent, again)
    cut[0] = False
    arrive("far", sinks[:1], [flow])
    relay.finish()
    for s in sinks:
        s.finish()
    end()


def commands():
    """Commands of an operator, right and wrong"""
    pair((0, "A"), (1, "B"))
    for command, words in (
            ("ip link add zf1 type zbridge local 192.168.7.1", "needs a network (id)"),
            ("ip link add zf1 type zbridge id 7", "needs one address of this host (local)"),
            ("ip link add zf1 type zbridge id 16777216 local 192.168.7.1", "range"),
            ("ip link add zf1 type zbridge id %d local 192.168.7.1" % ID, "already"),
            ("ip link add zf1 type zbridge id 7 local 192.168.7.1 buffer 5", "16 to 65536"),
            ("ip link add zf1 type zbridge id 7 local 192.168.7.1 buffer 64 ask 65", "before the buffer is full"),
            ("ip link add zf1 type zbridge id 7 local 224.0.0.1x", "is no value of local"),
            ("ip link add zf1 type zbridge id 7 local 192.168.7.1 color red", 'unknown option "color"'),
            ("ip link add zf1 mtu 65462 type zbridge id 7 local 192.168.7.1", "no room for the headers"),
            ("ip link set zf0 type zbridge id 8", "stay as they are"),
            ("ip link set z0 type zswitch_slave fabric on", "fabric of a port is for wires"),
            ("bridge fdb append 02:00:00:00:00:09 dev zf0 dst fd00::1", "another family"),
            ("bridge fdb append 02:00:00:00:00:09 dev zf0 dst 224.0.0.1", "one host's address"),
            ("bridge fdb append 02:00:00:00:00:09 dev zf0 dst 192.168.7.2 vni 43", "vni must be the tunnel's id"),
            ("bridge fdb append 02:00:00:00:00:09 dev zf0 dst 192.168.7.2 port 4789", "UDP port"),
            ("bridge fdb append 01:00:5e:00:00:09 dev zf0 dst 192.168.7.2", "one vNIC's"),
            ("bridge fdb append %s dev zf0 dst 192.168.7.2" % mac(1), "File exists"),
            ("bridge fdb del 02:00:00:00:00:09 dev zf0 dst 192.168.7.2", "No such file")):
        said = refused(command, "A")
        check("refused: " + command, said is not None and words in said, said)
    mtus = []
    for mtu in (8000, 65461):
        ip("A", "link add zf1 mtu %d type zbridge id 7 local 192.168.7.1" % mtu)
        mtus.append(json.loads(ip("A", "-j link show zf1"))[0]["mtu"])
        ip("A", "link del zf1")
    same("an MTU may be as large as 64 KB let it be", mtus, [8000, 65461])
    run("bridge -n %s fdb append 02:00:00:00:00:09 dev zf0 dst 192.168.7.2 vni %d port %d" % (names["A"], ID, PORT))
    run("bridge -n %s fdb append 00:00:00:00:00:00 dev zf0 dst 192.168.7.9" % names["A"])
    shown = {(e["mac"], e["dst"]) for e in json.loads(run("bridge -j -n %s fdb show dev zf0" % names["A"])) if "dst" in e}
    same("shown: addresses", shown, {("02:00:00:00:00:09", "192.168.7.2"), (mac(1), "192.168.7.2"),
                                     ("00:00:00:00:00:00", "192.168.7.2"), ("00:00:00:00:00:00", "192.168.7.9")})
    run("bridge -n %s fdb del 02:00:00:00:00:09 dev zf0" % names["A"])
    run("bridge -n %s fdb del 00:00:00:00:00:00 dev zf0 dst 192.168.7.9" % names["A"])
    same("shown: one host less, one address less", run("bridge -n %s fdb show dev zf0" % names["A"]).count("dst"), 2)
    shown = ip("A", "-d -s link show zf0")
    check("shown: people see options and counters", all(w in shown for w in ("zbridge local 192.168.7.1 dev wB dstport 13142 id 42",
          "learning on", "flows ", "taken ")) and "drop_" not in shown.split("taken")[1], shown)
    ip("A", "link set zf0 type zbridge buffer 300 ask 100 ttl 9 learning off spread on memory 2000000")
    shown = ip("A", "-d link show zf0")
    check("shown: what was changed", "buffer 300 ask 100 memory 2000000 ttl 9 learning off spread on" in shown, shown)
    end()


def gone():
    """Tunnels go down, and tunnels and hosts are deleted, while frames flow."""
    pair((0, "A"), (1, "B"))
    sinks = [Sink("C1"), Sink("C0")]
    flows = [Datagrams("C0", addr(1), pace=0.0002).start(), Datagrams("C1", addr(0), pace=0.0002).start()]
    for n in range(5):
        time.sleep(0.1)
        ip("A", "link set zf0 down")
        time.sleep(0.05)
        ip("A", "link set zf0 up")
    wait_until(lambda n=[s.of(f) for s, f in zip(sinks, flows)]: all(s.of(f) > m + 50 for s, f, m in zip(sinks, flows, n)),
               "frames arrive again", 30)
    ip("A", "link set zf0 nomaster")
    time.sleep(0.05)
    ip("A", "link del zf0")
    same("gone: no frame comes twice, or behind a later one", [s.disorder for s in sinks], [0, 0])
    for x in flows:
        x.finish(now=True)
    for x in sinks:
        x.finish()
    flow = Datagrams("C1", addr(0), pace=0.0002).start()
    time.sleep(0.05)
    # The tunnel is deleted with its namespace.
    threading.Timer(0.05, lambda: subprocess.run(["ip", "netns", "del", names["B"]], check=False)).start()
    time.sleep(0.3)
    flow.finish(now=True)
    end()


def unload():
    """The module can be unloaded while packets wait in a NIC's queue."""
    pair((0, "A"), (1, "B"), fabric=False)
    tc("A", "qdisc replace dev wB root tbf rate 8kbit burst 1600 limit 1000000")
    flow = Datagrams("C0", addr(1), total=30).start()
    time.sleep(1)
    for h in "AB":
        ip(h, "link del zf0")
    check("unload: packets stand in the queue", "backlog 0b" not in tc("A", "-s qdisc show dev wB"))
    check("unload: the module goes", not subprocess.run(["modprobe", "-r", "zbridge"], check=False).returncode)
    # Until the packets have left.
    time.sleep(10)
    tc("A", "qdisc del dev wB root")
    flow.finish(now=True)
    end()


PARTS = (plain, credit, six, trouble, bits, late, victim, stops, apart, crowd, slow, full, hoard, through, restart, dead, differ, phantom, mixed, silent, closed, closing, forged,
         guessed, unanswered, crossed, strangers, shared, marks, vlan, flood, within, upon, far, commands, gone, unload)
PLAN = 180 if VIRTUAL else 177


def failing():
    for h in hosts():
        say("%s: %s" % (h, {k: v for k, v in zf(h).items() if v}))
        for dev in [d["ifname"] for d in json.loads(ip(h, "-j link show master zs0"))]:
            say("%s %s: %s" % (h, dev, {k: v for k, v in port(dev, h).items() if v}))


def main():
    chosen = run_parts(PARTS, PLAN, end, failing)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
