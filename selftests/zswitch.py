#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zswitch and zvnic at work.  Prints TAP.  zbed.py has the network.
#
# Where time is virtual the rates of containers and wires are exact; elsewhere they are
# low, and what depends on the machine's speed is not checked.

import random
import socket
import subprocess
import sys
import threading
import time

from sch_cee import USERS, run_parts, verdict
from sch_ndp import check, exact, inside, run, same, say, unload_modules, wait_for_carrier, wait_until
from zbed import (VIRTUAL, Datagrams, Sink, Stream, addr, all_ports, balanced, box, bridge, build, carriers,
                  cee, container, destroy, drops, ip, jain, knows, mac, names, neighbours, port,
                  qdisc_drops, rate_of, refused, settle, switch, tc)

RATE = "100mbit" if VIRTUAL else "5mbit"
FAST = "1gbit" if VIRTUAL else "10mbit"


def lossless(name, senders):
    """Nothing was lost anywhere, and no sender sleeps."""
    lost = {dev: drops(p) for dev, p in dict(all_ports(), zs0=switch()).items() if drops(p)}
    queues = {n: qdisc_drops(n, "eth0" if n[0] == "C" else "e0") for n in senders}
    same(name + ": nothing is lost at any hop", (lost, balanced(), sum(queues.values())), ({}, {}, 0))


def udp_two_to_one():
    build()
    for i in range(2):
        container(i)
    container(2, RATE)
    neighbours()
    sink = Sink("C2")
    flows = [Datagrams("C%d" % i, addr(2), total=1500).start() for i in range(2)]
    time.sleep(0.1)
    begin = [sink.of(f) for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) >= sum(begin) + 800, "some have arrived")
    shares = [sink.of(f) - b for f, b in zip(flows, begin)]
    check("udp: both senders get the same, Jain's index %.4f" % jain(shares), jain(shares) > 0.999, shares)
    done = [f.finish() for f in flows]
    settle()
    wait_until(lambda: sum(map(sink.of, flows)) == 3000, "all arrive", 20)
    same("udp: all arrive whole and in order", (done, [sink.whole(f) for f in flows], sink.disorder),
         ([True] * 2, [True] * 2, 0))
    lossless("udp", ("C0", "C1"))
    ports = all_ports()
    check("udp: senders' sockets waited, no queue was ever short",
          all(ports[p]["waited"] > 1000 for p in ("z0", "z1")), ports)
    sink.finish()
    destroy()


def sleeping():
    """Many sockets have more to send than the switch takes: the transmit queue sleeps."""
    build("limit 131072 share 65536")
    container(0)
    container(1, RATE)
    neighbours()
    sink = Sink("C1")
    flows = [Datagrams("C0", addr(1), total=300).start() for _ in range(8)]
    wait_until(lambda: port("z0")["slept"] > 0, "a sender sleeps")
    most = max(port("z0")["waiting"] for _ in range(20))
    done = [f.finish() for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) == 2400, "all arrive", 60)
    settle()
    p = port("z0")
    check("sleep: slept %d times, at most %d bytes waited" % (p["slept"], most),
          p["slept"] > 5 and 0 < most <= 65536 + 1514, p)
    same("sleep: all arrive whole and in order", (done, [sink.whole(f) for f in flows], sink.disorder),
         ([True] * 8, [True] * 8, 0))
    lossless("sleep", ("C0",))
    sink.finish()
    destroy()


def tcp_two_to_one():
    build("limit 131072 share 65536")
    for i in range(2):
        container(i)
    container(2, RATE)
    neighbours()
    streams = [Stream("C%d" % (i % 2), "C2", addr(2), i, 1 << 20) for i in range(4)]
    same("tcp: all bytes arrive", [s.finish() for s in streams], [True] * 4)
    settle()
    # Where time is real segments that are late are retransmitted.
    again = [s.retransmitted for s in streams]
    exact("tcp: nothing was sent again", again == [0] * 4, again)
    lossless("tcp", ("C0", "C1", "C2"))
    destroy()


