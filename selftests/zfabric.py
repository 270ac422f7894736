#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zFabric: credit between the ports of a zswitch, and who may send to whom.  Prints TAP.
# zbed.py has the network.
#
# Where time is virtual the rates are exact; elsewhere what depends on the machine's speed is
# not checked.

import errno
import socket
import sys
import time

from sch_cee import run_parts, sysctl, verdict
from sch_ndp import check, exact, inside, run, same, say, wait_until
from zbed import (VIRTUAL, Datagrams, Sink, Stream, addr, all_ports, balanced, box, build, cee, container, destroy, drops,
                  ip, mac, names, neighbours, port, qdisc_drops, rate_of, rates_of, refused, settle, switch)
from zvtap import TAKEN, end, plug, vm

RATE = "100mbit" if VIRTUAL else "5mbit"
FAST = "1gbit" if VIRTUAL else "10mbit"
RXQ = 64
CREDIT = 2048


def counts(p):
    return [p["credit_" + k] for k in ("asked", "granted", "withdrawn", "used", "returned")]


def home():
    """Ports whose credit has not all been returned, or does not add up."""
    wrong = {}
    for dev, p in dict(all_ports(), zs0=switch()).items():
        asked, granted, withdrawn, used, returned = counts(p)
        if asked != granted + withdrawn or granted != used or used != returned or p.get("credit") or p.get("held"):
            wrong[dev] = (counts(p), p.get("credit"), p.get("held"))
    return wrong


def rest(what, senders):
    """Nothing was lost anywhere, no sender sleeps, and all credit has been returned."""
    settle()
    lost = {dev: drops(p) for dev, p in dict(all_ports(), zs0=switch()).items() if drops(p)}
    queues = sum(qdisc_drops(n, "eth0" if n[0] == "C" else "e0") for n in senders)
    same(what + ": nothing is lost at any hop, all credit is home", (lost, balanced(), queues, home()), ({}, {}, 0, {}))


def flows_arrive(what, sinks, flows, senders):
    """@sinks: the sink of each flow."""
    done = [f.finish(now=True) for f in flows]
    wait_until(lambda: all(s.of(f) == f.sent for s, f in zip(sinks, flows)), "all arrive", 60)
    same(what + ": all arrive whole and in order",
         (done, [s.whole(f) for s, f in zip(sinks, flows)], sum(s.disorder for s in set(sinks))),
         ([True] * len(flows), [True] * len(flows), 0))
    rest(what, senders)


def victim():
    """A culprit floods a stalled receiver; a victim sends from the same port."""
    build("fabric on rxq %d" % RXQ)
    container(0)
    container(1, RATE)
    container(2, RATE)
    neighbours()
    sink, late = Sink("C1"), Sink("C2")
    flow = Datagrams("C0", addr(1)).start()
    time.sleep(0.2)
    alone = rate_of(sink, flow, 2)
    ip("S", "link set z2 type zvnic rate 1kbit")
    stuck = [Datagrams("C0", addr(2)).start() for _ in range(8)]
    wait_until(lambda: port("z2")["credit"] == RXQ and port("z0")["slept"] > 0, "the culprit waits for credit")
    beside = rate_of(sink, flow, 2)
    if VIRTUAL:
        check("victim: %.3f of its rate beside one that stands still" % (beside / alone), beside >= 0.98 * alone,
              (alone, beside))
    else:
        check("victim: goes on", beside > 0, (alone, beside))
    p = port("z2")
    check("victim: %d bytes are let in by %d credits, %d wait for more" % (p["backlog"], p["credit"], p["held"]),
          0 < p["backlog"] <= RXQ * CREDIT and p["credit"] == RXQ and 0 < p["held"] <= (256 << 10) + 1514, p)
    ip("S", "link set z2 type zvnic rate " + FAST)
    flows_arrive("victim", [late] * 8 + [sink], stuck + [flow], ("C0",))
    for s in (sink, late):
        s.finish()
    destroy()


