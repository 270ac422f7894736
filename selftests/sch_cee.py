#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# sch_cee in real forwarding.  Prints TAP.
#
#	A e0 ------ pA \
#	                S  pC ------ e0 C
#	B e0 ------ pB /
#
# S forwards: by a bridge, a VLAN-aware bridge, or as a router.  All ends have sch_cee.
# Datagrams are counted and compared whole at the receiver, and the counters of all hops
# are added up.  C forges pause frames.
#
# Where time is virtual, pauses and shares are exact; elsewhere links are slow, the
# headroom is large, and what depends on the machine's speed is not checked.

import contextlib
import ctypes
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time

from sch_ndp import (VIRTUAL, check, exact, inside, left_out, results, run, same, say, unload_modules, wait_for_carrier,
                     wait_until)

# How the switch forwards, and its ports' options.  In real time this takes longest, so only one
# of them is tested there, unless NDP_FULL is set.
WAYS = [("vlan", "classify pcp")]
if VIRTUAL or os.environ.get("NDP_FULL"):
    WAYS += [("route6", ""), ("bridge", ""), ("route", "")]
RATE, BITS = ("1gbit", 10**9) if VIRTUAL else ("5mbit", 5 * 10**6)
# Room for what a peer in software, on a slow machine, sends in 20 ms after XOFF
SLACK = "" if VIRTUAL else " ring 200k"
# More than all that a host sends at once: however late a peer obeys, everything fits.
ROOM = "" if VIRTUAL else " ring 2m"
# And no watchdog, as a pause lasts as long as such a machine needs.
ALL = "" if VIRTUAL else ROOM + " watchdog off"
SIZE = 1400
IPV6_TCLASS, IPV6, SO_PRIORITY = 67, 41, 12
SO_RCVBUFFORCE, SO_SNDBUFFORCE = 33, 32
PAUSE = bytes.fromhex("0180c2000001")
MACS = {name: "02:00:00:00:01:%02x" % i for i, name in enumerate(("A", "B", "C", "pA", "pB", "pC"))}
HOSTS = ("A", "B", "C")

libc = ctypes.CDLL(None, use_errno=True)
names = {}
count = 0


def ip(node, args):
    return run("ip -n %s %s" % (names[node], args))


def tc(node, args):
    return run("tc -n %s %s" % (names[node], args))


def refused(node, args):
    p = subprocess.run(("tc -n %s %s" % (names[node], args)).split(), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    return p.stdout if p.returncode else None


def sysctl(node, path, value):
    def write():
        with open("/proc/sys/net/" + path, "w") as f:
            f.write(str(value))
    inside(names[node], write)


def cables(kind, rate=RATE, delay="1us", mtu=1500):
    """A namespace for each node, and a cable from each host to S."""
    global count
    count += 1
    for node in ("S",) + HOSTS:
        names[node] = "%s%d-%d" % (node, count, os.getpid())
        run("ip netns add " + names[node])
        for path, value in (("ipv4/ip_forward", 1), ("ipv4/conf/all/rp_filter", 0),
                            ("ipv4/conf/default/rp_filter", 0), ("ipv6/conf/all/forwarding", 1),
                            ("ipv6/conf/default/accept_dad", 0)):
            sysctl(node, path, value)
    for host in HOSTS:
        wire = "type netwire rate %s delay %s" % (rate, delay) if kind == "netwire" else "type veth"
        ip(host, "link add e0 %s peer name p%s netns %s" % (wire, host, names["S"]))
        ip("S", "link set p%s address %s mtu %d up" % (host, MACS["p" + host], mtu))
        ip(host, "link set e0 address %s mtu %d up" % (MACS[host], mtu))


def destroy():
    for node in names:
        subprocess.run(["ip", "netns", "del", names[node]], stderr=subprocess.DEVNULL)
    names.clear()


def port(node, dev, options="", verb="replace"):
    tc(node, "qdisc %s dev %s root handle 10: cee%s %s" % (verb, dev, SLACK, options))


def ports(options="", hosts=""):
    for host in HOSTS:
        port("S", "p" + host, options)
        port(host, "e0", options + hosts)


def prefix(mode, host):
    """Prefix of a host: of a network of its own behind a router, of one for all behind a bridge."""
    n = HOSTS.index(host) if mode.startswith("route") else 0
    return "fd00:%x::" % (n + 1) if mode.endswith("6") else "10.0.%d." % n


def address(mode, host):
    return prefix(mode, host) + "%d" % (HOSTS.index(host) + 2)


def length(mode):
    return 64 if mode.endswith("6") else 24


def device(mode, host):
    return "v10" if mode == "vlan" and host != "C" else "e0"


def bridge_up(mode):
    ip("S", "link add br0 type bridge vlan_filtering %d" % (mode == "vlan"))
    ip("S", "link set br0 up")
    for host in HOSTS:
        ip("S", "link set p%s master br0" % host)
        if mode == "vlan":
            run("bridge -n %s vlan del vid 1 dev p%s" % (names["S"], host))
            run("bridge -n %s vlan add vid 10 dev p%s%s" % (
                names["S"], host, " pvid untagged" if host == "C" else ""))
            if host != "C":
                ip(host, "link add link e0 name v10 type vlan id 10 egress-qos-map 0:0 3:3")
                ip(host, "link set v10 up")


def routed(mode, host):
    """Address and neighbour of a router's port, which it loses when it goes down."""
    ip("S", "address replace %s1/%d dev p%s%s" % (prefix(mode, host), length(mode), host,
                                                  " nodad" if mode.endswith("6") else ""))
    ip("S", "neighbour replace %s lladdr %s nud permanent dev p%s" % (
        address(mode, host), MACS[host], host))


def router_up(mode):
    for host in HOSTS:
        routed(mode, host)


def build(mode, kind="netwire", **wire):
    """mode: bridge, vlan, route, route6"""
    cables(kind, **wire)
    if mode.startswith("route"):
        router_up(mode)
    else:
        bridge_up(mode)
    for host in HOSTS:
        dev = device(mode, host)
        ip(host, "address add %s/%d dev %s%s" % (address(mode, host), length(mode), dev,
                                                 " nodad" if mode.endswith("6") else ""))
        for other in HOSTS:
            if mode.startswith("route") and other != host:
                continue
            ip(host, "neighbour replace %s lladdr %s nud permanent dev %s" % (
                address(mode, other), MACS[other], dev))
        if mode.startswith("route"):
            ip(host, "neighbour replace %s1 lladdr %s nud permanent dev e0" % (
                prefix(mode, host), MACS["p" + host]))
            ip(host, "%sroute add default via %s1" % ("-6 " if mode.endswith("6") else "", prefix(mode, host)))
    for host in HOSTS:
        wait_for_carrier(names[host], "e0")
        wait_for_carrier(names["S"], "p" + host)
        # Until its address is local, a host that routes sends packets for itself out again.
        if mode.endswith("6"):
            wait_until(lambda: "local %s " % address(mode, host) in
                       ip(host, "-6 route show table local"), "an address")


def counters(node, dev):
    return json.loads(tc(node, "-s -j qdisc show dev %s" % dev))[0]


def of(node, dev, prio, key):
    return counters(node, dev)["prio%d" % prio][key]


def sums(x):
    return all(p["in"] == p["sent"] + p["packets"] + p["drop_limit"] + p["drop_overflow"] +
               p["drop_watchdog"] + p["drop_reset"] for p in (x["prio%d" % i] for i in range(8)))


class Flow:
    """Datagrams from a host to C or elsewhere, in a thread of its own."""

    def __init__(self, mode, host, prio, number, total=None, ecn=0, to=None, size=SIZE):
        self.size, self.to = size, to or address(mode, "C")
        self.mode, self.host, self.prio, self.number, self.total = mode, host, prio, number, total
        self.sent, self.stop = [], False
        family = socket.AF_INET6 if mode.endswith("6") else socket.AF_INET
        self.sock = inside(names[host], lambda: socket.socket(family, socket.SOCK_DGRAM))
        tos = prio << 5 | ecn
        if family == socket.AF_INET6:
            self.sock.setsockopt(IPV6, IPV6_TCLASS, tos)
        else:
            self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, prio)
        # A flow has more packets than the send buffer holds, so it waits for the port.
        self.sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 100000)
        self.sock.settimeout(60)
        self.thread = threading.Thread(target=self.work)

    def work(self):
        n = 0
        try:
            while not self.stop and n != self.total:
                data = struct.pack("!BI", self.number, n) + random.randbytes(self.size - 5)
                self.sock.sendto(data, (self.to, 7000))
                if self.total:
                    self.sent.append(data)
                n += 1
        except OSError as e:
            say("flow %d: %s" % (self.number, e))

    def start(self):
        self.thread.start()
        return self

    def finish(self, now=False):
        self.stop = now
        self.thread.join(120)
        self.sock.close()
        return not self.thread.is_alive()


