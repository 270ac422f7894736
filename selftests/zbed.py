# SPDX-License-Identifier: GPL-2.0
#
# A lossless virtual switch for tests: boxes, containers, flows whose every byte is
# compared, and the counters of all hops.
#
#	box S:  zs0 --- z0 == eth0 container 0
#	             |- z1 == eth0 container 1 ...
#	             '- p0 -------- cable -------- e0 box R0 ...

import hashlib
import json
import os
import random
import socket
import struct
import subprocess
import threading
import time

from sch_cee import ROOM, SO_RCVBUFFORCE, SO_SNDBUFFORCE, VIRTUAL, ip, names, tc
from sch_ndp import inside, run, wait_until

TCP_INFO = 11
count = 0


def bridge(args):
    return run("bridge -n %s %s" % (names["S"], args))


def refused(command, node="S"):
    """The error of a command, or None if it is accepted."""
    p = subprocess.run([*command.split()[:1], "-n", names[node], *command.split()[1:]],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return p.stdout if p.returncode else None


def mac(i):
    return "02:00:00:00:02:%02x" % i


def addr(i):
    return "10.0.0.%d" % (i + 1)


def node_add(node):
    names[node] = "%s-%d-%d" % (node, count, os.getpid())
    run("ip netns add " + names[node])
    for path in ("all", "default"):
        def write():
            with open("/proc/sys/net/ipv6/conf/%s/disable_ipv6" % path, "w") as f:
                f.write("1")
        inside(names[node], write)


def container(i, rate=None, options=""):
    """Container number i; its port is z<i>."""
    node_add("C%d" % i)
    ip("S", "link add z%d type zvnic%s peer name eth0 netns %s" % (
        i, " rate %s" % rate if rate else "", names["C%d" % i]))
    ip("S", "link set z%d master zs0 up" % i)
    if options:
        ip("S", "link set z%d type zswitch_slave %s" % (i, options))
    ip("C%d" % i, "link set eth0 address %s up" % mac(i))
    ip("C%d" % i, "address add %s/24 dev eth0" % addr(i))


def box(i, rate, cee="dscp 0-63:3", here=None):
    """Box number i, on a wire; its port at S is p<i>."""
    node_add("R%d" % i)
    ip("R%d" % i, "link add e0 type netwire rate %s delay 1us peer name p%d netns %s" % (
        rate, i, names["S"]))
    ip("S", "link set p%d master zs0 up" % i)
    ip("R%d" % i, "link set e0 address %s up" % mac(i))
    ip("R%d" % i, "address add %s/24 dev e0" % addr(i))
    if cee is not None:
        tc("R%d" % i, "qdisc replace dev e0 root cee %s%s" % (cee, ROOM))
        tc("S", "qdisc replace dev p%d root cee %s%s" % (i, here if here is not None else cee, ROOM))


def knows(node, dev, numbers):
    """Give a node the addresses of all others."""
    run("ip -n %s -batch -" % names[node], [
        "neighbour replace %s lladdr %s nud permanent dev %s" % (addr(i), mac(i), dev) for i in numbers if i != int(node[1:])])


def carriers(devs):
    def up():
        links = json.loads(ip("S", "-j link show master zs0"))
        return not set(devs) - {link["ifname"] for link in links if link["operstate"] == "UP"}
    wait_until(up, "carrier of all ports")


def neighbours():
    """Static neighbours and forwarding entries for all, so that no address is resolved."""
    numbers = [int(n[1:]) for n in names if n != "S"]
    for node in names:
        if node != "S":
            knows(node, "eth0" if node[0] == "C" else "e0", numbers)
    devs = {i: "z%d" % i if "C%d" % i in names else "p%d" % i for i in numbers}
    run("bridge -n %s -batch -" % names["S"], ["fdb replace %s dev zs0 via %s static" % (mac(i), devs[i]) for i in numbers])

    carriers(devs.values())


def build(options=""):
    """A switch.  As guests of a slow machine stall for more than 200 ms, no port gives up frames from a wire."""
    global count
    count += 1
    if not VIRTUAL and "wire-wait" not in options:
        options += " wire-wait 0"
    node_add("S")
    ip("S", "link add zs0 type zswitch " + options)
    ip("S", "link set zs0 up")


def destroy():
    for node in reversed(list(names)):
        subprocess.run(["ip", "netns", "del", names[node]], stderr=subprocess.DEVNULL)
    names.clear()


def port(dev, node="S"):
    return json.loads(ip(node, "-s -d -j link show dev " + dev))[0]["linkinfo"]["info_slave_data"]


def switch(node="S"):
    return json.loads(ip(node, "-s -d -j link show dev zs0"))[0]["linkinfo"]["info_data"]


def all_ports(node="S"):
    """Ports by name, from one program: there may be many, and a test may poll them."""
    links = json.loads(ip(node, "-s -d -j link show master zs0"))
    return {link["ifname"]: link["linkinfo"]["info_slave_data"] for link in links}


def drops(p):
    return {k: v for k, v in p.items() if k.startswith("drop_") and v}


def restless(p):
    """Does a port have a frame that waits or is not accounted for, or a sender that sleeps?"""
    return bool(p["in"] + p["copies"] != p["passed"] + p["fabric_in"] + sum(drops(p).values()) or
                p["slept"] != p["woken"] or p.get("waiting") or p.get("backlog"))


def balanced():
    """At rest every frame is accounted for, and no sender sleeps.  Return: what is wrong."""
    ports = dict(all_ports(), zs0=switch())
    wrong = [dev for dev, p in ports.items() if restless(p)]
    if sum(p["passed"] for p in ports.values()) != sum(p["out"] for p in ports.values()):
        wrong.append("sums")
    return {dev: ports.get(dev) for dev in wrong}


def qdisc_drops(node, dev):
    return sum(q["drops"] for q in json.loads(tc(node, "-s -j qdisc show dev " + dev)))


def cee(node, dev, prio=3):
    x = [q for q in json.loads(tc(node, "-s -j qdisc show dev " + dev)) if q["kind"] == "cee"][0]
    return x["prio%d" % prio]


class Datagrams:
    """A flow of datagrams, numbered and random, in a thread of its own."""

    def __init__(self, node, to, total=None, size=1400, tos=0, sndbuf=200000, pace=0):
        # Where time is virtual a sender that never blocks would stop time: @pace, seconds.
        self.pace = pace
        self.node, self.to, self.total, self.size = node, to, total, size
        self.id, self.sent, self.stop = random.getrandbits(32), 0, False
        self.digest = hashlib.sha256()
        self.sock = inside(names[node], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, sndbuf // 2)
        self.sock.settimeout(0.5)
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        while not self.stop and self.sent != self.total:
            data = struct.pack("!II", self.id, self.sent) + random.randbytes(self.size - 8)
            while not self.stop:
                try:
                    self.sock.sendto(data, (self.to, 7000))
                except socket.timeout:
                    continue
                except OSError:
                    # The link is down for a while.
                    time.sleep(0.01)
                    continue
                self.digest.update(data)
                self.sent += 1
                break
            if self.pace:
                time.sleep(self.pace)

    def start(self):
        self.thread.start()
        return self

    def finish(self, now=False):
        self.stop = now
        self.thread.join(300)
        self.sock.close()
        return not self.thread.is_alive()


class Sink:
    """Receives all datagrams in a thread of its own: order, bytes and number of each flow."""

    def __init__(self, node, room=64 << 20):
        self.sock = inside(names[node], lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, room)
        self.sock.bind(("0.0.0.0", 7000))
        self.sock.settimeout(0.05)
        self.got, self.next, self.digest, self.disorder, self.stop = {}, {}, {}, 0, False
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.stop:
            try:
                data = self.sock.recv(65536)
            except socket.timeout:
                continue
            flow, n = struct.unpack("!II", data[:8])
            if n < self.next.get(flow, 0):
                self.disorder += 1
            self.next[flow] = n + 1
            self.got[flow] = self.got.get(flow, 0) + 1
            self.digest.setdefault(flow, hashlib.sha256()).update(data)

    def of(self, flow):
        return self.got.get(flow.id, 0)

    def whole(self, flow):
        """Did all that was sent arrive in order, to the byte?"""
        return flow.id in self.digest and self.digest[flow.id].digest() == flow.digest.digest()

    def finish(self):
        self.stop = True
        self.thread.join(60)
        self.sock.close()


def quiet():
    """Does nothing wait at any port?"""
    return not any(p["waiting"] or p["backlog"] for p in all_ports().values())


def jain(shares):
    return sum(shares)**2 / (len(shares) * sum(x * x for x in shares))


class Stream:
    """A TCP connection that carries random bytes."""

    def __init__(self, node, to_node, to, number, size):
        self.size, self.port = size, 8000 + number
        self.server = inside(names[to_node], lambda: socket.socket())
        self.server.bind(("0.0.0.0", self.port))
        self.server.listen(1)
        self.sock = inside(names[node], lambda: socket.socket())
        self.to = to
        self.sent, self.received = hashlib.sha256(), hashlib.sha256()
        self.retransmitted = None
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self.send, self.receive)]
        for t in self.threads:
            t.start()

    def send(self):
        self.sock.connect((self.to, self.port))
        left = self.size
        while left:
            data = random.randbytes(min(left, 65536))
            self.sent.update(data)
            self.sock.sendall(data)
            left -= len(data)
        self.sock.shutdown(socket.SHUT_WR)
        self.sock.recv(1)
        # tcpi_total_retrans
        info = self.sock.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 104)
        self.retransmitted = struct.unpack_from("I", info, 100)[0]
        self.sock.close()

    def receive(self):
        s = self.server.accept()[0]
        while True:
            data = s.recv(1 << 16)
            if not data:
                break
            self.received.update(data)
        s.close()
        self.server.close()

    def finish(self):
        for t in self.threads:
            t.join(300)
        return self.sent.digest() == self.received.digest()


def settle():
    wait_until(quiet, "nothing waits", 120)
    time.sleep(0.05)


def rates_of(sinks, flows, seconds):
    """Datagrams of each flow per second, over so many seconds; a quarter of them where time is exact."""
    if VIRTUAL:
        seconds /= 4
    begin = [s.of(f) for s, f in zip(sinks, flows)]
    time.sleep(seconds)
    return [(s.of(f) - b) / seconds for s, f, b in zip(sinks, flows, begin)]


def rate_of(sink, flow, seconds):
    return rates_of([sink], [flow], seconds)[0]