def machine():
    """The same with a virtual machine whose descriptor is not read."""
    build("fabric on rxq %d" % RXQ)
    container(0)
    container(1, RATE)
    neighbours()
    vm(10)
    tap = plug(10)
    ip("C0", "neighbour replace %s lladdr %s nud permanent dev eth0" % (addr(10), mac(10)))
    sink = Sink("C1")
    flow = Datagrams("C0", addr(1)).start()
    time.sleep(0.2)
    alone = rate_of(sink, flow, 1)
    # Few enough not to stop the transmit queue, which the victim may share by chance of its address
    stuck = [Datagrams("C0", addr(10), total=75).start() for _ in range(8)]
    wait_until(lambda: port("v10")["credit"] == RXQ and port("v10")["held"], "the culprit waits for credit")
    beside = rate_of(sink, flow, 1)
    if VIRTUAL:
        check("machine: the victim has %.3f of its rate" % (beside / alone), beside >= 0.98 * alone, (alone, beside))
    else:
        check("machine: the victim goes on", beside > 0, (alone, beside))
    p = port("v10")
    check("machine: %d frames in its ring, %d bytes let in by %d credits" % (p["out"], p["backlog"], p["credit"]),
          0 < p["out"] <= TAKEN and 0 < p["backlog"] <= RXQ * CREDIT and p["credit"] == RXQ, p)
    got = []

    def read():
        got.extend(f for _, f in tap.read_all() if f[6:12] == bytes.fromhex(mac(0).replace(":", "")))
        return len(got) >= 600
    wait_until(read, "it gets all when it reads", 30)
    done = [f.finish() for f in stuck] + [flow.finish(now=True)]
    settle()
    p = port("v10")
    same("machine: nothing is lost, all credit is home",
         (len(got), done, drops(port("z0")), p["credit"], p["held"], p["credit_used"] - p["credit_returned"]),
         (600, [True] * 9, {}, 0, 0, 0))
    sink.finish()
    end()


def stalled():
    """One of eight is stalled and all others send to it: they send to each other as before."""
    build("fabric on rxq %d" % RXQ)
    for i in range(8):
        container(i, RATE)
    neighbours()
    sinks = [Sink("C%d" % i) for i in range(8)]
    ring = [(i + 1) % 7 for i in range(7)]
    flows = [Datagrams("C%d" % i, addr(ring[i])).start() for i in range(7)]
    time.sleep(0.3)
    to = [sinks[ring[i]] for i in range(7)]
    alone = rates_of(to, flows, 0.8)
    ip("S", "link set z7 type zvnic rate 1kbit")
    stuck = [Datagrams("C%d" % i, addr(7), total=150).start() for i in range(7)]
    wait_until(lambda: port("z7")["credit"] == RXQ, "its credit is out")
    time.sleep(0.2)
    beside = rates_of(to, flows, 0.8)
    if VIRTUAL:
        least = min(b / a for a, b in zip(alone, beside))
        check("stalled: the others keep %.3f of their rates" % least, least >= 0.97, (alone, beside))
    else:
        check("stalled: the others go on", all(beside), beside)
    p = port("z7")
    check("stalled: %d bytes of seven senders are let in, within the bound" % p["backlog"],
          0 < p["backlog"] <= RXQ * CREDIT and p["credit"] <= RXQ, p)
    ip("S", "link set z7 type zvnic rate " + FAST)
    flows_arrive("stalled", [sinks[7]] * 7 + to, stuck + flows, ["C%d" % i for i in range(7)])
    for s in sinks:
        s.finish()
    destroy()


def weights():
    """Credit is shared by weight among senders that always ask: where time is virtual they do."""
    build("fabric on rxq %d" % RXQ)
    container(0, options="weight 3")
    container(1)
    container(2, options="weight 2")
    container(3, RATE)
    neighbours()
    sink = Sink("C3")
    flows = [Datagrams("C%d" % i, addr(3)).start() for i in range(3)]
    wait_until(lambda: port("z3")["held"] > 60000 and sum(map(sink.of, flows)) > 500, "all of them wait for credit")
    begin = [sink.of(f) for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) >= sum(begin) + 3000, "some have arrived")
    shares = [sink.of(f) - b for f, b in zip(flows, begin)]
    exact("weights: 3 to 1 to 2 is %.3f to 1 to %.3f" % (shares[0] / shares[1], shares[2] / shares[1]),
          2.9 < shares[0] / shares[1] < 3.1 and 1.93 < shares[2] / shares[1] < 2.07, shares)
    flows_arrive("weights", [sink] * 3, flows, ("C0", "C1", "C2"))
    sink.finish()
    destroy()


