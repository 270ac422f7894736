#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zswitch and zvnic beside plain forwarding: qdiscs that change, receivers that crawl,
# senders that do not obey, frames that lie.  zbed.py has the network.  Prints TAP.

import json
import os
import random
import socket
import struct
import sys
import time

from sch_cee import SO_SNDBUFFORCE, names, run_parts, verdict
from sch_ndp import SOL_UDP, UDP_SEGMENT, check, inside, run, same, say, wait_until
from zbed import (VIRTUAL, Datagrams, Sink, addr, all_ports, balanced, box, bridge, build, cee, container, destroy, drops,
                  ip, mac, neighbours, port, rate_of, settle, tc)

RATE = "100mbit" if VIRTUAL else "5mbit"
FAST = "1gbit" if VIRTUAL else "10mbit"


class Burst:
    """Datagrams that a socket sends at once, as one GSO packet."""

    def __init__(self, node, to, total, size=1000):
        self.id = random.getrandbits(32)
        sock = inside(names[node], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        sock.setsockopt(SOL_UDP, UDP_SEGMENT, size)
        sock.sendto(b"".join(struct.pack("!II", self.id, i) + bytes(size - 8) for i in range(total)), (to, 7000))
        sock.close()


def replaced():
    """A wire's qdisc is replaced, or its length changed, while frames wait for it to pull."""
    build("virtual-wait 0 limit 131072 share 65536")
    container(0)
    # Between frames nothing but the qdisc's own timer is under way, which goes with it.
    box(1, FAST, here="dscp 0-63:3 rate " + RATE)
    neighbours()
    sink = Sink("R1")
    flows = [Datagrams("C0", addr(1)).start() for _ in range(3)]
    turns = 12
    for i in range(turns):
        wait_until(lambda: port("p1")["backlog"] > 0, "frames wait")
        if i % 2:
            tc("S", "qdisc replace dev p1 root handle %x: cee dscp 0-63:3 rate %s" % (i + 16, RATE))
        else:
            ip("S", "link set p1 txqueuelen %d" % (1000 + i))
        out = port("p1")["out"]
        wait_until(lambda: port("p1")["out"] > out + 20, "it goes on", 5)
    done = [f.finish(now=True) for f in flows]
    settle()
    time.sleep(0.2)
    lost = sum(f.sent for f in flows) - sum(map(sink.of, flows))
    check("replaced: senders end, %d frames are lost, one with a qdisc at most" % lost,
          all(done) and 0 <= lost <= turns, (done, lost))
    same("replaced: the switch lost none", (drops(port("z0")), balanced()), ({}, {}))
    sink.finish()
    destroy()


def crawling():
    """A receiver that takes a frame before it would be given up, each time, has stopped."""
    build("wire-wait 200")
    box(0, FAST)
    container(1, RATE)
    container(2, RATE)
    neighbours()
    sink = Sink("C1")
    flow = Datagrams("R0", addr(1)).start()
    time.sleep(0.2)
    alone = rate_of(sink, flow, 4)
    # A frame each 147 ms
    ip("S", "link set z2 type zvnic rate 80kbit")
    slow = Datagrams("R0", addr(2)).start()
    begin = sink.of(flow)
    wait_until(lambda: port("p0")["drop_still"] > 0, "frames are given up")
    time.sleep(1)
    beside = rate_of(sink, flow, 4)
    check("crawling: the wire goes on, with %.3f of the rate" % (beside / alone),
          beside >= 0.8 * alone if VIRTUAL else sink.of(flow) > begin, (alone, beside))
    for f in (flow, slow):
        f.finish(now=True)
    settle()
    same("crawling: counted, and nothing else is lost", (set(drops(port("p0"))), balanced()), ({"drop_still"}, {}))
    same("crawling: nothing stays charged", cee("S", "p0")["shared"], 0)
    sink.finish()
    destroy()


def recovered():
    """A receiver that was given up and takes again, loses nothing any more."""
    build("virtual-wait 200")
    container(0)
    container(1, "1kbit")
    neighbours()
    run("ip netns exec %s ethtool -K eth0 tx-udp-segmentation off" % names["C0"])
    Datagrams("C0", addr(1), total=50).start().finish()
    wait_until(lambda: port("z1")["backlog"] == 0, "frames are given up")
    lost = port("z0")["drop_still"]
    check("recovered: %d of 50 are given up" % lost, lost >= 48, lost)
    ip("S", "link set z1 type zvnic rate " + FAST)
    sink = Sink("C1")
    burst = Burst("C0", addr(1), 20)
    settle()
    wait_until(lambda: sink.of(burst) == 20 or port("z0")["drop_still"] > lost, "they arrive")
    same("recovered: what comes at once then arrives", (sink.of(burst), port("z0")["drop_still"] - lost, balanced()),
         (20, 0, {}))
    sink.finish()
    destroy()


def carrier(node, dev="eth0"):
    wait_until(lambda: json.loads(ip(node, "-j link show " + dev))[0]["operstate"] == "UP", "carrier of " + node)


def packet_socket(node, dev="eth0", proto=0):
    sock = inside(names[node], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    sock.bind((dev, proto))
    return sock


def overrun():
    """A guest that starts its queues again, each time it was told to wait."""
    build("limit 65536 share 65536 virtual-wait 0")
    container(0)
    container(1, "1kbit")
    neighbours()
    for node, devs in (("S", ("z0", "z1")), ("C0", ("eth0",))):
        for dev in devs:
            ip(node, "link set %s mtu 65000" % dev)
    # By their addresses they use all of its queues.
    dests = [mac(100 + i) for i in range(24)]
    for dest in dests:
        bridge("fdb add %s dev zs0 via z1 static" % dest)
    sock = packet_socket("C0")
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 28)
    for _ in range(20):
        ip("C0", "link set eth0 down")
        ip("C0", "link set eth0 up")
        carrier("C0")
        for dest in dests:
            sock.send(bytes.fromhex((dest + mac(0)).replace(":", "")) + b"\x88\xb5" + bytes(64000))
    p = port("z0")
    most = 2 * 65536 + 32 * 65536
    check("overrun: %d bytes wait, no more than %d; %d frames are refused" % (p["waiting"], most, p["drop_overrun"]),
          p["waiting"] <= most and p["drop_overrun"] > 0, p)
    sock.close()
    ip("S", "link set z1 type zvnic rate 10gbit")
    settle()
    same("overrun: counted, and nothing else is lost", (set(drops(port("z0"))), balanced()), ({"drop_overrun"}, {}))
    destroy()


def routed():
    """What no socket pays for counts with the memory that it takes."""
    build("limit 200000 share 200000 virtual-wait 0")
    container(0)
    container(1, "1kbit")
    neighbours()
    other = "X-%d" % os.getpid()
    run("ip netns add " + other)
    names["x"] = other
    try:
        ip("C0", "link add in0 type netwire rate 1gbit peer name e0 netns " + other)
        for node, dev, address in (("C0", "in0", "10.9.0.1/24"), ("x", "e0", "10.9.0.2/24")):
            ip(node, "link set %s up" % dev)
            ip(node, "address add %s dev %s" % (address, dev))
        for node, dev in (("C0", "in0"), ("x", "e0")):
            carrier(node, dev)
        ip("x", "route add default via 10.9.0.1")

        def forward():
            with open("/proc/sys/net/ipv4/ip_forward", "w") as f:
                f.write("1")
        inside(names["C0"], forward)
        sock = inside(other, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for i in range(600):
            sock.sendto(bytes(18), (addr(1), 7000))
            time.sleep(0.0001)
        sock.close()
    finally:
        del names["x"]
    wait_until(lambda: port("z0")["in"] > 50, "they come")
    time.sleep(0.2)
    p = port("z0")
    waiting = p["in"] - p["passed"]
    each = p["waiting"] // waiting
    check("routed: %d frames of 60 bytes wait, counted with %d each" % (waiting, each), each > 256, p)
    check("routed: and stop the queue that sends them", p["slept"] and p["waiting"] <= 200000 + 4096, p)
    run("ip netns del " + other)
    ip("S", "link set z1 type zvnic rate 10gbit")
    settle()
    same("routed: nothing is lost", (drops(port("z0")), balanced()), ({}, {}))
    destroy()


def copies():
    """A broadcast that came in by a wire is charged to it once, not by the number of outputs."""
    build()
    box(0, FAST)
    ports = range(1, 41)
    for i in ports:
        container(i, RATE)
    neighbours()
    sinks = [Sink("C%d" % i) for i in (1, 40)]
    flow = Datagrams("R0", "10.0.0.255", total=200).start()
    done = flow.finish()
    for sink in sinks:
        wait_until(lambda: sink.of(flow) == 200 or drops(port("p0")), "all copies arrive")
    settle()
    p = port("p0")
    same("copies: none is lost", (done, drops(p), [s.whole(flow) for s in sinks], balanced()), (True, {}, [True] * 2, {}))
    same("copies: nothing stays charged", [cee("S", "p0")[k] for k in ("shared", "headroom", "overflow")], [0] * 3)
    for sink in sinks:
        sink.finish()
    destroy()


PARTS = (replaced, crawling, recovered, overrun, routed, copies)
# Results there will be
PLAN = 2 + 3 + 2 + 2 + 3 + 2


def what_ports_say():
    for dev, p in all_ports().items():
        say("%s: %s" % (dev, {k: v for k, v in p.items() if v}))


def main():
    chosen = run_parts(PARTS, PLAN, destroy, what_ports_say)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