def victim():
    """A stalled receiver, and another one of the same input."""
    build()
    container(0)
    container(1, RATE)
    container(2, RATE)
    neighbours()
    sink = Sink("C1")
    flow = Datagrams("C0", addr(1)).start()
    time.sleep(0.2)
    alone = rate_of(sink, flow, 2)
    ip("S", "link set z2 type zvnic rate 1kbit")
    late = Sink("C2")
    stuck = [Datagrams("C0", addr(2)).start() for _ in range(8)]
    wait_until(lambda: port("z2")["backlog"] >= 256 << 10 and port("z0")["slept"] > 0, "the sender sleeps")
    beside = rate_of(sink, flow, 2)
    if VIRTUAL:
        check("victim: %.3f of its rate beside one that has stopped" % (beside / alone), beside >= 0.98 * alone,
              (alone, beside))
    else:
        check("victim: goes on", beside > 0, (alone, beside))
    backlog = port("z2")["backlog"]
    check("victim: what waits is bounded (%d bytes)" % backlog, backlog <= (256 << 10) + 1514, port("z2"))
    ip("S", "link set z2 type zvnic rate " + FAST)
    done = [f.finish(now=True) for f in stuck + [flow]]
    settle()
    wait_until(lambda: sum(map(late.of, stuck)) == sum(f.sent for f in stuck), "all arrive", 30)
    same("victim: when it goes on, all that waited arrives whole and in order",
         (done, [late.whole(f) for f in stuck], late.disorder), ([True] * 9, [True] * 8, 0))
    lossless("victim", ("C0",))
    late.finish()
    sink.finish()
    destroy()


def weights():
    build()
    container(0, options="weight 3")
    container(1)
    container(2, RATE)
    neighbours()
    sink = Sink("C2")
    flows = [Datagrams("C%d" % i, addr(2)).start() for i in range(2)]
    time.sleep(0.3)
    begin = [sink.of(f) for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) >= sum(begin) + 2000, "some have arrived")
    shares = [sink.of(f) - b for f, b in zip(flows, begin)]
    exact("weights: 3 to 1 is %.3f" % (shares[0] / shares[1]),
          2.9 < shares[0] / shares[1] < 3.1, shares)
    for f in flows:
        f.finish(now=True)
    settle()
    lossless("weights", ("C0", "C1"))
    sink.finish()
    destroy()


def priorities():
    """Priorities of one input share an output, and none is served before all others."""
    build()
    container(0)
    container(1, RATE)
    neighbours()
    sink = Sink("C1")
    flows = [Datagrams("C0", addr(1), tos=prio << 5).start() for prio in (0, 7)]
    time.sleep(0.3)
    begin = [sink.of(f) for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) >= sum(begin) + 1000, "some have arrived")
    shares = [sink.of(f) - b for f, b in zip(flows, begin)]
    check("priorities: each has its part", jain(shares) > 0.999, shares)
    for f in flows:
        f.finish(now=True)
    settle()
    same("priorities: order is kept", sink.disorder, 0)
    lossless("priorities", ("C0",))
    sink.finish()
    destroy()


def from_wire():
    """A box sends to a slow container: the switch's occupancy pauses it."""
    build()
    box(0, FAST)
    container(1, RATE)
    neighbours()
    sink = Sink("C1")
    flows = [Datagrams("R0", addr(1), total=800).start() for _ in range(2)]
    done = [f.finish() for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) == 1600, "all arrive", 60)
    settle()
    here, there = cee("S", "p0"), cee("R0", "e0")
    check("wire: the switch pauses the box", here["xoff_sent"] > 0 and there["xoff_received"] > 0, (here, there))
    same("wire: nothing stays charged", (here["shared"], here["headroom"], here["overflow"]), (0, 0, 0))
    same("wire: all arrive whole and in order", (done, [sink.whole(f) for f in flows], sink.disorder),
         ([True] * 2, [True] * 2, 0))
    lossless("wire", ("R0",))
    sink.finish()
    destroy()