def switched():
    """Credit is turned on and off, and its amount changed, while frames are in flight."""
    build()
    for i in range(3):
        container(i)
    container(3, RATE)
    neighbours()
    sink = Sink("C3")
    flows = [Datagrams("C%d" % i, addr(3)).start() for i in range(3)]
    for options in ("fabric on rxq 64", "rxq 4096", "rxq 64", "fabric off", "rxq 100 fabric on", "fabric off") * 4:
        ip("S", "link set zs0 type zswitch " + options)
        at = sum(map(sink.of, flows))
        wait_until(lambda: sum(map(sink.of, flows)) > at + 60, "it goes on")
    flows_arrive("switched", [sink] * 3, flows, ("C0", "C1", "C2"))
    p = port("z3")
    check("switched: some went by credit, some waited, some were let in without",
          0 < p["credit_used"] < p["out"] and p["credit_waited"] and p["credit_withdrawn"], p)
    sink.finish()
    destroy()


def gone():
    """A sender whose frames wait for credit is deleted; then the receiver is."""
    build("fabric on rxq %d" % RXQ)
    for i in range(4):
        container(i)
    container(4, "1kbit")
    neighbours()
    # The port is removed, not the namespace: frames of a deleted namespace would not be held.
    stuck = [Datagrams("C%d" % i, addr(4), total=200).start() for i in range(3)]
    wait_until(lambda: all(port("z%d" % i)["waiting"] for i in range(3)) and port("z4")["held"] > 50000, "all wait")
    ip("S", "link set z0 nomaster")
    wait_until(lambda: port("z4")["credit"] == RXQ, "the others have got its credit")
    p = port("z4")
    same("gone: nothing of it waits, and all that waits is somebody's",
         (port("z1")["waiting"] and sum(port("z%d" % i)["waiting"] for i in (1, 2))), p["held"] + p["backlog"])
    late = Datagrams("C3", addr(4), total=200).start()
    wait_until(lambda: port("z3")["waiting"], "another one waits")
    ip("S", "link set z4 nomaster")
    wait_until(lambda: not any(port("z%d" % i)["waiting"] for i in (1, 2, 3)), "their frames are given back")
    # z0 is no port any more, so it has no counters.
    ports = {"z%d" % i: port("z%d" % i) for i in (1, 2, 3)}
    wrong = {d: p for d, p in ports.items() if set(drops(p)) != {"drop_down"} or p["credit"] or
             p["in"] + p["copies"] != p["passed"] + sum(drops(p).values())}
    same("gone: counted, every frame", wrong, {})
    for f in (*stuck, late):
        f.finish(now=True)
    destroy()


def given_up():
    """Frames that wait for a stalled receiver for too long are given up, with or without credit."""
    build("fabric on rxq %d virtual-wait 300" % RXQ)
    container(0)
    container(1, "1kbit")
    neighbours()
    flows = [Datagrams("C0", addr(1), total=100).start() for _ in range(3)]
    done = [f.finish() for f in flows]
    settle()
    p = port("z0")
    check("given up: %d frames" % p["drop_still"], all(done) and p["drop_still"] >= 298, p)
    same("given up: counted, and all credit is home", (set(drops(p)), balanced(), home()), ({"drop_still"}, {}, {}))
    ip("S", "link set z1 type zvnic rate " + FAST)
    sink = Sink("C1")
    again = Datagrams("C0", addr(1), total=300, pace=0.002).start()
    again.finish()
    settle()
    wait_until(lambda: sink.of(again) > 200, "it takes frames again")
    same("given up: and home again", (balanced(), home()), ({}, {}))
    sink.finish()
    destroy()


