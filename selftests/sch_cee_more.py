#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# sch_cee besides its pauses: QCN, queues by flow, 802.3x, hardware that obeys pauses, bonds,
# devices of other namespaces, flooded frames.  The network is that of sch_cee.py.  Prints TAP.

import json
import os
import random
import socket
import struct
import subprocess
import sys
import time

import sch_cee as cee
from sch_cee import (MACS, SIZE, VIRTUAL, Flow, Forger, Sink, build, counters, destroy, end, everywhere,
                     names, of, port, ports, settled)
from sch_ndp import check, checksum, exact, inside, left_out, same, wait_for_carrier, wait_until

CNM, CN = 0x22e7, 0x22e9
PACKET_OUTGOING = 4
SLOW = "100mbit"
BONDS = not VIRTUAL and not subprocess.run(["modprobe", "bonding"], check=False, capture_output=True).returncode
SOL_UDP, UDP_SEGMENT = 17, 103


def at_s(prio, key):
    return sum(of("S", "p" + host, prio, key) for host in cee.HOSTS)


def mac(name):
    return bytes.fromhex(MACS[name].replace(":", ""))


class Tap:
    """Frames of some EtherTypes that a host receives."""

    def __init__(self, host, protos):
        self.protos = protos
        self.sock = inside(names[host], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
        self.sock.bind(("e0", 3))
        self.sock.setsockopt(socket.SOL_SOCKET, cee.SO_RCVBUFFORCE, 64 << 20)

    def read(self, quiet=0.3):
        self.sock.settimeout(quiet)
        got = []
        try:
            while True:
                data, address = self.sock.recvfrom(2000)
                if address[2] != PACKET_OUTGOING and struct.unpack_from("!H", data, 12)[0] in self.protos:
                    got.append(data)
        except socket.timeout:
            return got

    def close(self):
        self.sock.close()


def reads(data):
    """Fields of a CNM, from its EtherType on"""
    keys = ("proto", "feedback", "port", "cpid", "offset", "delta", "prio", "dest", "length")
    x = dict(zip(keys, struct.unpack_from("!HH6sHhhH6sH", data, 0)))
    x["msdu"] = data[26:26 + x["length"]]
    return x


def ipv4(source, dest, tos, sport=6000, dport=7000, size=SIZE):
    def total(data):
        s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
        s = (s & 0xffff) + (s >> 16)
        return ~(s + (s >> 16)) & 0xffff
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 28 + size, 0, 0, 64, 17, 0, socket.inet_aton(source),
                       socket.inet_aton(dest))
    head = head[:10] + struct.pack("!H", total(head)) + head[12:]
    return head + struct.pack("!HHHH", sport, dport, 8 + size, 0) + random.randbytes(size)


