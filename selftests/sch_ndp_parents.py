#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# sch_ndp as the child of other qdiscs: every packet leaves once, as compared to
# the byte, and the parents' queue lengths and backlogs equal the child's, while
# packets wait and when none is left.  Prints TAP.  The network is sch_ndp.py's.
#
#	r1: gate 1: -- parent 2: -- ndp 10:
#
# The gate (modules/sch_gate.c) keeps packets back until a test opens it.  mq and
# taprio must be at the root; below them a rate of 1 kbit/s does the same.

import os
import random
import re
import socket
import struct
import subprocess
import sys

import sch_ndp
from sch_ndp import (ADDR_D, DATA, HELD, HOLDING, PORT, R, SOL_UDP, UDP_SEGMENT, Packet, check, compare, identities,
                     inside, other_frame, qdisc, release, same, say, tc)

ADDR_R = "10.0.1.1"
ALL_IN_BAND_0 = " 0" * 16
# For each parent: its own options, further commands, and the class that ndp is put in.
GATED = {
    "prio": ("bands 2 priomap" + ALL_IN_BAND_0, [], "2:1"),
    "tbf": ("rate 1gbit burst 100k limit 1000000", [], "2:1"),
    "red": ("limit 1000000 min 300000 max 900000 avpkt 1000 burst 500", [], "2:1"),
    "sfb": ("limit 1000 max 500 target 400", [], "2:1"),
    "htb": ("default 1", ["class add dev r1 parent 2: classid 2:1 htb rate 1gbit"], "2:1"),
    "hfsc": ("default 1", ["class add dev r1 parent 2: classid 2:1 hfsc sc rate 1gbit"], "2:1"),
    "drr": ("", ["class add dev r1 parent 2: classid 2:1 drr quantum 2000",
                 "filter add dev r1 parent 2: matchall flowid 2:1"], "2:1"),
    "ets": ("bands 2 quanta 2000 2000 priomap" + ALL_IN_BAND_0, [], "2:1"),
}
AT_ROOT = {
    "mq": "",
    "taprio": "num_tc 1 map%s queues 1@0 base-time 0 sched-entry S 01 10000000 clockid CLOCK_TAI" % ALL_IN_BAND_0,
}
SMALL = "limit 4 hdr_limit 512"


def gate(is_open):
    with open("/sys/module/sch_gate/parameters/open", "w") as f:
        f.write("%d" % is_open)


def clear_port():
    subprocess.run(["tc", "-n", R, "qdisc", "del", "dev", "r1", "root"], stderr=subprocess.DEVNULL)


def statistics(kind):
    """A qdisc's overlimits, backlog and qlen; tc's JSON of some kinds is broken elsewhere."""
    found = re.search('"kind":"%s".*?"overlimits":([0-9]+).*?"backlog":([0-9]+),"qlen":([0-9]+)' % kind,
                      tc("-s -j qdisc show dev r1"), re.S)
    return tuple(map(int, found.groups()))


def lengths(kind):
    return statistics(kind)[:0:-1]


def psn_of(frame):
    return struct.unpack("!I", frame[58:62])[0]


class Load:
    """Packets from S, a GSO packet of eight segments from R, and what becomes of each."""

    def __init__(self, test, gso, first=1400):
        self.test = test
        self.forwarded = {n: Packet(n, size=1400 if n else first) for n in range(30)}
        self.local = {n: Packet(n, size=964) for n in range(100, 108)} if gso else {}
        self.others = 3

    def payload(self, psn):
        """Bytes of a local packet behind the UDP header."""
        return self.local[psn].ip()[28:]

    def send(self):
        if self.local:
            src = inside(R, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            src.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DATA << 2)
            src.setsockopt(SOL_UDP, UDP_SEGMENT, 1000)
            src.sendto(b"".join(map(self.payload, self.local)), (ADDR_D, PORT))
            src.close()
        self.test.send(p.offered() for p in self.forwarded.values())
        self.test.send(other_frame(n) for n in range(self.others))

    def kick(self):
        """The gate notices with the next packet that it is open."""
        self.others += 1
        self.test.send([other_frame(99)])

    def verify(self, name, sent):
        """Each packet once: whole or trimmed at D, among @sent frames in all, or returned to R."""
        at_d = self.test.at_d.read(count=sent)
        same("%s: as many packets as waited" % name, len(at_d), sent)
        back = [psn_of(f) for f in self.test.at_r.read(quiet=0)]
        frames = [f for f in at_d if f[23] == 17]
        mine = [f for f in frames if psn_of(f) in self.forwarded]
        compare("%s: forwarded packets, to the byte" % name, mine,
                [self.forwarded[psn_of(f)].trimmed() if len(f) < 200 else self.forwarded[psn_of(f)].whole()
                 for f in mine])
        wrong = [psn_of(f) for f in frames if psn_of(f) in self.local and
                 f[42:] != self.payload(psn_of(f))[:36 if len(f) < 200 else None]]
        same("%s: segments of a GSO packet" % name, wrong, [])
        same("%s: each packet once" % name, sorted([psn_of(f) for f in frames] + back),
             sorted([*self.forwarded, *self.local]))
        same("%s: other traffic" % name, len(at_d) - len(frames), self.others)