def segments():
    """GSO segments of 64 KB take credit for as many bytes."""
    build("fabric on rxq %d" % RXQ)
    for i in range(2):
        container(i)
    container(2, RATE)
    neighbours()
    streams = [Stream("C%d" % (i % 2), "C2", addr(2), i, 1 << 20) for i in range(4)]
    most = max(port("z2")["credit"] for _ in range(20))
    same("segments: all bytes of TCP arrive", [s.finish() for s in streams], [True] * 4)
    again = [s.retransmitted for s in streams]
    exact("segments: nothing was sent again", again == [0] * 4, again)
    p = port("z2")
    check("segments: %d credits for %d frames of %d bytes, %d at once" % (p["credit_used"], p["out"], p["out_bytes"], most),
          p["out_bytes"] / CREDIT <= p["credit_used"] < p["out_bytes"] / CREDIT + p["out"] and most <= RXQ, p)
    rest("segments", ("C0", "C1", "C2"))
    destroy()


def mixed():
    """Broadcast and wires, which need no credit, and the host beside them: nothing is lost."""
    build("fabric on rxq %d flood-wait 0" % RXQ)
    container(0)
    container(1, RATE)
    box(2, FAST)
    neighbours()
    ip("S", "address add 10.0.0.100/24 dev zs0")
    sinks = [Sink("C1"), Sink("R2"), Sink("S")]
    zs0 = ip("S", "-o link show zs0").split("link/ether ")[1].split()[0]
    ip("C0", "neighbour replace 10.0.0.100 lladdr %s nud permanent dev eth0" % zs0)
    flows = [Datagrams("C0", to, total=300) for to in (addr(1), addr(2), "10.0.0.100", "10.0.0.255")]
    flows.append(Datagrams("R2", addr(1), total=300))
    done = [f.start() for f in flows] and [f.finish() for f in flows]
    settle()
    wait_until(lambda: sinks[0].of(flows[4]) == 300, "all arrive")
    got = [sinks[0].whole(flows[0]), sinks[1].whole(flows[1]), sinks[2].whole(flows[2]),
           *(s.whole(flows[3]) for s in sinks), sinks[0].whole(flows[4])]
    same("mixed: all arrive whole", (done, got), ([True] * 5, [True] * 7))
    used = [p["credit_used"] for p in (port("z1"), port("p2"), switch())]
    same("mixed: credit for what goes from a port of this machine to another", used, [300, 0, 300])
    same("mixed: a wire stays charged with nothing", cee("S", "p2")["shared"], 0)
    rest("mixed", ("C0",))
    for s in sinks:
        s.finish()
    destroy()


def told(i, family, to, kind=socket.SOCK_DGRAM):
    """The error that C<i>'s socket gets for what it sends"""
    s = inside(names["C%d" % i], lambda: socket.socket(family, kind))
    s.settimeout(5)
    try:
        s.connect((to, 7000))
        s.send(b"x" * 1400)
        s.recv(10)
    except OSError as e:
        return type(e).__name__ if e.errno is None else errno.errorcode[e.errno]
    finally:
        s.close()
    return None


def refused_by_icmp(send):
    """Nobody may send to C1; with "refuse icmp" senders get errors, at a limited rate."""
    for i in (1, 2):
        node = "C%d" % i
        sysctl(node, "ipv6/conf/eth0/disable_ipv6", 0)
        ip(node, "-6 address add fd00::%d/64 dev eth0 nodad" % i)
        ip(node, "-6 neighbour replace fd00::%d lladdr %s nud permanent dev eth0" % (3 - i, mac(3 - i)))
    same("policy: silent by default", told(2, socket.AF_INET, addr(1)), "TimeoutError")
    ip("S", "link set zs0 type zswitch refuse icmp")
    same("policy: datagrams, a connection, IPv6 are refused with a word",
         [told(2, socket.AF_INET, addr(1)), told(2, socket.AF_INET, addr(1), socket.SOCK_STREAM), told(2, socket.AF_INET6, "fd00::1")],
         ["EHOSTUNREACH", "EHOSTUNREACH", "EACCES"])
    before = port("z1")["copies"]
    for _ in range(8):
        send(2, addr(1))
    answers = port("z1")["copies"] - before
    exact("policy: 160 datagrams at once are told %d times" % answers, answers <= 100, answers)
    ip("S", "link set zs0 type zswitch refuse silent")
    same("policy: silent again", told(2, socket.AF_INET, addr(1)), "TimeoutError")


