#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zswitch and zvnic besides plain forwarding: qdiscs that change, receivers that are almost
# stalled, senders that do not obey, false tags.  zbed.py has the network.  Prints TAP.

import errno
import fcntl
import json
import os
import random
import socket
import struct
import subprocess
import sys
import termios
import time

from sch_cee import SO_SNDBUFFORCE, names, run_parts, verdict
from sch_ndp import SOL_UDP, UDP_SEGMENT, check, inside, left_out, run, same, say, wait_for_carrier, wait_until
from zbed import (VIRTUAL, Datagrams, Sink, addr, all_ports, balanced, box, bridge, build, cee, container, destroy, drops,
                  ip, mac, neighbours, port, refused, settle, tc)
from zswitch import unload, wire_beside

RATE = "100mbit" if VIRTUAL else "5mbit"
FAST = "1gbit" if VIRTUAL else "10mbit"
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20
TUNSETIFF, TUNSETLINK, IFF_TAP, IFF_NO_PI = 0x400454ca, 0x400454cd, 0x2, 0x1000
ARPHRD_ETHER, ARPHRD_RAWIP = 1, 519
BONDS = not VIRTUAL and not subprocess.run(["modprobe", "bonding"], check=False, capture_output=True).returncode


class Burst:
    """Datagrams that a socket sends at once, as one GSO packet."""

    def __init__(self, node, to, total, size=1000):
        self.id = random.getrandbits(32)
        sock = inside(names[node], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        sock.setsockopt(SOL_UDP, UDP_SEGMENT, size)
        sock.sendto(b"".join(struct.pack("!II", self.id, i) + bytes(size - 8) for i in range(total)), (to, 7000))
        sock.close()


def replaced():
    """A wire's qdisc is replaced, or its queue length changed, while frames wait for it to pull."""
    build("virtual-wait 0 limit 131072 share 65536")
    container(0)
    # Between frames nothing but the qdisc's own timer is pending, which is deleted with it.
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
    """A receiver that takes a frame each 147 ms, always before frames are given up, counts as stalled."""
    wire_beside("crawling", 200, "80kbit", 0.8)


def recovered():
    """A receiver whose frames were given up loses nothing once it takes frames again."""
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
    wait_for_carrier(names[node], dev)


def packet_socket(node, dev="eth0", proto=0):
    sock = inside(names[node], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    sock.bind((dev, proto))
    return sock


def overrun():
    """A guest that restarts its queues each time they were stopped."""
    build("limit 65536 share 65536 virtual-wait 0")
    container(0)
    container(1, "1kbit")
    neighbours()
    for node, devs in (("S", ("z0", "z1")), ("C0", ("eth0",))):
        for dev in devs:
            ip(node, "link set %s mtu 65000" % dev)
    # Frames to so many addresses use all of the guest's queues.
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
    """Frames that no socket is charged for count with the memory that they take."""
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


def storm():
    """Frames that a wire's watchdog drops are pulled in portions, to the last one."""
    build("limit 1048576 share 1048576")
    container(0)
    box(1, FAST, here="dscp 0-63:3 watchdog 50ms action drop")
    neighbours()
    forger = packet_socket("R1", "e0")
    pause = bytes.fromhex("0180c2000001" + mac(1).replace(":", "")) + b"\x88\x08\x01\x01\x00\x08"
    pause = (pause + b"\0\0" * 3 + b"\xff\xff").ljust(60, b"\0")
    forger.send(pause)
    time.sleep(0.005)
    sink = Sink("R1")
    flow = Datagrams("C0", addr(1), total=500, sndbuf=4 << 20).start()
    flow.finish()
    for _ in range(400):
        forger.send(pause)
        time.sleep(0.001)
        if cee("S", "p1")["drop_watchdog"] + sink.of(flow) >= 500:
            break
    settle()
    lost = cee("S", "p1")["drop_watchdog"]
    same("storm: %d of 500 are dropped by the watchdog, and counted" % lost,
         (lost > 400, lost + sink.of(flow), drops(port("z0")), balanced()), (True, 500, {}, {}))
    forger.close()
    sink.finish()
    destroy()


def marks():
    """A mark that the host has set on a frame from a wire is not visible to the guest."""
    build()
    box(0, FAST)
    container(1)
    neighbours()
    tc("S", "qdisc add dev p0 clsact")
    tc("S", "filter add dev p0 ingress matchall action skbedit mark 7")
    tc("C1", "qdisc add dev eth0 clsact")
    tc("C1", "filter add dev eth0 ingress protocol all handle 7 fw action drop")
    sink = Sink("C1")
    flow = Datagrams("R0", addr(1), total=20).start()
    flow.finish()
    settle()
    time.sleep(0.1)
    same("marks: stay outside", sink.of(flow), 20)
    sink.finish()
    destroy()


def held():
    """Frames that a guest holds are not charged to their sender's socket."""
    build()
    container(0)
    container(1)
    neighbours()
    other = "X-%d" % os.getpid()
    run("ip netns add " + other)
    for line in ("link add x0 type netwire rate 1kbit peer name x1 netns " + other, "link add br0 type bridge",
                 "link set x0 master br0 up", "link set eth0 master br0", "link set br0 up"):
        ip("C1", line)
    run("ip -n %s link set x1 up" % other)
    tc("C1", "qdisc replace dev x0 root pfifo limit 1000")
    carrier("C1", "x0")
    ip("C0", "neighbour replace 10.0.0.50 lladdr %s nud permanent dev eth0" % mac(50))
    sock = inside(names["C0"], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    for _ in range(50):
        sock.sendto(bytes(1000), ("10.0.0.50", 7000))

    def waiting():
        return json.loads(tc("C1", "-s -j qdisc show dev x0"))[0]["qlen"]
    wait_until(lambda: waiting() >= 48, "they wait in the guest")
    same("held: the sender's socket has all of its buffer again",
         struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0], 0)
    sock.close()
    run("ip netns del " + other)
    destroy()


def moved(node, frame, proto=0):
    """Send a frame from a container.  Return: how many frames each port gets, and the drops at its port."""
    before = {dev: p["out"] for dev, p in all_ports().items()}, drops(port("z" + node[1:]))
    sock = packet_socket(node)
    sock.sendto(frame, ("eth0", proto))
    sock.close()
    settle()
    after = drops(port("z" + node[1:]))
    return ([p["out"] - before[0][dev] for dev, p in all_ports().items()],
            {k: v - before[1].get(k, 0) for k, v in after.items() if v != before[1].get(k, 0)})


def frame(source, dest, *tags):
    return (bytes.fromhex((dest + source).replace(":", "")) + b"".join(struct.pack("!HH", 0x8100, t) for t in tags) +
            b"\x88\xb5" + bytes(50))


def tags():
    """A container of one VLAN does not get into another by the tags of its frames."""
    build("vlan-filtering on")
    for i in range(3):
        container(i)
        bridge("vlan del dev z%d vid 1" % i)
        bridge("vlan add dev z%d vid 10 pvid untagged" % i)
        carrier("C%d" % i)
    same("tags: a frame without one arrives", moved("C0", frame(mac(0), mac(1))), ([0, 1, 1], {}))
    same("tags: so does one of this VLAN", moved("C0", frame(mac(0), mac(1), 10)), ([0, 1, 1], {}))
    same("tags: one of another does not", moved("C0", frame(mac(0), mac(1), 20)), ([0, 0, 0], {"drop_vlan": 1}))
    same("tags: whatever protocol it is said to be", moved("C0", frame(mac(0), mac(1), 20), 0x0800),
         ([0, 0, 0], {"drop_vlan": 1}))
    same("tags: nor one behind another", moved("C0", frame(mac(0), mac(1), 10, 20)), ([0, 0, 0], {"drop_vlan": 1}))
    bridge("fdb add %s dev zs0 via z1 static" % mac(1))
    same("tags: a static address without a VLAN is in all", moved("C0", frame(mac(0), mac(1))), ([0, 1, 0], {}))
    same("tags: and nobody else's there", moved("C2", frame(mac(1), mac(0))), ([0, 0, 0], {"drop_guard": 1}))
    same("tags: every frame is accounted for", balanced(), {})
    destroy()


def long_segments():
    """A GSO packet whose segments are too long for an output is dropped."""
    build()
    container(0)
    container(1)
    neighbours()
    ip("S", "link set z0 mtu 9000")
    ip("C0", "link set eth0 mtu 9000")
    sink = Sink("C1")
    short = Burst("C0", addr(1), 5, 1000)
    wait_until(lambda: sink.of(short) == 5, "short ones arrive")
    long = Burst("C0", addr(1), 5, 3000)
    settle()
    time.sleep(0.1)
    same("long segments: counted", (sink.of(long), drops(port("z0"))), (0, {"drop_mtu": 1}))
    sink.finish()
    destroy()


def bypass():
    """A frame that was sent past the qdisc and comes back to the same NIC by a VLAN on it."""
    build("vlan-filtering on")
    ip("S", "link add z9 type zvnic peer name g9")
    ip("S", "link set z9 master zs0 up")
    ip("S", "link set g9 up")
    ip("S", "link add link g9 name g9.10 type vlan id 10")
    ip("S", "link set g9.10 master zs0 up")
    for dev in ("g9", "g9.10"):
        carrier("S", dev)
    sock = packet_socket("S", "g9")
    sock.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    before = port("z9")["drop_vlan"]
    sock.send(frame(mac(0), mac(1)))
    wait_until(lambda: port("z9")["drop_vlan"] > before, "it comes back")
    same("bypass: it has come back once, with the tag", port("z9")["drop_vlan"] - before, 1)
    sock.close()
    destroy()


def owner():
    """A guest cannot change the rate that it was given."""
    build()
    guest = subprocess.Popen(["unshare", "-Urn", "sh", "-c", "echo; exec sleep 1000"], stdout=subprocess.PIPE)
    guest.stdout.readline()
    ip("S", "link add z5 type zvnic rate 1mbit peer name g5")
    ip("S", "link set g5 netns %d" % guest.pid)
    p = subprocess.run(("nsenter -U -n -t %d ip link set g5 type zvnic rate 1gbit" % guest.pid).split(),
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check("owner: refused to the guest", p.returncode and "other end" in p.stdout, p.stdout)
    ip("S", "link set z5 type zvnic rate 2mbit")
    check("owner: and not to the host", "rate 2Mbit" in ip("S", "-d link show z5"), ip("S", "-d link show z5"))
    guest.kill()
    guest.wait()
    destroy()


def retyped():
    """A port stays an Ethernet device, and so does a device with sch_cee."""
    build()

    def tap():
        fd = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"t0", IFF_TAP | IFF_NO_PI))
        return fd

    fd = inside(names["S"], tap)

    def refusal():
        """The error when the tap loses Ethernet's header, which it then gets again"""
        try:
            fcntl.ioctl(fd, TUNSETLINK, ARPHRD_RAWIP)
            fcntl.ioctl(fd, TUNSETLINK, ARPHRD_ETHER)
            return 0
        except OSError as e:
            return e.errno

    got = [refusal()]
    ip("S", "link set t0 master zs0")
    got.append(refusal())
    ip("S", "link set t0 nomaster")
    got.append(refusal())
    tc("S", "qdisc replace dev t0 root cee")
    got.append(refusal())
    tc("S", "qdisc del dev t0 root")
    got.append(refusal())
    same("retyped: a tap, as a port, as none, with sch_cee, without", got, [0, errno.EPERM, 0, errno.EPERM, 0])
    os.close(fd)
    if BONDS:
        ip("S", "tuntap add dev t1 mode tun")
        ip("S", "link add b0 type bond mode active-backup")
        ip("S", "link set b0 master zs0")
        said = refused("ip link set t1 master b0")
        check("retyped: a bond that is a port", said and "busy" in said, said)
        ip("S", "link set b0 nomaster")
        same("retyped: a bond that is none", refused("ip link set t1 master b0"), None)
    else:
        left_out("retyped: bonds", 2, "no bonds here")
    destroy()


PARTS = (replaced, crawling, recovered, overrun, routed, copies, storm, marks, held, tags, long_segments, bypass, owner,
         retyped, unload)
# Number of results
PLAN = 2 + 3 + 2 + 2 + 3 + 2 + 1 + 1 + 1 + 8 + 1 + 1 + 2 + 3 + 1


def what_ports_say():
    for dev, p in all_ports().items():
        say("%s: %s" % (dev, {k: v for k, v in p.items() if v}))


def main():
    chosen = run_parts(PARTS, PLAN, destroy, what_ports_say)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