def end(flows):
    """Stop all flows before waiting for any: one may wait for another."""
    for flow in flows:
        flow.stop = True
    return [flow.finish(now=True) for flow in flows]


class Sink:
    """Receiver of the flows, with room for all their datagrams."""

    def __init__(self, mode, room=128 << 20, host="C"):
        family = socket.AF_INET6 if mode.endswith("6") else socket.AF_INET
        self.sock = inside(names[host], lambda: socket.socket(family, socket.SOCK_DGRAM))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, room)
        self.sock.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", 7000))

    def read(self, quiet=0.5):
        self.sock.settimeout(quiet)
        got = []
        try:
            while True:
                got.append(self.sock.recv(2000))
        except socket.timeout:
            return got


class Log:
    """What the kernel logs from now on"""

    def __init__(self):
        self.file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.file, 0, os.SEEK_END)

    def lines(self, pattern):
        """Lines in which the pattern is found; closes the log"""
        found = []
        try:
            while True:
                found += re.findall(".*%s.*" % pattern, os.read(self.file, 8192).decode(errors="replace"))
        except BlockingIOError:
            os.close(self.file)
            return found


class Forger:
    """C, or another host, sends arbitrary frames to S."""

    def __init__(self, host="C"):
        self.host = host
        self.sock = inside(names[host], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
        self.sock.bind(("e0", 0))
        self.holding = False

    def frame(self, payload, dest=PAUSE, proto=b"\x88\x08"):
        source = bytes.fromhex(MACS[self.host].replace(":", ""))
        self.sock.send((dest + source + proto + payload).ljust(60, b"\0"))

    def pfc(self, prio, quanta, mask=None):
        times = [quanta if i == prio else 0 for i in range(8)]
        self.frame(struct.pack("!HH8H", 0x0101, 1 << prio if mask is None else mask, *times))

    def pause(self, quanta):
        self.frame(struct.pack("!HH", 0x0001, quanta))

    def hold(self, prio, every=0.01, at=""):
        """
        Pause again and again, in the background, until let_go().  Returns when S's port to this host
        is paused; its qdisc is the root, or the one at @at.
        """
        self.holding = True

        def work():
            while self.holding:
                self.pfc(prio, 65535)
                time.sleep(every)
        self.thread = threading.Thread(target=work)
        self.thread.start()
        wait_until(lambda: of("S", "p" + self.host + at, prio, "paused"), self.host + " has paused its port")

    def let_go(self, prio):
        if self.holding:
            self.holding = False
            self.thread.join()
            self.pfc(prio, 0)

    def close(self):
        self.let_go(3)
        self.sock.close()


def settled():
    """Is nothing queued or charged at S?"""
    xs = [counters("S", "p" + host) for host in HOSTS]
    return all(not x["qlen"] and not x["domain_used"] and
               all(not x["prio%d" % i]["shared"] and not x["prio%d" % i]["headroom"] for i in range(8))
               for x in xs)


def everywhere(prio, key):
    return (sum(of("S", "p" + host, prio, key) for host in HOSTS) +
            sum(of(host, "e0", prio, key) for host in HOSTS))


@contextlib.contextmanager
def overload(lossy=True):
    """Overload C's port by the flows that are started in this context.

    Where time is real, the machine may be slower than a port: there C's port sends next to nothing
    until A and B are paused and, if there is one, the lossy priority drops.
    """
    if not VIRTUAL:
        tc("S", "qdisc change dev pC root handle 10: cee rate 1kbit")
    yield
    if not VIRTUAL:
        wait_until(lambda: of("S", "pA", 3, "xoff_sent") and of("S", "pB", 3, "xoff_sent") and
                   (not lossy or of("S", "pC", 0, "drop_limit")), "overload", 120)
        tc("S", "qdisc change dev pC root handle 10: cee rate " + RATE)


def lossless(name, mode, total=1000):
    """A and B overload C in a lossless priority, beside a lossy one."""
    sink = Sink(mode)
    flows = [Flow(mode, host, prio, n, total)
             for n, (host, prio) in enumerate((("A", 3), ("B", 3), ("A", 0), ("B", 0)))]
    with overload():
        for flow in flows:
            flow.start()
    done = [f.finish() for f in flows]
    wait_until(settled, "queues are empty", 120)
    got = sink.read()
    sink.sock.close()
    same(name + ": all was sent", done, [True] * 4)
    sent = sorted(flows[0].sent + flows[1].sent)
    same(name + ": %d datagrams, each once and whole" % len(sent),
         sorted(d for d in got if d[0] < 2) == sent, True)
    drops = [everywhere(3, "drop_" + why) for why in ("limit", "overflow", "watchdog", "reset")]
    same(name + ": no drop at any hop", drops, [0] * 4)
    lost = everywhere(0, "drop_limit")
    check(name + ": the lossy priority beside it drops (%d)" % lost, lost > 0)
    same(name + ": and all that it did not drop arrives", len([d for d in got if d[0] >= 2]), 2 * total - lost)
    same(name + ": counters add up", [sums(counters("S", "p" + h)) for h in HOSTS], [True] * 3)
    told(name)


def told(name):
    """Each pause frame that was sent was received, and pauses kept the buffer in its bounds."""
    for host in ("A", "B"):
        at_s, at_h = counters("S", "p" + host)["prio3"], counters(host, "e0")["prio3"]
        check(name + ": %s was paused and went on (%d, %d)" % (host, at_s["xoff_sent"], at_s["xon_sent"]),
              at_s["xoff_sent"] and at_s["xon_sent"] and at_h["paused_ns"], (at_s, at_h))
        same(name + ": %s has seen each" % host, (at_h["xoff_received"], at_h["xon_received"]),
             (at_s["xoff_sent"], at_s["xon_sent"]))
        shown = counters("S", "p" + host)["options"]["prio3"]
        check(name + ": buffer %d, headroom %d of %d" % (
            at_s["shared_max"], at_s["headroom_max"], shown["headroom"]),
            0 < at_s["headroom_max"] <= shown["headroom"] and at_s["shared_max"] <= shown["xoff"], at_s)


def forwarding():
    for mode, options in WAYS:
        build(mode)
        ports(options + ALL)
        lossless(mode, mode)
        destroy()
    build("route", "veth")
    # veth has no rate of its own, and a bridge would forward its frames at once
    ports("rate %s" % RATE + (ALL or " ring 400k"))
    lossless("veth", "route")
    destroy()


def headrooms():
    """The headroom that the formula sets aside is enough when nothing leaves."""
    if not VIRTUAL:
        left_out("headrooms", 18, "asks for exact links, in virtual time alone")
        return
    for rate, mbits in (("1gbit", 1000), ("10gbit", 10000), ("40gbit", 40000)):
        for delay in (1, 10, 50):
            for mtu in (1500, 9000):
                headroom(rate, mbits, delay, mtu)


def headroom(rate, mbits, delay, mtu):
    """C accepts nothing, so all that arrives after XOFF stays in the headroom.

    User-mode Linux sets no timer to less than 1 us: either end may be that late.
    """
    mode, under_way = "route", 2 * delay * mbits // 8
    build(mode, rate=rate, delay="%dus" % delay, mtu=mtu)
    ports("watchdog off cable %dus ring %d" % (delay, 2 * (mtu + 42) + 2 * mbits // 8))
    sink, forger = Sink(mode, 1 << 16), Forger()
    forger.hold(3, every=0.0003)
    total = (4 * 97000 + 2 * under_way) // mtu
    flows = [Flow(mode, host, 3, 0, total, size=mtu - 28).start() for host in ("A", "B")]
    wait_until(lambda: all(counters(h, "e0")["prio3"]["paused"] for h in ("A", "B")), "A and B are paused")
    time.sleep(0.001)
    used = [of("S", "p" + h, 3, "headroom") for h in ("A", "B")]
    forger.close()
    for flow in flows:
        flow.finish()
    wait_until(settled, "queues are empty", 120)
    aside = counters("S", "pA")["options"]["prio3"]["headroom"]
    check("headroom %s, %d us, MTU %d: %r of %d" % (rate, delay, mtu, used, aside),
          all(0.9 * under_way < u <= aside for u in used) and not everywhere(3, "drop_overflow"))
    sink.sock.close()
    destroy()


def stacked():
    """From a bridge to a routed port: as the bridge received a packet, all its ports are charged."""
    build("bridge")
    ip("S", "link set pC nomaster")
    ip("S", "address add 10.0.0.1/24 dev br0")
    ip("S", "address add 10.0.9.1/24 dev pC")
    ip("S", "neighbour replace 10.0.9.4 lladdr %s nud permanent dev pC" % MACS["C"])
    ip("C", "address add 10.0.9.4/24 dev e0")
    bridge = json.loads(ip("S", "-j link show br0"))[0]["address"]
    for host in ("A", "B"):
        ip(host, "route add 10.0.9.0/24 via 10.0.0.1")
        ip(host, "neighbour replace 10.0.0.1 lladdr %s nud permanent dev e0" % bridge)
    ports("watchdog off")
    forger = Forger()
    forger.hold(3)
    sock = inside(names["A"], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 3 << 5)
    for _ in range(20):
        sock.sendto(b"x" * SIZE, ("10.0.9.4", 7000))
    sock.close()
    wait_until(lambda: of("S", "pC", 3, "packets") == 20, "20 wait")
    same("stacked: charged to all ports of the bridge", [of("S", "p" + h, 3, "shared") for h in HOSTS],
         [20 * (SIZE + 42)] * 2 + [0])
    same("stacked: in the domain twice", counters("S", "pA")["domain_used"], 2 * 20 * (SIZE + 42))
    forger.close()
    wait_until(settled, "queues are empty")
    check("stacked: all is given back", settled())
    destroy()


def quanta():
    """C's pauses are obeyed, for as long as their quanta say."""
    mode = "route"
    build(mode)
    ports("watchdog off prio 5 lossless")
    forger, sink = Forger(), Sink(mode)

    # Datagrams, few enough for the host's own queue, that leave by pC
    def send(prio, n=5):
        flow = Flow(mode, "A", prio, prio, n).start()
        flow.finish()
        wait_until(lambda: of("S", "pC", prio, "in") - base.get(prio, 0) >= n, "S has them")
        base[prio] = of("S", "pC", prio, "in")

    base = {}
    forger.hold(3)
    send(3)
    send(5)
    same("a paused priority waits, others do not", sorted(d[0] for d in sink.read()), [5] * 5)
    forger.let_go(3)
    same("it goes on when it may", [d[0] for d in sink.read()], [3] * 5)
    before = of("S", "pC", 3, "paused_ns")
    forger.pfc(3, 5000)
    wait_until(lambda: not counters("S", "pC")["prio3"]["paused"], "time passes")
    lasted = of("S", "pC", 3, "paused_ns") - before
    same("a pause lasts for its quanta", lasted, 5000 * 512 * 10**9 // BITS)
    before = counters("S", "pC")
    forger.pfc(3, 65535, mask=0)
    forger.pfc(0, 65535)
    forger.pfc(3, 0)
    wait_until(lambda: of("S", "pC", 3, "xon_received") > before["prio3"]["xon_received"], "XON")
    x = counters("S", "pC")
    same("only what the mask says, and only lossless", [x["prio%d" % i]["xoff_received"] for i in range(8)],
         [before["prio%d" % i]["xoff_received"] for i in range(8)])
    forger.pause(65535)
    wait_until(lambda: counters("S", "pC")["prio0"]["paused"], "paused")
    x = counters("S", "pC")
    same("802.3x pauses all", [x["prio%d" % i]["paused"] for i in range(8)], [True] * 8)
    forger.pause(0)
    wait_until(lambda: not counters("S", "pC")["prio0"]["paused"], "XON")
    malformed(forger)
    untrusted(forger)
    forger.close()
    sink.sock.close()
    destroy()


def malformed(forger):
    # Unknown operations, pauses to other addresses, and one with a VLAN tag are malformed.
    before = counters("S", "pC")
    for payload in (struct.pack("!H", 0x0102), struct.pack("!HH", 0x0000, 65535), b""):
        forger.frame(payload)
    pfc = struct.pack("!HH8H", 0x0101, 0xff, *[65535] * 8)
    forger.frame(pfc, dest=bytes.fromhex("0180c2000002"))
    forger.frame(pfc, dest=b"\xff" * 6)
    forger.frame(b"\x00\x03\x88\x08" + pfc, proto=b"\x81\x00")
    # Unicast frames, as a host beyond a bridge could send
    for payload in (pfc, struct.pack("!HH", 0x0001, 65535)):
        forger.frame(payload, dest=bytes.fromhex(MACS["pC"].replace(":", "")))
    wait_until(lambda: counters("S", "pC")["malformed"] - before["malformed"] >= 8, "malformed ones")
    x = counters("S", "pC")
    same("malformed: counted", x["malformed"] - before["malformed"], 8)
    same("malformed: not obeyed", [x["prio%d" % i]["paused"] for i in range(8)], [False] * 8)


def untrusted(forger):
    port("S", "pC", "trust no", "change")
    before = counters("S", "pC")["ignored"]
    for _ in range(10):
        forger.pfc(3, 65535)
        forger.pause(65535)
    wait_until(lambda: counters("S", "pC")["ignored"] - before >= 20, "ignored ones")
    x = counters("S", "pC")
    same("trust no: ignored and counted", (x["ignored"] - before, x["prio3"]["paused"], x["prio0"]["paused"]),
         (20, False, False))
    port("S", "pC", "trust yes", "change")


def flood():
    """C sends pauses of random quanta as fast as it can: packets wait or leave, and none is lost."""
    mode = "route"
    build(mode)
    ports("watchdog off" + ALL)
    forger, sink = Forger(), Sink(mode)
    before, said = counters("S", "pC")["prio3"], [0, 0]
    flows = [Flow(mode, host, 3, n, 200).start() for n, host in enumerate(("A", "B"))]
    # Of two threads either may be the faster one.
    while (said[1] <= 100 or any(f.thread.is_alive() for f in flows)) and sum(said) < 20000:
        on = random.randrange(2)
        forger.pfc(3, on and random.choice((1, 50, random.randrange(1, 2000))))
        said[on] += 1
    forger.pfc(3, 0)
    same("flood: all was sent", [flow.finish() for flow in flows], [True] * 2)
    wait_until(settled, "queues are empty", 120)
    same("flood: each arrives, once", sorted(sink.read()) == sorted(flows[0].sent + flows[1].sent), True)
    same("flood: no drop", [everywhere(3, "drop_" + why) for why in ("limit", "overflow", "watchdog")], [0] * 3)
    x = counters("S", "pC")["prio3"]
    same("flood: each frame was seen", [x["xoff_received"] - before["xoff_received"],
                                        x["xon_received"] - before["xon_received"]], [said[1], said[0] + 1])
    check("flood: %d times paused, %d ns in all" % (said[1], x["paused_ns"]), said[1] > 100 and x["paused_ns"])
    forger.close()
    sink.sock.close()
    destroy()


def watchdog():
    mode = "route"
    build(mode)
    ports()
    for action in ("drain", "drop"):
        port("S", "pC", "watchdog 100ms action %s" % action, "change")
        log, forger, sink = Log(), Forger(), Sink(mode)
        before = counters("S", "pC")["prio3"]
        forger.hold(3)
        begin = time.monotonic()
        flow = Flow(mode, "A", 3, 0, 30).start()
        flow.finish()
        wait_until(lambda: counters("S", "pC")["prio3"]["storms"] > before["storms"], "the watchdog barks")
        took = time.monotonic() - begin
        check("watchdog %s: not before its time" % action, took >= 0.1, took)
        same("watchdog %s: while the pause lasts" % action, counters("S", "pC")["prio3"]["paused"], True)
        wait_until(lambda: not counters("S", "pC")["prio3"]["packets"], "the queue is empty")
        x = counters("S", "pC")["prio3"]
        got = len(sink.read(0.05 if VIRTUAL else 1))
        same("watchdog %s: what becomes of the packets" % action,
             (got, x["drop_watchdog"] - before["drop_watchdog"], x["storms"] - before["storms"]),
             (30, 0, 1) if action == "drain" else (0, 30, 1))
        lines = log.lines("sch_cee: pC: the peer pauses priority 3 for more than 100 ms, it is " + ("dropped" if action == "drop" else "sent on"))
        check("watchdog %s: the kernel says so" % action, len(lines) == 1, lines)
        forger.close()
        wait_until(lambda: not counters("S", "pC")["prio3"]["paused"], "the pause has ended")
        Flow(mode, "A", 3, 1, 10).start().finish()
        same("watchdog %s: then all is as before" % action,
             (len(sink.read()), counters("S", "pC")["prio3"]["storm"]), (10, False))
        sink.sock.close()
    same("watchdog: counters add up", sums(counters("S", "pC")), True)
    port("S", "pC", "watchdog off", "change")
    destroy()


def deaf():
    """A does not obey: packets beyond the headroom are lost and counted, and logged once."""
    mode = "route"
    build(mode)
    ports()
    tc("A", "qdisc replace dev e0 root pfifo limit 1000")
    log, sink = Log(), Sink(mode)
    for n in range(2):
        port("S", "pC", "rate 1kbit", "change")
        before = of("S", "pC", 3, "in")
        Flow(mode, "A", 3, n, 600).start().finish()
        wait_until(lambda: of("S", "pC", 3, "in") == before + 600, "all have come")
        port("S", "pC", "rate %s" % RATE, "change")
        wait_until(settled, "queues are empty")
    lost = of("S", "pC", 3, "drop_overflow")
    check("deaf: %d of 1200 datagrams are lost, and counted where they came in" % lost,
          0 < lost == of("S", "pA", 3, "overflow"), counters("S", "pA"))
    same("deaf: the others arrive", len(sink.read()), 1200 - lost)
    lines = log.lines("sch_cee: pA: the headroom of lossless priority 3 is full")
    same("deaf: the kernel says so once", len(lines), 1)
    sink.sock.close()
    destroy()


def hardware():
    """PFC is left to a NIC that does it by itself, and tc reports that when it sets up the port."""
    why = subprocess.run(["modprobe", "dcb_nic", "pfc=8"], check=False, stderr=subprocess.PIPE, text=True).stderr
    if why:
        left_out("hardware", 4, "no driver here that has data center bridging")
        return
    names["S"] = "S-%d" % os.getpid()
    run("ip netns add " + names["S"])
    run("ip link set dcb0 netns " + names["S"])
    told = subprocess.run(["tc", "-n", names["S"], "qdisc", "replace", "dev", "dcb0", "root", "cee", "prio", "3,4", "lossless"],
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    same("hardware: set up", (told.returncode, "the device does PFC, and does not see what waits here" in told.stdout), (0, True))

    def which():
        return [i for i in range(8) if counters("S", "dcb0")["prio%d" % i].get("hardware")]
    same("hardware: tc -s", which(), [3])
    same("hardware: 802.3x", "the device does PFC, so its peer cannot be paused by 802.3x" in
         (refused("S", "qdisc change dev dcb0 root cee pause global") or ""), True)
    with open("/sys/module/dcb_nic/parameters/pfc", "w", encoding="ascii") as file:
        file.write("16")
    ip("S", "link set dcb0 up")
    same("hardware: later", which(), [4])
    ip("S", "link set dcb0 netns 1")
    destroy()
    run("rmmod dcb_nic")


def shares(node, dev, prios, seconds):
    """Bytes that each priority sends in a time while all are backlogged, as parts of the whole."""
    def sent():
        x = counters(node, dev)
        return [x["prio%d" % p]["sent_bytes"] for p in prios]
    first = sent()
    time.sleep(seconds)
    parts = [b - a for a, b in zip(first, sent())]
    return [part / sum(parts) for part in parts]


def near(name, got, wanted):
    check("%s: %s" % (name, ["%.3f" % g for g in got]),
          all(abs(g - w) <= 0.02 for g, w in zip(got, wanted)), "wanted %r" % (wanted,))


def weights():
    """Shares at A's own port, whose sockets always have more to send."""
    if not VIRTUAL:
        left_out("weights", 4, "asks for senders that are never late, in virtual time alone")
        return
    mode = "route"
    build(mode)
    ports("prio 0-6 lossless prio 1 weight 1 prio 2 weight 2 prio 4 weight 5 prio 6 lossless strict")
    seconds = 0.04
    deaf = Sink(mode, 1 << 16)
    flows = {prio: Flow(mode, "A", prio, prio).start() for prio in (1, 2, 4)}
    wait_until(lambda: all(of("A", "e0", p, "packets") for p in flows), "all wait")
    near("weights 1:2:5", shares("A", "e0", (1, 2, 4), seconds), (1 / 8, 2 / 8, 5 / 8))
    flows.pop(4).finish(now=True)
    wait_until(lambda: not of("A", "e0", 4, "packets"), "one has ended")
    near("its share goes to the others, 1:2", shares("A", "e0", (1, 2), seconds), (1 / 3, 2 / 3))
    flows[6] = Flow(mode, "A", 6, 6).start()
    wait_until(lambda: of("A", "e0", 6, "packets"), "it waits")
    near("a strict one takes all", shares("A", "e0", (1, 2, 6), seconds), (0, 0, 1))
    same("nothing is lost in any", [of("A", "e0", p, "drop_limit") for p in range(8)], [0] * 8)
    end(flows.values())
    deaf.sock.close()
    destroy()


def ecn():
    """Packets that find a long queue are marked; with NP-ECN, not those that a pause has held."""
    mode = "route"
    build(mode)
    for kind in ("red", "np"):
        ports("watchdog off prio 3 ecn %s min 20000 max 20000" % kind)
        forger, sink = Forger(), Sink(mode)
        before = counters("S", "pC")["prio3"]
        # C is paused for a while, then not any more
        forger.hold(3)
        flow = Flow(mode, "A", 3, 0, 40, ecn=2).start()
        flow.finish()
        wait_until(lambda: of("S", "pC", 3, "in") >= before["in"] + 40, "40 have come")
        waited = of("S", "pC", 3, "packets")
        forger.close()
        got = sink.read()
        x = counters("S", "pC")["prio3"]
        # Threshold of what waits before a packet: 20000 bytes are 13 packets of 1442 and a part
        marked = x["marked"] - before["marked"]
        same("ecn %s: 40 came, all waited" % kind, (len(got), waited), (40, 40))
        same("ecn %s: those behind 20000 bytes%s" % (kind, "" if kind == "red" else " are spared"),
             (marked, x["np_unmarked"] - before["np_unmarked"]), (26, 0) if kind == "red" else (0, 26))
        sink.sock.close()
    # Now without a pause: real congestion, by A and B
    sink = Sink(mode)
    before = counters("S", "pC")["prio3"]
    flows = [Flow(mode, host, 3, 0, 200, ecn=2).start() for host in ("A", "B")]
    for flow in flows:
        flow.finish()
    sink.read()
    marked = of("S", "pC", 3, "marked") - before["marked"]
    check("ecn np: congestion of one's own is marked (%d)" % marked, marked > 20)
    sink.sock.close()
    destroy()


def dynamic():
    """Alpha 0.25 of a small buffer: a port gets at most a quarter of what is free without the headroom."""
    mode = "route"
    build(mode)
    ports("buffer 1000k prio 3 alpha 0.25")
    sink = Sink(mode)
    with overload(lossy=False):
        flows = [Flow(mode, host, 3, 0, 600).start() for host in ("A", "B")]
    for flow in flows:
        flow.finish()
    wait_until(settled, "queues are empty", 120)
    drops = everywhere(3, "drop_overflow")
    same("dynamic: all arrive, or are counted", len(sink.read()) + drops, 1200)
    x = counters("S", "pA")
    room = 1024000 - sum(counters("S", "p" + h)["options"]["prio3"]["headroom"] for h in HOSTS)
    most = [of("S", "p" + h, 3, "shared_max") for h in ("A", "B")]
    # Two ports have a = (room - 2 a) / 4 each, that is room / 6.  One alone has room / 5; the other,
    # if it starts only then, in real time, has a fifth of the rest.
    least = room / 6 if VIRTUAL else room * 4 / 25
    check("dynamic: thresholds follow what is free: %r of %d" % (most, room),
          all(least - 3000 < m <= room / 5 for m in most), x["prio3"])
    if VIRTUAL:
        same("dynamic: no drop", drops, 0)
    else:
        left_out("dynamic: no drop", 1, "asks for senders that heed XOFF in time, in virtual time alone")
    check("dynamic: XOFF was sent", of("S", "pA", 3, "xoff_sent") > 0)
    sink.sock.close()
    destroy()


def change():
    """Options change under traffic, and nothing is lost.

    A threshold of 200 KB is a pause of 600 ms where links are slow, hence no watchdog.
    """
    mode = "bridge"
    build(mode)
    ports("watchdog off")
    sink = Sink(mode)
    flows = [Flow(mode, host, 3, n, 1500).start() for n, host in enumerate(("A", "B"))]
    options = ("prio 3 alpha 0 xoff 30000", "prio 3 alpha 0 xoff 200000 xon 1000", "prio 3 alpha 0.01 xon 0",
               "prio 3 alpha 0 xoff 97000", "prio 3 weight 7", "prio 3 strict", "quanta 100", "quanta 0",
               "cable 10us", "cable 1us", "prio 3 ecn red min 10k max 90k", "prio all lossless",
               "buffer 8m", "classify dscp", "trust yes")
    done = 0
    while any(f.thread.is_alive() for f in flows):
        port("S", "p" + random.choice(HOSTS), random.choice(options), "change")
        done += 1
        time.sleep(0.0005)
    for flow in flows:
        flow.finish()
    wait_until(settled, "queues are empty", 120)
    check("changed %d times under traffic" % done, done > 5)
    same("change: all arrive, each once and whole",
         sorted(sink.read()) == sorted(flows[0].sent + flows[1].sent), True)
    same("change: no drop", [everywhere(3, "drop_" + why) for why in ("limit", "overflow", "watchdog")], [0] * 3)
    sink.sock.close()
    destroy()


def removal():
    """Ports, cables and the whole switch are deleted while bytes are charged to them."""
    mode = "route"
    for what in ("qdisc", "link", "reader"):
        build(mode)
        ports("watchdog off")
        forger, sink = Forger(), Sink(mode)
        forger.hold(3)
        Flow(mode, "A", 3, 0, 30).start().finish()
        wait_until(lambda: of("S", "pA", 3, "shared") == 30 * (SIZE + 42), "30 are charged to pA")
        if what == "qdisc":
            tc("S", "qdisc del dev pA root")
        elif what == "link":
            ip("S", "link del pA")
        else:
            # The port that holds them
            tc("S", "qdisc del dev pC root")
            same("removal of the %s: nothing stays charged" % what,
                 (counters("S", "pA")["domain_used"], of("S", "pA", 3, "shared")), (0, 0))
        if what != "reader":
            same("removal of the %s: its bytes are in use" % what, counters("S", "pB")["domain_used"], 30 * (SIZE + 42))
            forger.let_go(3)
            wait_until(lambda: not of("S", "pC", 3, "packets"), "the queue is empty")
            same("removal of the %s: all arrive, and are given back" % what,
                 (len(sink.read()), counters("S", "pB")["domain_used"]), (30, 0))
        forger.close()
        sink.sock.close()
        destroy()
    death(mode)


def death(mode):
    """All of S is deleted at once while packets arrive."""
    build(mode)
    ports()
    port("S", "pC", "rate 1mbit")
    flows = [Flow(mode, host, 3, 0).start() for host in ("A", "B")]
    wait_until(lambda: of("S", "pA", 3, "xoff_sent") and of("S", "pB", 3, "xoff_sent"), "both are paused")
    run("ip netns del " + names["S"])
    ended = end(flows)
    same("the switch's namespace dies under traffic, and senders do not hang", ended, [True] * 2)
    names.pop("S")
    destroy()


def ring():
    """Three switches, a host at each, and all routes clockwise.

        H0 --- R0 next0 ---- prev0 R1 --- H1   Each host sends to the one before it, so
              prev0               next0        by way of two links of the ring, and each
                 |                 |           link has twice what it can carry.
               next0 ---- R2 ---- prev0
                          |
                          H2
    """
    global count
    count += 1
    for i in range(3):
        for node in ("H%d" % i, "R%d" % i):
            names[node] = "%s-%d-%d" % (node, count, os.getpid())
            run("ip netns add " + names[node])
            sysctl(node, "ipv4/ip_forward", 1)
            sysctl(node, "ipv4/conf/all/rp_filter", 0)
            sysctl(node, "ipv4/conf/default/rp_filter", 0)
    wire = "type netwire rate %s delay 1us" % RATE
    for i in range(3):
        me, host, after = "R%d" % i, "H%d" % i, "R%d" % ((i + 1) % 3)
        for node, dev, far_node, far_dev, net in ((me, "host0", host, "e0", i), (me, "next0", after, "prev0", 10 + i)):
            ip(node, "link add %s %s peer name %s netns %s" % (dev, wire, far_dev, names[far_node]))
            for end, name, last in ((node, dev, 1), (far_node, far_dev, 2)):
                ip(end, "link set %s address 02:00:00:00:%02x:%02x up" % (name, net, last))
                ip(end, "address add 10.0.%d.%d/24 dev %s" % (net, last, name))
                ip(end, "neighbour replace 10.0.%d.%d lladdr 02:00:00:00:%02x:%02x nud permanent dev %s" % (
                    net, 3 - last, net, 3 - last, name))
    for i in range(3):
        ip("H%d" % i, "route add default via 10.0.%d.1" % i)
        for other in (1, 2):
            ip("R%d" % i, "route add 10.0.%d.0/24 via 10.0.%d.2" % ((i + other) % 3, 10 + i))
        for node, dev in (("H%d" % i, "e0"), ("R%d" % i, "host0"), ("R%d" % i, "next0"), ("R%d" % i, "prev0")):
            port(node, dev, "watchdog off")
            wait_for_carrier(names[node], dev)


def deadlock():
    """A ring of full buffers deadlocks; the watchdog ends that."""
    if not VIRTUAL:
        left_out("deadlock", 5, "asks for links that are full, in virtual time alone")
        return
    ring()
    deaf = [Sink("route", 1 << 16, "H%d" % i) for i in range(3)]
    flows = [Flow("route", "H%d" % i, 3, i, to="10.0.%d.2" % ((i + 2) % 3)).start() for i in range(3)]

    def state():
        return [(x["packets"], x["sent"], x["paused"], x["storms"]) for x in
                (counters("R%d" % i, "next0")["prio3"] for i in range(3))]

    def stands():
        before = state()
        time.sleep(0.02)
        return all(packets and paused for packets, _, paused, _ in before) and state() == before

    wait_until(stands, "all stand", 20)
    before = state()
    time.sleep(0.3)
    same("ring: without a watchdog nothing moves for 300 ms", state(), before)
    same("ring: and nothing was lost", [of("R%d" % i, "next0", 3, "drop_overflow") for i in range(3)], [0] * 3)
    for i in range(3):
        port("R%d" % i, "next0", "watchdog 20ms action drop", "change")
    wait_until(lambda: all(now[1] > then[1] + 100 for now, then in zip(state(), before)), "packets pass", 20)
    check("ring: the watchdog ends it %r times" % [s[3] for s in state()], any(s[3] for s in state()))
    same("ring: senders end", end(flows), [True] * 3)
    wait_until(lambda: not any(s[0] for s in state()) and
               not any(counters("R%d" % i, "host0")["domain_used"] for i in range(3)), "the queues are empty")
    same("ring: counters add up", [sums(counters("R%d" % i, d)) for i in range(3) for d in ("host0", "next0", "prev0")], [True] * 9)
    for sink in deaf:
        sink.sock.close()
    destroy()


def below_mq():
    """A port with four queues."""
    mode = "route"
    cables("veth")
    ip("S", "link del pC")
    ip("C", "link add e0 numtxqueues 4 numrxqueues 4 type veth peer name pC netns %s numtxqueues 4 numrxqueues 4"
       % names["S"])
    ip("S", "link set pC address %s up" % MACS["pC"])
    ip("C", "link set e0 address %s up" % MACS["C"])
    tc("S", "qdisc replace dev pC root handle 1: mq")
    options = SLACK + " rate %s watchdog off prio 5 lossless" % RATE
    for i in range(1, 5):
        tc("S", "qdisc replace dev pC parent 1:%d handle 1%d: cee%s" % (
            i, i, " domain rack%s prio 6 lossless" % options if i == 1 else options if i == 4 else ""))

    def of_each(of):
        return [of(q["options"]) for q in json.loads(tc("S", "-j qdisc show dev pC")) if q["kind"] == "cee"]
    same("below mq: one port, one set of options", of_each(lambda o: (o["prio5"]["pfc"], o["prio6"]["pfc"] == "lossless")),
         [("lossless", False)] * 4)
    same("below mq: another one's options leave the port in its domain", of_each(lambda o: o["domain"]), ["rack"] * 4)
    router_up(mode)
    for host in HOSTS:
        ip(host, "address add %s/24 dev e0" % address(mode, host))
        ip(host, "neighbour replace %s1 lladdr %s nud permanent dev e0" % (prefix(mode, host), MACS["p" + host]))
        ip(host, "route add default via %s1" % prefix(mode, host))
    forger, sink = Forger(), Sink(mode)
    forger.hold(3, at=" parent 1:1")
    flows = [Flow(mode, host, 3, n, 50).start() for n, host in enumerate(("A", "B"))]
    for flow in flows:
        flow.finish()

    def of_all(key):
        return sum(counters("S", "pC parent 1:%d" % i)["prio3"][key] for i in range(1, 5))
    wait_until(lambda: of_all("in") == 100, "all have come")
    # veth reports 10 Gb/s, at which a pause lasts 3 ms: a slow machine sends the next one late.
    held, waited = of_all("packets"), of_all("paused_ns")
    check("below mq: a pause holds all queues", held == 100 or (not VIRTUAL and waited > 0), (held, waited))
    forger.close()
    same("below mq: then all arrive", len(sink.read()), 100)
    # At 1 kbit/s a packet takes 12 s.  An empty queue's qdisc sets the port's rate.
    tc("S", "qdisc change dev pC parent 1:1 handle 11: cee rate 1kbit")
    flows = [Flow(mode, host, 3, n, 8).start() for n, host in enumerate(("A", "B"))]
    for flow in flows:
        flow.finish()
    wait_until(lambda: of_all("in") == 116, "all have come")
    empty = [i for i in range(1, 5) if not counters("S", "pC parent 1:%d" % i)["prio3"]["packets"]]
    check("below mq: packets wait for the rate", 0 < len(empty) < 4, empty)
    tc("S", "qdisc change dev pC parent 1:%d handle 1%d: cee rate %s" % (empty[0], empty[0], RATE))
    begin = time.monotonic()
    wait_until(lambda: not of_all("packets"), "they are sent", 60)
    took = time.monotonic() - begin
    exact("below mq: a new rate holds for all queues at once", took < 5, took)
    sink.sock.close()
    said = refused("S", "qdisc replace dev pA root handle 1: prio") or refused(
        "S", "qdisc replace dev pA parent 1:1 cee")
    check("below others: refused, with a reason", said and "only as the root" in said, said)
    destroy()


# Modules that use sch_cee or one another, users first.  Other tests leave them loaded.
USERS = ["zvnic", "zvtap", "zbridge", "zswitch"]


PARTS = (forwarding, headrooms, stacked, quanta, flood, deaf, watchdog, hardware, weights, ecn, dynamic, change, removal, deadlock, below_mq)
# Number of results
PLAN = (len(WAYS) + 1) * 12 + 3 + 8 + 5 + 3 + 11 + 4 + 5 + 4 + 3 + 6 + 4 + 1 + 18 + 4 + 8


def run_parts(parts, plan, clean, failing=lambda: None):
    """Run the parts that PARTS selects, or all, with as many results as planned; then clean()"""
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    random.seed(seed)
    say("SEED=%d" % seed)
    chosen = [p for p in parts if re.fullmatch(os.environ.get("PARTS", ".*"), p.__name__)]
    if not chosen:
        raise RuntimeError("no part is called " + os.environ["PARTS"])
    if len(chosen) == len(parts):
        print("1..%d" % plan, flush=True)
    try:
        for part in chosen:
            say(part.__name__)
            part()
    except RuntimeError:
        failing()
        raise
    finally:
        clean()
    return chosen


def verdict(parts, chosen, plan):
    """Exit code; prints the plan if only some parts ran, else compares it with the results"""
    if len(chosen) < len(parts):
        print("1..%d" % len(results), flush=True)
    elif len(results) != plan:
        say("planned %d results, gave %d" % (plan, len(results)))
        return 1
    return 0 if all(results) else 1


def main(parts, plan):
    chosen = run_parts(parts, plan, destroy)
    unload_modules("module unloads", [*USERS, "sch_cee"])
    return verdict(parts, chosen, plan)


if __name__ == "__main__":
    sys.exit(main(PARTS, PLAN))