def policy():
    """Who may send to whom."""
    build("fabric on")
    for i in range(4):
        container(i)
    neighbours()
    sinks = [Sink("C%d" % i) for i in range(4)]

    def send(i, to):
        """Return: how many of 20 are refused"""
        before = port("z%d" % i)["drop_policy"]
        Datagrams("C%d" % i, to, total=20).start().finish()
        settle()
        return port("z%d" % i)["drop_policy"] - before

    same("policy: all may by default", (port("z1")["allow"], [send(i, addr(1)) for i in (0, 2, 3)]), ("all", [0] * 3))
    ip("S", "link set z1 type zswitch_slave allow z0,z3")
    same("policy: those of the list may", (port("z1")["allow"], [send(i, addr(1)) for i in (0, 2, 3)]), ("z0,z3", [0, 20, 0]))
    same("policy: it is about that receiver", [send(2, addr(i)) for i in (0, 3)], [0, 0])
    flood = Datagrams("C2", "10.0.0.255", total=20).start()
    flood.finish()
    settle()
    wait_until(lambda: sinks[0].of(flood) == sinks[3].of(flood) == 20, "a broadcast arrives")
    same("policy: a broadcast does not get there", sinks[1].of(flood), 0)
    ip("S", "link set z1 type zswitch_slave allow none")
    same("policy: nobody may", (port("z1")["allow"], [send(i, addr(1)) for i in (0, 2, 3)]), ("none", [20] * 3))
    refused_by_icmp(send)
    ip("S", "link set z1 type zswitch_slave allow zs0,z0")
    sinks.pop(0).finish()
    run("ip netns del " + names.pop("C0"))
    wait_until(lambda: "z0" not in ip("S", "-o link show"), "its port goes with it", 10)
    same("policy: who leaves is on no list any more", port("z1")["allow"], "zs0")
    container(4)
    neighbours()
    same("policy: nor is who comes next", send(4, addr(1)), 20)
    ip("S", "link set z1 type zswitch_slave allow all")
    same("policy: all may again", (port("z1")["allow"], send(4, addr(1))), ("all", 0))
    same("policy: counted, nothing else is lost, all credit is home",
         ({k for i in (1, 2, 3, 4) for k in drops(port("z%d" % i))}, home()), ({"drop_policy"}, {}))
    for s in sinks:
        s.finish()
    destroy()


BAD = (("link set zs0 type zswitch rxq 63", "64 to 65536 credits"),
       ("link set zs0 type zswitch rxq 65537", "64 to 65536 credits"),
       ("link set zs0 type zswitch rxq x", '"x" is no value of rxq'),
       ("link set zs0 type zswitch fabric maybe", '"maybe" is no value of fabric'),
       ("link set zs0 type zswitch virtual lossy", "fabric needs virtual lossless"),
       ("link add zs9 type zswitch virtual lossy fabric on", "fabric needs virtual lossless"),
       ("link set z0 type zswitch_slave allow z0", "only other ports of the switch"),
       ("link set z0 type zswitch_slave allow lo", "only other ports of the switch"),
       ("link set z0 type zswitch_slave allow z1,nobody", 'no device "nobody"'))


def refusals():
    build("fabric on rxq 100")
    for i in range(2):
        container(i)
    for command, words in BAD:
        said = refused("ip " + command)
        check("refused: %s" % command, said is not None and words in said, said)
    same("refused: nothing has changed", [switch()[k] for k in ("fabric", "rxq", "virtual")] + [port("z0")["allow"]],
         ["on", 100, "lossless", "all"])
    shown = ip("S", "-d link show zs0") + ip("S", "-d -s link show z0")
    check("refused: people see it too", all(w in shown for w in ("fabric on", "rxq 100", "allow all", "credit 0")), shown)
    destroy()


PARTS = (victim, machine, stalled, weights, switched, gone, given_up, segments, mixed, policy, refusals)
# Number of results
PLAN = 54


def what_ports_say():
    for dev, p in all_ports().items():
        say("%s: %s" % (dev, {k: v for k, v in p.items() if v}))


def main():
    chosen = run_parts(PARTS, PLAN, end, what_ports_say)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