def messages():
    """C accepts nothing for a while, so the queue to it grows; the CNMs to A are checked to the byte."""
    for mode, tag in (("bridge", False), ("bridge", True), ("route", False)):
        build(mode)
        ports("watchdog off prio 3 qcn standard xoff 1m")
        forger, tap = Forger(), Tap("A", (CNM, CN))
        forger.hold(3)
        way = mac("C") if mode == "bridge" else mac("pA")
        packet = ipv4(cee.address(mode, "A"), cee.address(mode, "C"), 3 << 5)
        head = struct.pack("!HHH", CN, 0xbeef, 0x0800) if tag else b"\x08\x00"
        sock = inside(names["A"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
        sock.bind(("e0", 0))
        for _ in range(200):
            sock.send(way + mac("A") + head + packet)
            time.sleep(0.0001)
        sock.close()
        wait_until(lambda: of("S", "pC", 3, "packets") == 200, "200 wait")
        name = "messages: %s%s" % (mode, ", CN-tag" if tag else "")
        told = tap.read()
        x = counters("S", "pC")["prio3"]
        same(name + ": as many as were sent", (len(told), x["cnm_unsent"]), (x["cnm_sent"], 0))
        # The first frame is sampled, then one after some 150 KB: 5.8 times Qeq and growing
        check(name + ": samples are the closer the longer the queue (%d)" % len(told), 5 <= len(told) <= 12, x)
        first = told[0]
        same(name + ": from port to source", first[:12], mac("A") + mac("pA"))
        same(name + ": CN-tag", first[12:16], struct.pack("!HH", CN, 0xbeef) if tag else first[12:16])
        c = reads(first[16 if tag else 12:])
        depth = 26000 - 64 * c["offset"]
        same(name + ": EtherType, version, most feedback",
             (c["proto"], c["feedback"] >> 12, c["feedback"] & 63), (CNM, 0, 63))
        same(name + ": congestion point, priority, destination",
             (c["port"], c["cpid"], c["prio"], c["dest"]), (mac("pC"), 3, 3 << 13, mac("C")))
        check(name + ": offset %d, delta %d" % (c["offset"], c["delta"]),
              127000 < depth < 175000 and abs(depth - 64 * c["delta"] - len(packet) - len(head) - 12) <= 128, c)
        quoted = packet[:62]
        if mode == "route":
            # The router has decremented the TTL, and updated the checksum.
            quoted = quoted[:8] + b"\x3f" + quoted[9:10] + c["msdu"][12:14] + quoted[12:]
        same(name + ": the frame is quoted", c["msdu"], b"\x08\x00" + quoted)
        tap.close()
        forger.close()
        wait_until(settled, "queues are empty")
        destroy()


def point(fb, quoted, prio=3, version=0, length=None):
    length = len(quoted) if length is None else length
    return struct.pack("!H8shhH6sH", version << 12 | fb, b"stranger", -100, 10, prio << 13, mac("C"), length) + quoted


def strangers():
    """S limits its rate to C when C asks for it, if C quotes a frame that S has sent."""
    mode = "route"
    build(mode)
    ports()
    port("S", "pC", "prio 3 qcn standard limiter prio", "change")
    forger, sink, tap = Forger(), Sink(mode), Tap("C", (0x0800,))
    here = mac("pC")

    def send(payload, **where):
        forger.frame(payload, **{"dest": here, "proto": struct.pack("!H", CNM), **where})

    def refusals():
        x = counters("S", "pC")
        return [x["cnm_ignored"], x["cnm_strange"], x["cnm_malformed"]], x["prio3"]["cnm_received"]

    def becomes(what, wanted):
        try:
            wait_until(lambda: refusals() == wanted, what, 5)
        except RuntimeError:
            pass
        same("strangers: " + what, refusals(), wanted)

    Flow(mode, "A", 3, 0, 3).start().finish()
    same("strangers: three pass", len(sink.read()), 3)
    quoted = tap.read()[0][12:76]
    other = b"\x08\x00" + ipv4("10.0.0.2", "10.0.2.4", 3 << 5, sport=1)[:62]
    send(point(63, other))
    send(point(63, quoted, prio=5))
    send(b"\xbe\xef\x22\xe7" + point(63, other), proto=struct.pack("!H", CN))
    becomes("a flow, or a priority, that is none of ours", ([0, 3, 0], 0))
    send(point(0, quoted))
    send(point(63, quoted, version=1))
    send(point(63, quoted, length=65))
    send(point(63, quoted, length=2))
    # A frame has at least 46 bytes: 22 bytes of the quoted frame are there, not 64
    send(point(63, quoted[:10], length=64))
    becomes("malformed", ([0, 3, 5], 0))
    send(point(63, quoted), dest=mac("pA"))
    becomes("for another address", ([0, 3, 5], 0))
    port("S", "pC", "trust no", "change")
    send(point(63, quoted))
    becomes("trust no", ([1, 3, 5], 0))
    same("strangers: no rate was limited", of("S", "pC", 3, "limiters"), 0)
    port("S", "pC", "trust yes", "change")
    send(point(63, quoted))
    becomes("the one that has seen a frame is heard", ([1, 3, 5], 1))
    x = counters("S", "pC")["prio3"]
    full = cee.BITS // 8
    check("strangers: the rate is cut (%d of %d)" % (x["rate"], full),
          x["limiters"] == 1 and (x["rate"] == full - full * 63 // 128 or not VIRTUAL), x)
    port("S", "pC", "trust no", "change")
    same("strangers: and free again without trust", of("S", "pC", 3, "limiters"), 0)
    port("S", "pC", "trust yes", "change")
    for _ in range(300):
        send(random.randbytes(random.randrange(100)), proto=struct.pack("!H", random.choice((CNM, CN))))
        send(point(random.randrange(64), quoted[:random.randrange(65)], random.randrange(8), random.randrange(2),
                   random.randrange(80)))
    time.sleep(0.1)
    tap.read(0.01)
    Flow(mode, "A", 3, 0, 3).start().finish()
    same("strangers: frames at random harm nothing", len(sink.read()), 3)
    tap.close()
    forger.close()
    sink.sock.close()
    destroy()


def convergence():
    """A and B share a link of a tenth of their rate: with QCN its queue is short, and pauses are rare."""
    if not VIRTUAL:
        left_out("convergence", 4 * 7, "asks for peers that are never late, in virtual time alone")
        return
    for mode, options in (("bridge", ""), ("vlan", "classify pcp"), ("route", ""), ("route6", "")):
        build(mode)
        ports(options + " prio 3 qcn standard", " limiter prio")
        port("S", "pC", "rate " + SLOW, "change")
        sink = Sink(mode, 1 << 16)
        flows = [Flow(mode, host, 3, n).start() for n, host in enumerate(("A", "B"))]
        time.sleep(0.5)
        before = [of(h, "e0", 3, "paused_ns") for h in ("A", "B")]
        sent, lengths = of("S", "pC", 3, "sent_bytes"), []
        for _ in range(100):
            time.sleep(0.005)
            lengths.append(of("S", "pC", 3, "backlog"))
        sent = of("S", "pC", 3, "sent_bytes") - sent
        paused = [of(h, "e0", 3, "paused_ns") - b for h, b in zip(("A", "B"), before)]
        name = "convergence: " + mode
        check(name + ": queue %d on average" % (sum(lengths) / 100), 1000 < sum(lengths) / 100 < 60000)
        check(name + ": %d bytes in half a second" % sent, 5500000 < sent < 6400000)
        check(name + ": paused %r ns meanwhile" % paused, sum(paused) < 5000000)
        same(name + ": senders end", end(flows), [True] * 2)
        # Packets that a limiter holds back arrive at S later.
        wait_until(lambda: not any(of(h, "e0", 3, "packets") for h in ("A", "B")), "hosts' queues are empty", 120)
        wait_until(settled, "queues are empty", 120)
        x = counters("S", "pC")["prio3"]
        received = [of(h, "e0", 3, "cnm_received") for h in ("A", "B")]
        refused = [counters(h, "e0")[k] for h in ("A", "B") for k in ("cnm_ignored", "cnm_strange", "cnm_malformed")]
        check(name + ": told %r times" % received, sum(received) == x["cnm_sent"] > 10, x)
        same(name + ": all were heard", (x["cnm_unsent"], refused), (0, [0] * 6))
        same(name + ": no drop", [everywhere(3, "drop_" + why) for why in ("limit", "overflow", "watchdog")], [0] * 3)
        sink.sock.close()
        destroy()


def turns():
    """Many packets of one flow wait, and few of eight flows that came later."""
    mode = "bridge"
    for flows in (1, 256):
        build(mode)
        ports("watchdog off prio 3 xoff 1m flows %d" % flows)
        forger, sink = Forger(), Sink(mode)
        forger.hold(3)
        sent = []
        for n in range(9):
            flow = Flow(mode, "A", 3, n, 10 if n else 100).start()
            flow.finish()
            sent.append(flow.sent)
            wait_until(lambda: of("S", "pC", 3, "packets") == 100 + 10 * n, "they wait")
        forger.close()
        got = sink.read()
        name = "turns: %d flow%s" % (flows, "s" if flows > 1 else "")
        same(name + ": each keeps its order", [[d for d in got if d[0] == n] for n in range(9)], sent)
        last = [max(i for i, d in enumerate(got) if d[0] == n) for n in range(9)]
        # Some of the eight may share the large flow's queue.
        early = sum(n < 109 for n in last[1:])
        check(name + ": small ones are early (%d of 8)" % early, early >= 6 if flows > 1 else early == 0, last)
        sink.sock.close()
        destroy()


def by_flow():
    """A gets CNMs about one flow; four others of the priority are not limited, unless they share its hash."""
    mode = "route"
    build(mode)
    ports()
    port("A", "e0", "prio 3 qcn thesis limiter flow flows 256", "change")
    sink, tap = Sink(mode, 1 << 16), Tap("C", (0x0800,))
    flows = [Flow(mode, "A", 3, n).start() for n in range(5)]
    wait_until(lambda: of("S", "pC", 3, "sent") > 50, "all send")
    quoted = next(d for d in iter(lambda: tap.sock.recv(2000), None) if d[12:14] == b"\x08\0" and d[42] == 0)[12:76]
    tap.close()
    sock = inside(names["S"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    sock.bind(("pA", 0))
    for _ in range(12):
        sock.send(mac("A") + mac("pA") + struct.pack("!H", CNM) + point(63, quoted))
    sock.close()
    wait_until(lambda: of("A", "e0", 3, "cnm_received") == 12, "A is told")
    x = counters("A", "e0")["prio3"]
    # Packets that were in flight arrive first.
    sink.sock.settimeout(60)
    got = [sink.sock.recv(2000) for _ in range(1000)][300:]
    share = sum(d[0] == 0 for d in got) / len(got)
    # On a slow machine the limiter may have recovered already.
    check("by flow: one limiter", x["limiters"] == 1 or not VIRTUAL and not x["limiters"], x)
    exact("by flow: the one is slow (%.3f of %d)" % (share, len(got)), share < 0.13)
    same("by flow: senders end", end(flows), [True] * 5)
    wait_until(lambda: not of("A", "e0", 3, "packets"), "the queue is empty", 120)
    same("by flow: counters add up", cee.sums(counters("A", "e0")), True)
    sink.sock.close()
    destroy()


def whole():
    """A knows 802.3x only: it is paused as a whole, and nothing is lost."""
    mode = "route"
    build(mode)
    ports()
    port("S", "pA", "pause global", "change")
    sink, tap = Sink(mode), Tap("A", (0x8808,))
    flows = [Flow(mode, host, 3, n, 500).start() for n, host in enumerate(("A", "B"))]
    same("whole: all was sent", [f.finish() for f in flows], [True] * 2)
    wait_until(settled, "queues are empty", 120)
    same("whole: each arrives, once", sorted(sink.read()) == sorted(flows[0].sent + flows[1].sent), True)
    same("whole: no drop", [everywhere(3, "drop_" + why) for why in ("limit", "overflow", "watchdog")], [0] * 3)
    frames = [struct.unpack_from("!HH", d, 14) for d in tap.read()]
    x, y = counters("S", "pA")["prio3"], counters("A", "e0")
    quanta = counters("S", "pA")["options"]["quanta"]
    check("whole: XOFF and XON, both of 802.3x", {f[0] for f in frames} == {1} and
          {f[1] for f in frames} == {0, quanta} and not frames[-1][1], frames)
    same("whole: counted", (sum(bool(f[1]) for f in frames), sum(not f[1] for f in frames)),
         (x["xoff_sent"], x["xon_sent"]))
    same("whole: all of A's priorities have obeyed", [y["prio%d" % i]["xoff_received"] for i in range(8)],
         [x["xoff_sent"]] * 8)
    tap.close()
    sink.sock.close()
    destroy()


def nic():
    """A's end of the cable obeys pauses by itself, below a qdisc that knows nothing of them."""
    mode = "route"
    build(mode)
    cee.ip("A", "link set e0 type netwire pfc on")
    ports()
    cee.tc("A", "qdisc replace dev e0 root pfifo")
    sink = Sink(mode)

    def said():
        text = subprocess.run(["ip", "netns", "exec", names["A"], "ethtool", "-S", "e0"], capture_output=True,
                              text=True, check=True).stdout
        return {k.strip(): int(v) for k, v in (line.split(":") for line in text.splitlines()[1:])}

    flows = [Flow(mode, host, 3, n, 500).start() for n, host in enumerate(("A", "B"))]
    same("nic: all was sent", [f.finish() for f in flows], [True] * 2)
    wait_until(settled, "queues are empty", 120)
    same("nic: each arrives, once", sorted(sink.read()) == sorted(flows[0].sent + flows[1].sent), True)
    same("nic: no drop", [at_s(3, "drop_" + why) for why in ("limit", "overflow", "watchdog")], [0] * 3)
    x, before = counters("S", "pA")["prio3"], said()
    check("nic: it was paused (%d ns)" % before["tx_paused_ns"], before["tx_paused_ns"] and x["xoff_sent"], x)
    same("nic: all pause frames were taken off", before["rx_pause"], x["xoff_sent"] + x["xon_sent"])
    sock = inside(names["S"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    sock.bind(("pA", 0))
    head = cee.PAUSE + mac("pA") + b"\x88\x08"

    def paused_by(*payloads):
        was = said()
        for payload in payloads:
            sock.send((head + payload).ljust(60, b"\0"))
        wait_until(lambda: said()["rx_pause"] == was["rx_pause"] + len(payloads), "they are taken")
        Flow(mode, "A", 0, 2, 3).start().finish()
        same("nic: after it all goes on", len(sink.read()), 3)
        return said()["tx_paused_ns"] - was["tx_paused_ns"]

    lasts = 5000 * 512 * 10**9 // cee.BITS
    ns = paused_by(struct.pack("!HH8H", 0x0101, 1 << 6, *[5000] * 8))
    check("nic: for the quanta of any priority (%d of %d ns)" % (ns, lasts), lasts <= ns and (ns < lasts + 2000 or not VIRTUAL))
    ns = paused_by(struct.pack("!HH", 1, 5000))
    check("nic: of 802.3x as well (%d)" % ns, lasts <= ns and (ns < lasts + 2000 or not VIRTUAL))
    ns = paused_by(struct.pack("!HH", 1, 65535), struct.pack("!HH", 1, 0))
    check("nic: or until XON (%d)" % ns, 0 < ns < 65535 * 512 * 10**9 // cee.BITS)
    ns = paused_by(struct.pack("!H", 0x0102), struct.pack("!HH8H", 0x0101, 0, *[5000] * 8), b"")
    same("nic: not by other operations, nor without a priority", ns, 0)
    cee.ip("A", "link set e0 type netwire pfc off")
    was = said()["rx_pause"]
    sock.send((head + struct.pack("!HH", 1, 5000)).ljust(60, b"\0"))
    time.sleep(0.1)
    same("nic: off, the host sees them", said()["rx_pause"] - was, 0)
    sock.close()
    sink.sock.close()
    destroy()


def bond():
    """Two cables from S to A make a bond; packets that A sends by either are charged to both ports."""
    if not BONDS:
        left_out("bond", 5, "no bonds here")
        return
    mode = "route"
    build(mode)
    cee.ip("S", "link add pD type netwire rate %s delay 1us peer name e1 netns %s" % (cee.RATE, names["A"]))
    for node, first, second in (("S", "pA", "pD"), ("A", "e0", "e1")):
        cee.ip(node, "link add bond0 type bond mode balance-rr")
        for dev in (first, second):
            cee.ip(node, "link set %s down" % dev)
            cee.ip(node, "link set %s master bond0" % dev)
        cee.ip(node, "link set bond0 up")
    cee.ip("S", "address flush dev pA")
    cee.ip("A", "address flush dev e0")
    cee.ip("S", "address add 10.0.0.1/24 dev bond0")
    cee.ip("A", "address add 10.0.0.2/24 dev bond0")
    cee.ip("A", "route replace default via 10.0.0.1")
    ports()
    for node, dev in (("S", "pD"), ("A", "e1")):
        port(node, dev)
    for node, dev in (("S", "pA"), ("S", "pD"), ("A", "bond0")):
        wait_for_carrier(names[node], dev)
    # Neighbour entries need the bonds' addresses, which these have got from their cables.
    for node, other in (("S", "A"), ("A", "S")):
        address = json.loads(cee.ip(other, "-j link show bond0"))[0]["address"]
        cee.ip(node, "neighbour replace 10.0.0.%d lladdr %s nud permanent dev bond0" % (
            2 if node == "S" else 1, address))
    sink = Sink(mode)
    flow = Flow(mode, "A", 3, 0, 2000).start()
    same("bond: all was sent", flow.finish(), True)
    wait_until(settled, "queues are empty", 120)
    same("bond: each arrives, once", sorted(sink.read()) == sorted(flow.sent), True)
    x = [counters("S", dev)["prio3"] for dev in ("pA", "pD")]
    same("bond: both cables were used, and both ports charged",
         [p["shared_max"] > 0 for p in x] + [of("A", dev, 3, "sent") > 500 for dev in ("e0", "e1")], [True] * 4)
    check("bond: both were paused (%r)" % [p["xoff_sent"] for p in x], all(p["xoff_sent"] for p in x))
    same("bond: no drop, nothing stays charged",
         [of("S", "pC", 3, "drop_overflow"), of("S", "pC", 3, "drop_limit"), counters("S", "pC")["domain_used"]], [0] * 3)
    sink.sock.close()
    destroy()


def foreign():
    """A macvlan on pC, in another namespace, sends: its packets are not charged to S's ports."""
    mode = "route"
    build(mode)
    ports("prio all limit 20000")
    other = "X-%d" % os.getpid()
    subprocess.run(["ip", "netns", "add", other], check=True)
    names["X"] = other
    # The device in X gets the ifindex of one of S's ports.
    index = json.loads(cee.ip("S", "-j link show pA"))[0]["ifindex"]
    cee.ip("X", "link add in0 index %d type netwire rate %s peer name out0 netns %s" % (index, cee.RATE, names["A"]))
    cee.ip("S", "link add link pC name m0 netns %s type macvlan mode bridge" % other)
    for node, dev, address in (("X", "in0", "10.9.0.1/24"), ("X", "m0", "10.0.2.77/24"), ("A", "out0", "10.9.0.2/24")):
        cee.ip(node, "link set %s up" % dev)
        cee.ip(node, "address add %s dev %s" % (address, dev))
    cee.sysctl("X", "ipv4/ip_forward", 1)
    cee.ip("X", "neighbour replace 10.0.2.4 lladdr %s nud permanent dev m0" % MACS["C"])
    gateway = json.loads(cee.ip("X", "-j link show in0"))[0]["address"]
    cee.ip("A", "route replace 10.0.2.4 via 10.9.0.1 dev out0")
    cee.ip("A", "neighbour replace 10.9.0.1 lladdr %s nud permanent dev out0" % gateway)
    wait_for_carrier(other, "in0")
    port("S", "pC", "rate 1kbit", "change")
    flow = Flow(mode, "A", 3, 0, 40).start()
    flow.finish()
    wait_until(lambda: of("S", "pC", 3, "in") == 40, "40 have come")
    x = counters("S", "pC")["prio3"]
    same("foreign: bounded by the limit", (x["backlog"] <= 20000, x["drop_limit"] > 20, x["drop_overflow"]),
         (True, True, 0))
    same("foreign: charged to nobody", [of("S", "p" + h, 3, k) for h in cee.HOSTS for k in ("shared_max", "headroom_max")],
         [0] * 6)
    destroy()


def to_all(*args, **more):
    """A flow from A that S floods"""
    flow = Flow("bridge", "A", *args, to="10.0.0.255", **more)
    flow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    return flow.start()


def hold_both(options=""):
    """Make flooded frames wait at two ports: at this rate the frame before them takes seconds."""
    for host in ("B", "C"):
        port("S", "p" + host, "watchdog off rate 1kbit " + options)
    to_all(3, 9, 1).finish()
    wait_until(lambda: [of("S", p, 3, "sent") for p in ("pB", "pC")] == [1] * 2, "one has left to both")


def let_go(host):
    port("S", "p" + host, "rate %s" % cee.RATE, "change")


def let_both_go(name):
    for host in ("B", "C"):
        let_go(host)
    wait_until(settled, "queues are empty", 120)
    same(name + ": all is given back", settled(), True)


def copies():
    """S floods frames of A: their copies wait at two ports, and are charged to A once."""
    for name, options, ecn in (("copies", "", 0), ("copies, marked", "prio 3 ecn red min 0 max 0", 1)):
        build("bridge")
        ports("watchdog off")
        hold_both(options)
        to_all(3, 0, 20, ecn).finish()
        wait_until(lambda: [of("S", p, 3, "packets") for p in ("pB", "pC")] == [20] * 2, "20 wait at each")
        x = counters("S", "pA")
        same(name + ": charged once", (x["prio3"]["shared"], x["domain_used"]), (20 * (SIZE + 42),) * 2)
        let_go("B")
        wait_until(lambda: not of("S", "pB", 3, "packets"), "B has all")
        same(name + ": until the last copy has left", of("S", "pA", 3, "shared"), 20 * (SIZE + 42))
        let_both_go(name)
        # All packets but the first find others that wait.
        same(name + ": marks", [of("S", p, 3, "marked") for p in ("pB", "pC")], [19 if ecn else 0] * 2)
        destroy()


def whole_copies():
    """The same with GSO packets, one after the other: they are segmented at each port."""
    build("bridge", "veth")
    port("S", "pA", "watchdog off")
    hold_both()
    sock = inside(names["A"], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 3 << 5)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sock.setsockopt(SOL_UDP, UDP_SEGMENT, SIZE)
    for n in range(5):
        sock.sendto(random.randbytes(8 * SIZE), ("10.0.0.255", 7000))
        wait_until(lambda: [of("S", p, 3, "packets") for p in ("pB", "pC")] == [8 * n + 8] * 2, "its segments wait")
    sock.close()
    same("whole copies: cut at each port", [counters("S", p)["gso_segmented"] for p in ("pB", "pC")], [5] * 2)
    same("whole copies: each segment is charged once", of("S", "pA", 3, "shared"), 40 * (SIZE + 42))
    let_both_go("whole copies")
    same("whole copies: all left", [of("S", p, 3, "sent") for p in ("pB", "pC")], [1 + 40] * 2)
    destroy()


def flooded():
    """S floods frames of A to four slow ports: A is paused in time for all copies, and none is lost."""
    build("bridge")
    names["X"] = "X-%d" % os.getpid()
    subprocess.run(["ip", "netns", "add", names["X"]], check=True)
    others = ["pX%d" % i for i in range(2)]
    for dev in others:
        cee.ip("S", "link add %s type netwire rate %s delay 1us peer name %s netns %s" % (dev, cee.RATE, dev, names["X"]))
        cee.ip("S", "link set %s master br0 up" % dev)
        cee.ip("X", "link set %s up" % dev)
    ports("watchdog off")
    for dev in ["pB", "pC", *others]:
        port("S", dev, "watchdog off rate %d" % (cee.BITS // 20))
    for dev in others:
        wait_for_carrier(names["S"], dev)
    sinks = [Sink("bridge", host=host) for host in ("B", "C")]
    flow = to_all(3, 0, 500)
    same("flooded: all was sent", flow.finish(), True)
    wait_until(settled, "queues are empty", 120)
    same("flooded: each arrives at both, once", [sink.read() == flow.sent for sink in sinks], [True] * 2)
    same("flooded: each leaves to all", [of("S", dev, 3, "sent") for dev in others], [500] * 2)
    same("flooded: no drop", [everywhere(3, "drop_" + why) for why in ("limit", "overflow", "watchdog")], [0] * 3)
    x = of("S", "pA", 3, "xoff_sent")
    exact("flooded: A was paused (%d)" % x, x > 0)
    for sink in sinks:
        sink.sock.close()
    destroy()


def held_answers(mode):
    """C pauses S in priority 3, which all that S answers uses, and whose packets without a socket have 3000 bytes."""
    build(mode)
    ports("watchdog off dscp 0-63:3")
    port("S", "pC", "prio 3 limit 3000", "change")
    forger = Forger()
    forger.hold(3)
    return forger, of("S", "pC", 3, "in")


def solicitation():
    """C asks for the address of S's port, by unicast."""
    source, target = (socket.inet_pton(socket.AF_INET6, a) for a in ("fd00:3::4", "fd00:3::1"))
    body = struct.pack("!BBHI", 135, 0, 0, 0) + target
    total = checksum(source + target + struct.pack("!II", len(body), 58) + body)
    return struct.pack("!IHBB", 6 << 28, len(body), 58, 255) + source + target + body[:2] + \
        struct.pack("!H", total) + body[4:]


def unowned():
    """
    SYN-ACKs have a request socket, which is charged for nothing: they are limited as if they had none.  Neighbour
    advertisements are charged to a socket that disregards its send buffer: they are limited beyond twice the buffer.
    """
    forger, before = held_answers("route")
    server = inside(names["S"], lambda: socket.create_server(("10.0.2.1", 7777), backlog=1000))
    server.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 3 << 5)
    clients = [inside(names["C"], lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
               for _ in range(200)]
    for client in clients:
        client.connect_ex(("10.0.2.1", 7777))
    wait_until(lambda: of("S", "pC", 3, "in") >= before + 200, "their SYNs are answered")
    x = counters("S", "pC")["prio3"]
    check("unowned: %d of the answers wait, %d were dropped" % (x["packets"], x["drop_limit"]),
          0 < x["packets"] <= 50 and x["drop_limit"] >= 150, x)
    for sock in clients + [server]:
        sock.close()
    forger.close()
    destroy()
    # A packet of this size takes at least 512 bytes of the kernel's memory.
    with open("/proc/sys/net/core/wmem_default") as f:
        most = 2 * int(f.read()) // 512 + 50
    forger, before = held_answers("route6")
    asks = solicitation()
    for n in range(most + 300):
        forger.frame(asks, mac("pC"), b"\x86\xdd")
        if not n % 50:
            time.sleep(0.001)
    wait_until(lambda: of("S", "pC", 3, "in") >= before + most + 300, "S answers all")
    x = counters("S", "pC")["prio3"]
    check("unowned: %d advertisements wait, %d were dropped" % (x["packets"], x["drop_limit"]),
          50 < x["packets"] <= most and x["drop_limit"] >= 300, x)
    forger.close()
    wait_until(settled, "queues are empty")
    destroy()


def outgrown():
    """A larger MTU makes the headroom outgrow the buffer: it takes effect, and the kernel log says so."""
    cee.cables("netwire")
    cee.tc("S", "qdisc replace dev pA root handle 10: cee buffer 200k prio all lossless")

    def told():
        return cee.run("dmesg").count("the headroom of all ports is more than the buffer")

    def headroom(mtu):
        cee.ip("S", "link set pA mtu %d" % mtu)
        return json.loads(cee.tc("S", "-j qdisc show dev pA"))[0]["options"]["prio3"]["headroom"]
    before = told()
    small, large = headroom(1500), headroom(9000)
    check("outgrown: %d bytes of headroom, then %d" % (small, large), small < 25000 < large)
    same("outgrown: the log says so once", told(), before + 1)
    refusal = cee.refused("S", "qdisc change dev pA root handle 10: cee quanta 1000")
    check("outgrown: a change that keeps it is refused", refusal and "more than the buffer" in refusal, refusal)
    headroom(1500)
    same("outgrown: what fits again is not worth a line", told(), before + 1)
    destroy()


PARTS = (messages, strangers, convergence, turns, by_flow, whole, nic, bond, foreign, copies, whole_copies, flooded, unowned, outgrown)
# Number of results
PLAN = 3 * 8 + 11 + 2 * 2 + 4 + 6 + 14 + 2 + 2 * 4 + 4 + 5 + 4 * 7 + 5 + 2 + 4


if __name__ == "__main__":
    sys.exit(cee.main(PARTS, PLAN))