def tried(command):
    """Run tc, which may refuse"""
    return subprocess.run(["tc", "-n", R, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Parents(sch_ndp.Test):
    def __init__(self):
        super().__init__()
        self.deaf.append(inside(R, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
        self.deaf[-1].bind((ADDR_R, PORT))

    def while_held(self, name, chain):
        """Compare the queue lengths of child and parents.  Return: the child's counters."""
        x = qdisc()
        for kind in chain:
            same("%s: %s counts what its child does" % (name, kind), lengths(kind), (x["qlen"], x["backlog"]))
        # A packet that a parent has peeked is in none of the child's queues.
        peeked = x["qlen"] - x["data_len"] - x["header_len"] - x["other_len"]
        check("%s: sums while queued" % name, peeked in (0, 1) and identities(dict(x, qlen=x["qlen"] - peeked)), x)
        return x

    def when_drained(self, name, chain):
        x = qdisc()
        for kind in [*chain, "ndp"]:
            same("%s: %s is empty when drained" % (name, kind), lengths(kind), (0, 0))
        check("%s: sums when drained" % name, identities(x), x)

    def through(self, name, chain, leaf, options, trims):
        """Fill the child in the class, open the gate, and check all packets that leave."""
        gate(False)
        tc("qdisc add dev r1 parent %s handle 10: ndp %s" % (leaf, options))
        self.clear()
        load = Load(self, gso=True)
        load.send()
        x = self.while_held(name, chain)
        if trims:
            check("%s: trimmed, returned and segmented" % name, x["data_len"] == 4 and x["header_len"] == 6 and
                  x["bounced"] >= 20 and x["gso_segmented"] == 1, x)
        gate(True)
        load.kick()
        load.verify(name, x["qlen"] + 1)
        self.when_drained(name, chain)

    def gated(self, kind):
        options, more, leaf = GATED[kind]
        clear_port()
        tc("qdisc add dev r1 root handle 1: gate")
        tc("qdisc add dev r1 parent 1:1 handle 2: %s %s" % (kind, options))
        for line in more:
            tc(line)
        self.through(kind, ["gate", kind], leaf, SMALL, True)

    def order(self, kind):
        """A parent that peeks, and then dequeues by qdisc_dequeue_peeked() or by ->dequeue()."""
        for options in SMALL, "mode host":
            name = "%s, %s" % (kind, options)
            clear_port()
            tc("qdisc add dev r1 root handle 1: " + kind)
            self.through(name, [kind], "1:1", options, options == SMALL)
            same("%s: what it saw is what it took" % name, statistics(kind)[0], 0)
            gate(False)
            self.send(other_frame(n) for n in range(5))
            check("%s: packets wait for its end" % name, qdisc()["qlen"] == 5)
            sch_ndp.run("ip -n %s link set r1 down" % R)
            self.when_drained(name + ", device down", [kind])
            self.up()
        # RED passes a peek on as a peek, and a dequeue as a dequeue.
        clear_port()
        tc("qdisc add dev r1 root handle 1: " + kind)
        tc("qdisc add dev r1 parent 1:1 handle 2: red " + GATED["red"][0])
        self.through("%s over red" % kind, [kind, "red"], "2:1", SMALL, True)

    def up(self):
        sch_ndp.run("ip -n %s link set r1 up" % R)
        sch_ndp.run("ip -n %s neighbour replace %s lladdr %s nud permanent dev r1" % (R, ADDR_D, sch_ndp.MAC["d0"]))
        sch_ndp.wait_for_carrier(R, "r1")
        # The old socket remembers that the device was down.
        self.at_r = sch_ndp.Capture(R, "r1")

    @sch_ndp.held_for_minutes()
    def at_root(self, kind, options, trims):
        name = "%s, %s" % (kind, options)
        # Taprio counts each packet that it gives to a child, of whatever kind, also one
        # that the child drops or returns, and cannot be notified of that.
        chain = [] if kind == "taprio" and trims else [kind]
        clear_port()
        tc("qdisc add dev r1 root handle 1: %s %s" % (kind, AT_ROOT[kind]))
        p = tried("qdisc add dev r1 parent 1:1 handle 10: ndp %s rate %s" % (options, HELD))
        if "NLM_F_REPLACE needed" in p.stdout:
            # Taprio of 6.1 shows tc the queues' own qdiscs, not its children.
            sch_ndp.skip(name, "tc cannot reach a child of this kernel's " + kind)
            return
        check("%s: takes a child" % name, not p.returncode, p.stdout)
        self.clear()
        load = Load(self, gso=False, first=HOLDING)
        load.send()
        x = self.while_held(name, chain)
        if trims:
            check("%s: trimmed and returned" % name, x["data_len"] == 4 and x["header_len"] == 6 and x["bounced"] >= 10, x)
        release("parent 1:1")
        # The first packet has left before.
        load.verify(name, x["qlen"] + 1)
        self.when_drained(name, chain)

    def childless(self, kind):
        clear_port()
        tc("qdisc add dev r1 root handle 1: " + kind)
        p = tried("qdisc add dev r1 parent 1:1 handle 10: ndp")
        say("%s: %s" % (kind, p.stdout.strip()))
        check("%s takes no child, and says so" % kind, p.returncode and p.stdout and "ndp" not in tc("qdisc show dev r1"))


def there(kind):
    """Does this kernel have such a qdisc?"""
    if kind == "mq" or not subprocess.run(["modprobe", "-q", "sch_" + kind]).returncode:
        return True
    sch_ndp.skip(kind, "this kernel has none")
    return False


def test_all():
    t = Parents()
    for kind in "gate_peeked", "gate_dequeue":
        t.order(kind)
    for kind in GATED:
        if there(kind):
            t.gated(kind)
    for kind in AT_ROOT:
        if there(kind):
            t.at_root(kind, SMALL, True)
            t.at_root(kind, "limit 100", False)
    if there("cake"):
        t.childless("cake")
    clear_port()


def main():
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    random.seed(seed)
    say("SEED=%d" % seed)
    try:
        sch_ndp.build_network(queues=2)
        test_all()
    finally:
        sch_ndp.destroy_network()
    print("1..%d" % len(sch_ndp.results))
    return 0 if sch_ndp.results and all(sch_ndp.results) else 1


if __name__ == "__main__":
    sys.exit(main())
