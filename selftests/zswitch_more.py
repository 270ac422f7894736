#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zswitch and zvnic beside plain forwarding: qdiscs that change, receivers that crawl,
# senders that do not obey, frames that lie.  zbed.py has the network.  Prints TAP.

import random
import socket
import struct
import sys
import time

from sch_cee import names, run_parts, verdict
from sch_ndp import SOL_UDP, UDP_SEGMENT, check, inside, run, same, say, wait_until
from zbed import (VIRTUAL, Datagrams, Sink, addr, all_ports, balanced, box, build, cee, container, destroy, drops, ip,
                  neighbours, port, rate_of, settle, tc)

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
    box(1, RATE)
    neighbours()
    sink = Sink("R1")
    flows = [Datagrams("C0", addr(1), total=400).start() for _ in range(3)]
    turns = 12
    for i in range(turns):
        wait_until(lambda: port("p1")["backlog"] > 0, "frames wait")
        if i % 2:
            tc("S", "qdisc replace dev p1 root handle %x: cee dscp 0-63:3" % (i + 16))
        else:
            ip("S", "link set p1 txqueuelen %d" % (1000 + i))
    done = [f.finish() for f in flows]
    settle()
    time.sleep(0.2)
    got = sum(map(sink.of, flows))
    check("replaced: senders end, %d of 1200 arrive, a frame is lost with a qdisc at most" % got,
          all(done) and 1200 - turns <= got <= 1200, (done, got))
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


PARTS = (replaced, crawling, recovered)
# Results there will be
PLAN = 2 + 3 + 2


def what_ports_say():
    for dev, p in all_ports().items():
        say("%s: %s" % (dev, {k: v for k, v in p.items() if v}))


def main():
    chosen = run_parts(PARTS, PLAN, destroy, what_ports_say)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
