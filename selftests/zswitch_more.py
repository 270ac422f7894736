#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zswitch and zvnic beside plain forwarding: qdiscs that change, receivers that crawl,
# senders that do not obey, frames that lie.  zbed.py has the network.  Prints TAP.

import sys
import time

from sch_cee import run_parts, verdict
from sch_ndp import check, same, say, wait_until
from zbed import (VIRTUAL, Datagrams, Sink, addr, all_ports, balanced, box, build, cee, container, destroy, drops, ip,
                  neighbours, port, settle, tc)

RATE = "100mbit" if VIRTUAL else "5mbit"


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


PARTS = (replaced,)
# Results there will be
PLAN = 2


def what_ports_say():
    for dev, p in all_ports().items():
        say("%s: %s" % (dev, {k: v for k, v in p.items() if v}))


def main():
    chosen = run_parts(PARTS, PLAN, destroy, what_ports_say)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