def to_wire():
    """Containers and a box send to a box by one wire."""
    build("limit 131072 share 65536")
    container(0)
    container(1)
    box(2, RATE)
    box(3, FAST)
    neighbours()
    sink = Sink("R2")
    flows = [Datagrams(n, addr(2), total=600).start() for n in ("C0", "C0", "C1", "R3")]
    streams = [Stream("C0", "R2", addr(2), 0, 1 << 19)]
    done = [f.finish() for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) == 2400, "all arrive", 60)
    same("to wire: all bytes of TCP arrive, sent once",
         (streams[0].finish(), streams[0].retransmitted if VIRTUAL else 0), (True, 0))
    settle()
    same("to wire: all arrive whole and in order", (done, [sink.whole(f) for f in flows], sink.disorder),
         ([True] * 4, [True] * 4, 0))
    check("to wire: the other box is paused for it", cee("S", "p3")["xoff_sent"] > 0, cee("S", "p3"))
    lossless("to wire", ("C0", "C1", "R3"))
    sink.finish()
    destroy()


def paused_wire():
    """The box at the other end of a wire sends pauses: senders to it sleep; another output goes on."""
    build("limit 131072 share 65536")
    container(0)
    container(1, RATE)
    box(2, FAST, here="dscp 0-63:3 watchdog off")
    neighbours()
    forger = inside(names["R2"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    forger.bind(("e0", 0))
    stop = []

    def pause(quanta):
        frame = bytes.fromhex("0180c2000001") + bytes.fromhex(mac(2).replace(":", "")) + b"\x88\x08\x01\x01\x00\x08"
        forger.send((frame + b"\0\0" * 3 + quanta.to_bytes(2, "big")).ljust(60, b"\0"))

    def hold():
        while not stop:
            pause(0xffff)
            time.sleep(0.01)

    holder = threading.Thread(target=hold)
    holder.start()
    time.sleep(0.05)
    held, sink = Sink("R2"), Sink("C1")
    flows = [Datagrams("C0", addr(2), total=200).start() for _ in range(3)]
    beside = Datagrams("C0", addr(1), total=200).start()
    wait_until(lambda: port("z0")["slept"] > 0, "the senders to the wire sleep")
    wait_until(lambda: sink.of(beside) == 200, "the other output goes on")
    same("paused: nothing goes by the wire, all by the other", (sum(map(held.of, flows)), sink.whole(beside)), (0, True))
    stop.append(True)
    holder.join()
    pause(0)
    done = [f.finish() for f in flows + [beside]]
    wait_until(lambda: sum(map(held.of, flows)) == 600, "all arrive", 60)
    settle()
    same("paused: all arrive whole and in order", (done, [held.whole(f) for f in flows], held.disorder),
         ([True] * 4, [True] * 3, 0))
    lossless("paused", ("C0",))
    forger.close()
    held.finish()
    sink.finish()
    destroy()


def wire_beside(what, wait, rate, least):
    """Frames from a wire for a receiver that takes them at @rate are given up after
    @wait milliseconds: the wire's other receiver keeps the share @least of its rate."""
    build("wire-wait %d" % wait)
    box(0, FAST)
    container(1, RATE)
    container(2, RATE)
    neighbours()
    sink = Sink("C1")
    flow = Datagrams("R0", addr(1)).start()
    time.sleep(0.2)
    alone = rate_of(sink, flow, 4)
    ip("S", "link set z2 type zvnic rate " + rate)
    slow = Datagrams("R0", addr(2)).start()
    begin = sink.of(flow)
    wait_until(lambda: port("p0")["drop_still"] > 0, "frames are given up")
    time.sleep(1)
    beside = rate_of(sink, flow, 4)
    check("%s: the wire goes on, with %.3f of the rate" % (what, beside / alone),
          beside >= least * alone if VIRTUAL else sink.of(flow) > begin, (alone, beside))
    for f in (flow, slow):
        f.finish(now=True)
    ip("S", "link set z2 type zvnic rate " + FAST)
    settle()
    same("%s: counted, and nothing else is lost" % what, (set(drops(port("p0"))), balanced()), ({"drop_still"}, {}))
    same("%s: nothing stays charged" % what, cee("S", "p0")["shared"], 0)
    sink.finish()
    destroy()


def still_wire():
    """Frames from a wire do not wait for ever, as they would block the wire's other receivers."""
    wire_beside("still", 100, "1kbit", 0.9)


def lossy():
    """Modes: an input of a lossy side never waits, and drops frames that find an output full."""
    build("virtual lossy queue 65536")
    container(0)
    container(1, RATE)
    neighbours()
    sink = Sink("C1")
    flows = [Datagrams("C0", addr(1), total=500).start() for _ in range(2)]
    done = [f.finish() for f in flows]
    settle()
    p = port("z0")
    lost = p["drop_full"]
    wait_until(lambda: sum(map(sink.of, flows)) == 1000 - lost, "the others arrive")
    check("lossy: %d of 1000 are lost, all counted, nobody slept" % lost,
          all(done) and lost and p["slept"] == 0 and drops(p) == {"drop_full": lost} and not balanced(), p)
    ip("S", "link set zs0 type zswitch virtual lossless")
    again = Datagrams("C0", addr(1), total=500).start()
    again.finish()
    wait_until(lambda: sink.of(again) == 500, "all arrive")
    settle()
    same("lossy: none more when it is lossless again", port("z0")["drop_full"], lost)
    sink.finish()
    destroy()
    build("wire lossy queue 65536")
    box(0, FAST)
    container(1, RATE)
    neighbours()
    sink = Sink("C1")
    flow = Datagrams("R0", addr(1), total=1000).start()
    flow.finish()
    settle()
    lost = port("p0")["drop_full"]
    wait_until(lambda: sink.of(flow) == 1000 - lost, "the others arrive")
    check("lossy wire: %d lost, and nobody is paused" % lost,
          lost and not cee("S", "p0")["xoff_sent"] and not balanced(), port("p0"))
    sink.finish()
    destroy()


def plain_wire():
    """A port with another qdisc than cee forwards, and drops, as any switch does."""
    build("queue 65536")
    container(0)
    container(1)
    box(2, RATE, cee=None)
    tc("S", "qdisc replace dev p2 root pfifo limit 10")
    tc("R2", "qdisc replace dev e0 root pfifo limit 1000")
    neighbours()
    sink = Sink("R2")
    # However slow the senders are, the wire is slower until they have sent.
    ip("S", "link set p2 type netwire rate 10kbit")
    flows = [Datagrams("C%d" % i, addr(2), total=300, pace=0.00005).start() for i in range(2)]
    done = [f.finish() for f in flows]
    settle()
    lost = [port("z%d" % i)["drop_qdisc"] for i in range(2)]
    ip("S", "link set p2 type netwire rate " + RATE)
    wait_until(lambda: sum(map(sink.of, flows)) + sum(lost) == 600, "what it did not refuse arrives")
    same("plain wire: what its qdisc refuses is counted", (done, balanced()), ([True] * 2, {}))
    check("plain wire: %d were" % sum(lost), sum(lost) > 0)
    stream = Stream("R2", "C1", addr(1), 0, 1 << 19)
    same("plain wire: all bytes of TCP arrive", stream.finish(), True)
    sink.finish()
    destroy()


def flood():
    """Copies wait for each output, and are given up at one that is stalled."""
    # A slow machine's own stalls must not look like those of an output.
    build("flood-wait %d limit 131072 share 65536" % (50 if VIRTUAL else 5000))
    container(0)
    for i in (1, 2):
        container(i, RATE)
    container(3, "1kbit")
    neighbours()
    sinks = [Sink("C%d" % i) for i in (1, 2)]
    flows = [Datagrams("C0", "10.0.0.255", total=300).start() for _ in range(2)]
    done = [f.finish() for f in flows]
    for sink in sinks:
        wait_until(lambda: sum(map(sink.of, flows)) == 600, "all copies arrive", 60)
    same("flood: whole and in order at each that moves",
         (done, [[s.whole(f) for f in flows] for s in sinks], [s.disorder for s in sinks]),
         ([True] * 2, [[True] * 2] * 2, [0, 0]))
    ip("S", "link set z3 type zvnic rate " + FAST)
    settle()
    p = port("z0")
    check("flood: %d copies are given up at the one that stands still, no other frame" % p["drop_flood"],
          0 < p["drop_flood"] <= 600 and set(drops(p)) == {"drop_flood"} and p["copies"] >= 3 * 600, p)
    same("flood: every copy is accounted for", balanced(), {})
    for sink in sinks:
        sink.finish()
    destroy()


def raw(node, source, dest, n=1):
    """Send frames of an unused protocol, to which nobody answers."""
    sock = inside(names[node], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    sock.bind(("eth0", 0))
    for _ in range(n):
        sock.send(bytes.fromhex((dest + source).replace(":", "")) + b"\x88\xb5" + bytes(50))
    sock.close()
    settle()


def moved(node, source, dest, n=1):
    """Return: how many frames each port gets, and what is dropped at the sender's."""
    before = {dev: p["out"] for dev, p in all_ports().items()}, drops(port("z" + node[1:]))
    raw(node, source, dest, n)
    after = drops(port("z" + node[1:]))
    return ([p["out"] - before[0][dev] for dev, p in all_ports().items()],
            {k: v - before[1].get(k, 0) for k, v in after.items() if v != before[1].get(k, 0)})


def addresses():
    build()
    for i in range(3):
        container(i)
    for i in range(3):
        wait_for_carrier(names["S"], "z%d" % i)
    same("addresses: an unknown one is flooded", moved("C0", mac(0), mac(1), 3), ([0, 3, 3], {}))
    check("addresses: the sender's is learnt where it is", "%s via z0 self" % mac(0) in bridge("fdb show dev zs0"),
          bridge("fdb show dev zs0"))
    same("addresses: a known one is not flooded", moved("C2", mac(2), mac(0), 3), ([3, 0, 0], {}))
    same("addresses: nothing goes back where it came from", moved("C0", mac(0), mac(0), 2), ([0, 0, 0], {"drop_local": 2}))
    moved("C1", mac(0), mac(2))
    same("addresses: one that moves is found again", moved("C2", mac(2), mac(0), 3), ([0, 3, 0], {}))
    ip("S", "link set zs0 type zswitch ageing 4")
    wait_until(lambda: mac(0) not in bridge("fdb show dev zs0"), "it is forgotten", 60)
    check("addresses: one that nobody uses is forgotten", True)
    ip("S", "link set zs0 type zswitch ageing 300")
    bridge("fdb add %s dev zs0 via z0 static" % mac(0))
    refusal = refused("bridge fdb add %s dev zs0 via z1 static" % mac(0))
    check("addresses: added once", refusal and "exists" in refusal, refusal)
    refusal = refused("bridge fdb add %s dev zs0 via lo static" % mac(1))
    check("addresses: of a port only", refusal and "port of the switch" in refusal, refusal)
    same("addresses: nobody takes another's", moved("C1", mac(0), mac(2), 3), ([0, 0, 0], {"drop_guard": 3}))
    ip("S", "link set z1 type zswitch_slave guard on")
    same("addresses: guard takes static ones only", moved("C1", mac(1), mac(0), 2), ([0, 0, 0], {"drop_guard": 2}))
    bridge("fdb add %s dev zs0 via z1 static" % mac(1))
    same("addresses: and these it takes", moved("C1", mac(1), mac(0), 2), ([2, 0, 0], {}))
    ip("S", "link set z1 type zswitch_slave flood off")
    same("addresses: a port may be spared what is unknown", moved("C0", mac(0), mac(50), 2), ([0, 0, 2], {}))
    ip("S", "link set z1 type zswitch_slave flood on learning off")
    ip("S", "link set zs0 type zswitch fdb-max 5")
    for i in range(100):
        raw("C2", mac(100 + i), mac(0))
    learnt = sum("permanent" not in line and "static" not in line
                 for line in bridge("fdb show dev zs0").splitlines())
    same("addresses: who makes them up fills the table up to its bound", learnt, 5)
    same("addresses: none is taken with a group's", moved("C0", "03:00:00:00:00:01", mac(1)),
         ([0, 0, 0], {"drop_malformed": 1}))
    same("addresses: what is for the neighbour alone stays", moved("C0", mac(0), "01:80:c2:00:00:0e"),
         ([0, 0, 0], {"drop_local": 1}))
    bridge("fdb del %s dev zs0" % mac(1))
    check("addresses: deleted", mac(1) not in bridge("fdb show dev zs0"))
    refusal = refused("bridge fdb del %s dev zs0" % mac(1))
    check("addresses: deleted once", refusal, refusal)
    same("addresses: every frame is accounted for", balanced(), {})
    destroy()


def vlans():
    build("vlan-filtering on")
    for i in range(4):
        container(i)
    for i in (0, 1):
        bridge("vlan del dev z%d vid 1" % i)
        bridge("vlan add dev z%d vid 10 pvid untagged" % i)
    bridge("vlan add dev z3 vid 10-12")
    neighbours_of_vlans()
    sinks = {i: Sink("C%d" % i) for i in (1, 2, 3)}
    flow = Datagrams("C0", addr(1), total=20).start()
    flow.finish()
    wait_until(lambda: sinks[1].of(flow) == 20, "they arrive within the VLAN")
    check("vlans: whole", sinks[1].whole(flow))
    ip("C3", "link add link eth0 name v10 type vlan id 10")
    ip("C3", "address flush dev eth0")
    ip("C3", "address add %s/24 dev v10" % addr(3))
    ip("C3", "link set v10 up")
    ip("C3", "neighbour replace %s lladdr %s nud permanent dev v10" % (addr(0), mac(0)))
    trunk = Datagrams("C0", addr(3), total=20).start()
    trunk.finish()
    wait_until(lambda: sinks[3].of(trunk) == 20, "they arrive tagged at the trunk")
    check("vlans: a trunk gets the tag", sinks[3].whole(trunk))
    back = Sink("C0")
    tagged = Datagrams("C3", addr(0), total=20).start()
    tagged.finish()
    wait_until(lambda: back.of(tagged) == 20, "tags are taken off at an access port")
    check("vlans: an access port has none", back.whole(tagged))
    out = port("z2")["out"]
    other = Datagrams("C0", addr(2), total=20).start()
    other.finish()
    time.sleep(0.1)
    same("vlans: another one is not reached", (sinks[2].of(other), port("z2")["out"]), (0, out))
    refusals = [refused("bridge vlan add dev z0 vid " + v) for v in ("4095",)]
    check("vlans: out of range is refused", all(refusals), refusals)
    check("vlans: shown", "z3                1 PVID Egress Untagged\n                  10\n" in bridge("vlan show"),
          bridge("vlan show"))
    same("vlans: every frame is accounted for", balanced(), {})
    for s in list(sinks.values()) + [back]:
        s.finish()
    destroy()


def neighbours_of_vlans():
    for i in range(4):
        knows("C%d" % i, "eth0", range(4))
    carriers(["z%d" % i for i in range(4)])


def host():
    """The host itself, by the switch's own device."""
    build("limit 131072 share 65536")
    container(0, RATE)
    ip("S", "link set zs0 address " + mac(99))
    ip("S", "address add 10.0.0.100/24 dev zs0")
    neighbours()
    ip("S", "neighbour replace %s lladdr %s nud permanent dev zs0" % (addr(0), mac(0)))
    ip("C0", "neighbour replace 10.0.0.100 lladdr %s nud permanent dev eth0" % mac(99))
    sink = Sink("C0")
    flows = [Datagrams("S", addr(0), total=200).start() for _ in range(4)]
    stream = Stream("C0", "S", "10.0.0.100", 0, 1 << 19)
    done = [f.finish() for f in flows]
    wait_until(lambda: sum(map(sink.of, flows)) == 800, "all arrive", 60)
    same("host: what it sends arrives whole", (done, [sink.whole(f) for f in flows], stream.finish()),
         ([True] * 4, [True] * 4, True))
    settle()
    check("host: it slept", switch()["slept"] > 0, switch())
    same("host: nothing is lost", (drops(switch()), drops(port("z0")), balanced(), qdisc_drops("S", "zs0")),
         ({}, {}, {}, 0))
    sink.finish()
    destroy()


def virtual_wait():
    build("virtual-wait 100 share 65536 limit 131072")
    container(0)
    container(1, "1kbit")
    neighbours()
    flows = [Datagrams("C0", addr(1), total=500).start() for _ in range(2)]
    done = [f.finish() for f in flows]
    wait_until(lambda: port("z1")["backlog"] == 0, "given up")
    p = port("z0")
    check("virtual-wait: senders go on when frames are given up (%d)" % p["drop_still"],
          all(done) and p["drop_still"] >= 990 and not balanced(), p)
    destroy()


def segments():
    """A GSO segment of TCP stays whole between containers."""
    build()
    container(0)
    container(1)
    neighbours()
    # TCP makes segments as long as the rate that it measures allows: on a slow machine short ones.
    run("ip netns exec %s sysctl -qw net.ipv4.tcp_min_tso_segs=16" % names["C0"])
    stream = Stream("C0", "C1", addr(1), 0, 4 << 20)
    same("segments: all bytes arrive", stream.finish(), True)
    settle()
    p = port("z0")
    check("segments: %d bytes a frame" % (p["in_bytes"] // p["in"]), p["in_bytes"] // p["in"] > 15000, p)
    lossless("segments", ("C0", "C1"))
    destroy()


def options():
    build()
    container(0)
    for command, words in (
            ("link set zs0 type zswitch limit 1000", "64 KiB"), ("link set zs0 type zswitch share 2000000", "more than"),
            ("link set zs0 type zswitch ageing 4000000000", "30 days"),
            ("link set zs0 type zswitch flood-wait 4000000", "an hour"),
            ("link add zs1 type zswitch address 01:00:00:00:00:00", ""),
            ("link set z0 type zswitch_slave weight 0", "1 to 255"),
            ("link set lo master zs0", "Ethernet"), ("link set zs0 netns 1", ""),
            ("link add z9 type zvnic", "peer"), ("link set z0 type zvnic rate 1bit", "1 kbit/s"),
            ("link add z9 numtxqueues 99 type zvnic peer name z10", "32")):
        refusal = refused("ip " + command)
        check("options: %s: refused" % command, refusal and words in refusal, refusal)
    ip("S", "link add zs1 type zswitch")
    refusal = refused("ip link set zs1 master zs0")
    check("options: no switch below a switch", refusal and "cable" in refusal, refusal)
    ip("S", "link add br0 type bridge")
    refusal = refused("ip link set br0 master zs0")
    check("options: no bridge either", refusal and "cable" in refusal, refusal)
    ip("S", "link add z5 type zvnic peer name g5")
    refusal = refused("ip link set g5 master zs0")
    check("options: the guest's end is no port", refusal and "guest" in refusal, refusal)
    ip("S", "link set z0 nomaster")
    ip("S", "link set z0 master zs1")
    ip("S", "link set zs0 type zswitch virtual lossy wire lossy limit 200000 share 100000 queue 70000 ageing 7")
    x = switch()
    same("options: shown as they were given", [x[k] for k in ("virtual", "wire", "limit", "share", "queue", "ageing")],
         ["lossy", "lossy", 200000, 100000, 70000, 7])
    destroy()


def churn():
    """Ports, switches, links and namespaces are changed and deleted at random under traffic."""
    build("limit 131072 share 65536")
    for i in range(4):
        container(i, RATE if i % 2 else None)
    box(4, FAST)
    neighbours()
    flows = [Datagrams(n, to, pace=0.0005).start() for n in ("C0", "C2", "R4")
             for to in (addr(1), addr(3), addr(4), "10.0.0.255")]
    turns = 60
    for _ in range(turns):
        i = random.randrange(4)
        what = random.choice(("nomaster", "down", "rate", "guest", "switch", "qdisc", "wire", "flush"))
        if what == "nomaster":
            ip("S", "link set z%d nomaster" % i)
            ip("S", "link set z%d master zs0" % i)
        elif what == "down":
            ip("S", "link set z%d down" % i)
            ip("S", "link set z%d up" % i)
        elif what == "rate":
            ip("S", "link set z%d type zvnic rate %s" % (i, random.choice(("1kbit", RATE, FAST))))
        elif what == "guest":
            ip("C%d" % i, "link set eth0 down")
            ip("C%d" % i, "link set eth0 up")
        elif what == "switch":
            ip("S", "link set zs0 type zswitch virtual %s wire %s" % (
                random.choice(("lossy", "lossless")), random.choice(("lossy", "lossless"))))
        elif what == "qdisc":
            subprocess.run(("tc -n %s qdisc del dev p4 root" % names["S"]).split(), stderr=subprocess.DEVNULL)
            tc("S", "qdisc replace dev p4 root cee dscp 0-63:3")
        elif what == "wire":
            ip("S", "link set p4 nomaster")
            ip("S", "link set p4 master zs0")
        time.sleep(random.random() * 0.05)
    run("ip netns del " + names.pop("C3"))
    ip("S", "link del z2")
    ip("S", "link del zs0")
    run("ip netns del " + names.pop("C1"))
    same("churn: senders end when their switch is gone", [f.finish(now=True) for f in flows], [True] * len(flows))
    destroy()


def dying():
    """A namespace is deleted whose frames wait for a stalled receiver."""
    build("virtual-wait 2000")
    container(0)
    container(1, "1kbit")
    neighbours()
    flow = Datagrams("C0", addr(1)).start()
    wait_until(lambda: port("z1")["backlog"] > 50000, "frames wait")
    flow.finish(now=True)
    run("ip netns del " + names.pop("C0"))
    time.sleep(3)
    wait_until(lambda: "z0" not in ip("S", "-o link show"), "its port goes with it", 10)
    same("dying: frames of a namespace that is deleted are given back", port("z1")["backlog"], 0)
    destroy()


def unload():
    unload_modules("modules unload", USERS)


def unload_busy():
    """The modules are unloaded while there are switches, ports and traffic."""
    build("share 65536")
    container(0)
    container(1, RATE)
    neighbours()
    flows = [Datagrams("C0", addr(1)).start() for _ in range(3)]
    wait_until(lambda: port("z1")["backlog"] > 50000, "frames wait")
    unload()
    same("unload: senders end", [f.finish(now=True) for f in flows], [True] * 3)
    destroy()


PARTS = (options, udp_two_to_one, sleeping, tcp_two_to_one, victim, weights, priorities, from_wire, to_wire,
         paused_wire, still_wire, lossy, plain_wire, flood, addresses, vlans, host, virtual_wait, segments, churn, dying,
         unload_busy)
# Number of results
PLAN = 93


def what_ports_say():
    for dev, p in all_ports().items():
        say("%s: %s" % (dev, {k: v for k, v in p.items() if v}))


def main():
    chosen = run_parts(PARTS, PLAN, destroy, what_ports_say)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
