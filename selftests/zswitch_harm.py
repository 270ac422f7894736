#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zswitch, zvnic and zvtap under failing allocations, random requests, guests that lie, loops,
# and namespaces that are deleted under load.  zbed.py has the network.  Prints TAP.
#
# Allocations fail where faults can be injected (CONFIG_FAULT_INJECTION, with a filter by stack);
# elsewhere those parts report that they cannot.

import collections
import errno
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time

import tapfd
from rtnl import (IFF_UP, IFLA_ADDRESS, IFLA_AF_SPEC, IFLA_BRIDGE_FLAGS, IFLA_BRIDGE_VLAN_INFO, IFLA_EXT_MASK,
                  IFLA_IFNAME, IFLA_MASTER, IFLA_MTU, IFLA_NET_NS_PID, IFLA_NUM_TX_QUEUES, IFLA_TXQLEN, NDA_IFINDEX,
                  NDA_LLADDR, NDA_VLAN, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, RTM_DELLINK, RTM_DELNEIGH,
                  RTM_GETLINK, RTM_GETNEIGH, RTM_NEWLINK, RTM_NEWNEIGH, RTM_SETLINK, Netlink, any_attrs, as_child, attr,
                  broken, edge, ifinfo, index_of, linkinfo, ndmsg, nest)
from sch_cee import ROOM, VIRTUAL, names, run_parts, verdict
from sch_ndp import check, checksum, inside, ip4, libc, run, same, say, udp, wait_for_carrier, wait_until
from tapfd import GSO_TCPV4, GSO_TCPV6, GSO_UDP, GSO_UDP_L4, NEEDS_CSUM, Header, ether
from zbed import (Datagrams, Sink, Stream, addr, box, bridge, build, cee, container, destroy, drops, ip,
                  mac, neighbours, port, tc)
from zvtap import SEGMENTS, device, end, eth4, frame, plug, send, taps, tcp4, unplug, vm, vms, wrong

RATE = "100mbit" if VIRTUAL else "5mbit"
# A rate at which few frames fill everything
SLOW = "10mbit"
FAULTS = "/sys/kernel/debug/"
KINDS = ("failslab", "fail_page_alloc")
MODULES = ("zswitch", "zvnic", "zvtap")
# Rounds of requests, each in a network of its own
ROUNDS = 12
IFLA_ZSWITCH_LAST, IFLA_PORT_LAST, IFLA_ZVNIC_PEER, IFLA_ZVNIC_LAST = 16, 13, 2, 4
IFLA_LAST, NDA_LAST, BRIDGE_LAST = 62, 17, 8
NOBODY = 65534
CLONE_NEWUSER, CLONE_NEWNET, PR_SET_DUMPABLE = 0x10000000, 0x40000000, 4


def vnic_peer(*parts):
    """A peer's attribute; not a nest: a header comes first."""
    return attr(IFLA_ZVNIC_PEER, b"".join(parts))


def unbalanced(devs):
    """Ports that do not account for every frame, or at which a frame or a sender still waits"""
    ports = {dev: port(dev) for dev in devs}
    return {dev: p for dev, p in ports.items()
            if p["in"] + p["copies"] != p["passed"] + sum(drops(p).values()) or p["slept"] != p["woken"]
            or p["waiting"] or p["backlog"]}


def at_rest(devs, readers):
    """Wait until machines have read all, and every frame is accounted for"""
    def done():
        for tap in readers:
            tap.read_all()
        return not unbalanced(devs)
    wait_until(done, "all went somewhere", 5)


# Failing allocations.

def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def can_fail():
    """Can faults be injected?  Kernels before 6.3 cannot aim them at a module on x86-64, others have none at all."""
    try:
        for kind in KINDS:
            for name, value in (("verbose", 0), ("times", -1), ("interval", 1), ("stacktrace-depth", 32),
                                ("ignore-gfp-wait", "N"), ("probability", 0)):
                write(FAULTS + kind + "/" + name, value)
        write(FAULTS + "fail_page_alloc/min-order", 0)
    except OSError:
        return False
    return True


def faults(percent, module=None):
    """Let this share of the allocations of a module's code, and of what it calls, fail; without a module none"""
    for kind in KINDS:
        write(FAULTS + kind + "/probability", 0)
    if module:
        with open("/proc/kallsyms", encoding="ascii") as file:
            lines = (line.split() for line in file)
            code = [int(f[0], 16) for f in lines if f[1] in "tT" and f[-1] == "[%s]" % module]
        for kind in KINDS:
            write(FAULTS + kind + "/require-start", min(code))
            write(FAULTS + kind + "/require-end", max(code) + 1024)
            write(FAULTS + kind + "/probability", percent)


def fail_nth(n):
    """Let the n-th allocation of this thread from now on fail.  Return: what was left of the last count"""
    file = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    left = int(os.pread(file, 16, 0))
    os.pwrite(file, b"%d" % n, 0)
    os.close(file)
    return left


def each_allocation(what, module, work, undo):
    """Each allocation of a request fails once: it is refused, or succeeds without, and can be done afterwards."""
    faults(0, module)
    refused, wrong_errno, n = 0, [], 0
    while True:
        n += 1
        fail_nth(n)
        error = work()
        left = fail_nth(0)
        # EINVAL: from the core, for a device for whose name there is no memory
        if error in (errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN, errno.ENFILE, errno.EINVAL):
            refused += 1
        elif error:
            wrong_errno.append(error)
        else:
            undo()
        if left:
            break
    faults(0)
    check("memory: %s: %d allocations, %d refusals" % (what, n - 1, refused),
          refused and not wrong_errno and not error, (n, refused, wrong_errno, error))


def allocations():
    """The n-th allocation of a request fails, for each n."""
    if not can_fail():
        say("allocations: this kernel has no faults to order")
        return
    build()
    box(4, RATE)
    ip("S", "link set p4 nomaster")
    ip("S", "link add z8 type zvnic peer name g8")
    ip("S", "link add v8 type zvtap")
    ip("S", "link set v8 up")
    nl = Netlink(names["S"])
    zs0 = index_of(names["S"], "zs0")

    def link(*attrs):
        return lambda: nl.ask(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfo(0, 0, IFF_UP, IFF_UP) + b"".join(attrs))

    def gone(name):
        return lambda: nl.ask(RTM_DELLINK, 0, ifinfo(0) + attr(IFLA_IFNAME, name))

    def master(name, of):
        return lambda: nl.ask(RTM_NEWLINK, 0, ifinfo(index_of(names["S"], name)) + attr(IFLA_MASTER, of))

    peer = vnic_peer(ifinfo(0, 0, IFF_UP, IFF_UP), attr(IFLA_IFNAME, "g9"))
    each_allocation("a switch", "zswitch", link(attr(IFLA_IFNAME, "zs9"), linkinfo("zswitch")), gone("zs9"))
    each_allocation("a vNIC", "zvnic", link(attr(IFLA_IFNAME, "z9"), linkinfo("zvnic", peer)), gone("z9"))
    each_allocation("a machine's port", "zvtap", link(attr(IFLA_IFNAME, "v9"), linkinfo("zvtap")), gone("v9"))
    for dev in ("z8", "v8", "p4"):
        each_allocation("%s becomes a port" % dev, "zswitch", master(dev, zs0), master(dev, 0))
    ip("S", "link set z8 master zs0")
    request = (ndmsg(zs0) + attr(NDA_LLADDR, ether(mac(9))) + attr(NDA_IFINDEX, index_of(names["S"], "z8")))
    each_allocation("an address", "zswitch", lambda: nl.ask(RTM_NEWNEIGH, NLM_F_CREATE, request),
                    lambda: nl.ask(RTM_DELNEIGH, 0, request))
    path = "/dev/tap%d" % index_of(names["S"], "v8")
    opened = []

    def open_tap():
        try:
            opened.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        except OSError as e:
            return e.errno
        return 0
    each_allocation("a descriptor", "zvtap", open_tap, lambda: os.close(opened.pop()))
    nl.close()
    destroy()


def numbers_of(tap, got):
    for header, data in tap.read_all():
        if data[12:14] == b"\x88\xb5":
            got.append(tapfd.number_of(data))


def packets():
    """While allocations fail, each frame that is accepted arrives or is counted with its reason."""
    if not can_fail():
        say("packets: this kernel has no faults to order")
        return
    for module in MODULES:
        packets_of(module)


def packets_of(module):
    build("vlan-filtering on")
    for i in (0, 1):
        container(i, RATE)
    box(4, RATE)
    vm(10)
    vm(11)
    neighbours_and_machines()
    a, b = plug(10, offload=SEGMENTS), plug(11, offload=0)
    sinks = {i: Sink("C%d" % i if i < 4 else "R4") for i in (0, 1, 4)}
    faults(10, module)
    flows = [(Datagrams(node, addr(to), total=400, pace=0.0005).start(), to)
             for node, to in (("C0", 1), ("C1", 0), ("C0", 4), ("R4", 1))]
    many = Datagrams("C1", "10.0.0.255", total=100, pace=0.001).start()
    stream = Stream("C0", "C1", addr(1), 0, 1 << 20)
    got, sent = [], 0
    payload = random.randbytes(20000)
    tso = Header(NEEDS_CSUM, GSO_TCPV4, 54, 1448, 34, 16)

    def read():
        numbers_of(b, got)
        a.read_all()

    def worked(command):
        read()
        return not subprocess.run(command.split(), stderr=subprocess.DEVNULL).returncode

    for n in range(400):
        # A new port has new queues.  Without it frames are flooded, and machines have to read them.
        if n % 40 == 0:
            ip("S", "link set z1 nomaster")
            for command in ("ip -n %s link set z1 master zs0", "bridge -n %s fdb replace " + mac(1) + " dev zs0 via z1 static"):
                wait_until(lambda: worked(command % names["S"]), "memory is found", 10)
        sent += a.write(frame(mac(11), mac(10), n))
        if n % 10 == 0:
            a.write(eth4(mac(11), mac(10), tcp4(addr(10), addr(11), 4000, payload)), tso)
            a.write(frame(mac(1), mac(10), n, 300))
        read()
        time.sleep(0.001)

    def ended():
        read()
        return not any(f.thread.is_alive() for f in [many] + [f for f, _ in flows])
    wait_until(ended, "senders end", 10)
    done = [f.finish() for f, _ in flows] + [many.finish()]
    faults(0)
    whole = stream.finish()
    devs = ("z0", "z1", "p4", "v10", "v11")
    wait_until(lambda: numbers_of(b, got) is None and not unbalanced(devs), "%s: all went somewhere" % module, 5)
    lost = collections.Counter()
    for dev in devs:
        lost.update(drops(port(dev)))
    same("memory: %s: senders end, a stream arrives whole" % module, (done, whole), ([True] * 5, True))
    same("memory: %s: every frame is accounted for" % module, (unbalanced(devs), cee("S", "p4")["shared"]), ({}, 0))
    check("memory: %s: machines' frames arrive in order, %d of %d" % (module, len(got), sent),
          0 < len(got) <= sent <= 400 and got == sorted(set(got)), (len(got), sent))
    check("memory: %s: others too; lost, by reason: %s" % (module, dict(lost)),
          all(0 < sinks[to].of(f) <= 400 for f, to in flows) and not any(s.disorder for s in sinks.values()) and
          set(lost) <= {"drop_nomem", "drop_down"}, lost)
    if module == "zswitch":
        check("memory: zswitch: some were lost for that", lost["drop_nomem"] > 0, lost)
    if module == "zvtap":
        check("memory: zvtap: and %d that were to be cut" % device(11)[3], device(11)[3] > 0, device(11))
    for s in sinks.values():
        s.finish()
    end()


def neighbours_and_machines():
    neighbours()
    for i in vms:
        bridge("fdb replace %s dev zs0 via v%d static" % (mac(i), i))


# Random requests.

class Requests:
    """Requests of one round, by one socket, and their results by kind and errno"""

    def __init__(self, nl, devices):
        self.nl, self.devices, self.made = nl, devices, 0
        self.said = collections.defaultdict(collections.Counter)

    def ask(self, what, kind, flags, payload, keep=16):
        length = None
        payload = broken(payload, keep)
        if random.randrange(32) == 0:
            # The core ignores a message that is a header alone, and answers 0.
            length = random.randrange(17, len(payload) + 64)
        try:
            answer = self.nl.ask(kind, flags, payload, length)
        except OSError as e:
            answer = e.errno
        if answer is not None:
            self.said[what][answer] += 1

    def device(self):
        return random.choice(list(self.devices.values()))

    @staticmethod
    def general():
        """Attributes that any device has"""
        some = [attr(IFLA_MTU, random.choice((60, 1500, 9000, 65535, edge()))), attr(IFLA_TXQLEN, edge()),
                attr(IFLA_NUM_TX_QUEUES, random.randrange(40)), attr(IFLA_ADDRESS, random.randbytes(random.choice((6, 6, 6, 3)))),
                any_attrs(IFLA_LAST, 1)]
        return b"".join(random.sample(some, random.choice((0, 0, 1, 2))))

    def make(self):
        kind = random.choice(MODULES)
        data = [any_attrs(IFLA_ZSWITCH_LAST if kind == "zswitch" else IFLA_ZVNIC_LAST, 2)]
        if kind == "zvnic":
            data.append(vnic_peer(ifinfo(0, 0, random.choice((0, IFF_UP)), IFF_UP),
                             attr(IFLA_IFNAME, "peer%d" % random.randrange(8)), self.general()))
        self.ask("make " + kind, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
                 ifinfo(0, 0, random.choice((0, IFF_UP)), IFF_UP) + attr(IFLA_IFNAME, "any%d" % random.randrange(8)) +
                 self.general() + linkinfo(kind, *data))

    def change(self):
        kind = random.choice(MODULES)
        last = IFLA_ZSWITCH_LAST if kind == "zswitch" else IFLA_ZVNIC_LAST
        dev = random.choice([i for name, i in self.devices.items() if name[:2] == {"zswitch": "zs", "zvnic": "z0", "zvtap": "v1"}[kind]])
        self.ask("change " + kind, RTM_NEWLINK, 0, ifinfo(dev, 0, IFF_UP, random.choice((0, IFF_UP))) + self.general() +
                 linkinfo(kind, any_attrs(last, 3)))

    def port(self):
        self.ask("port", RTM_NEWLINK, 0, ifinfo(self.device()) +
                 linkinfo("zswitch_slave", any_attrs(IFLA_PORT_LAST, 3), slave=True))

    def master(self):
        self.ask("master", RTM_NEWLINK, 0, ifinfo(self.device()) + attr(IFLA_MASTER, random.choice((0, self.device(), edge()))))

    def delete(self):
        self.ask("delete", RTM_DELLINK, 0, ifinfo(0) + attr(IFLA_IFNAME, random.choice(("any%d", "peer%d")) % random.randrange(8)), 20)

    def address(self):
        kind = random.choice((RTM_NEWNEIGH, RTM_NEWNEIGH, RTM_DELNEIGH, RTM_GETNEIGH))
        lladdr = ether(mac(random.randrange(4)))
        payload = ndmsg(self.devices["zs0"] if random.randrange(4) else self.device(), edge() & 0xffff if random.getrandbits(1) else 0x40)
        if random.randrange(8):
            payload += attr(NDA_LLADDR, lladdr if random.getrandbits(1) else random.randbytes(random.randrange(10)))
        if random.getrandbits(1):
            payload += attr(NDA_IFINDEX, random.choice((self.device(), edge())))
        if random.randrange(4) == 0:
            payload += attr(NDA_VLAN, struct.pack("H", random.choice((1, 2, 4094, 4095, edge() & 0xffff))))
        flags = random.choice((NLM_F_CREATE, NLM_F_CREATE | NLM_F_EXCL, NLM_F_REPLACE, 0))
        name = {RTM_NEWNEIGH: "add address", RTM_DELNEIGH: "delete address", RTM_GETNEIGH: "get address"}[kind]
        self.ask(name, kind, flags | (NLM_F_DUMP if kind == RTM_GETNEIGH and random.getrandbits(1) else 0),
                 payload + any_attrs(NDA_LAST, 1), 12)

    def vlan(self):
        def info():
            vid = random.choice((0, 1, 2, 100, 4094, 4095, 4096, edge() & 0xffff))
            return attr(IFLA_BRIDGE_VLAN_INFO, struct.pack("HH", edge() & random.choice((2, 6, 0x1e, 0xffff)), vid))
        parts = [info() for _ in range(random.randrange(4))]
        if random.randrange(4) == 0:
            parts.insert(0, attr(IFLA_BRIDGE_FLAGS, struct.pack("H", random.randrange(4))))
        kind = random.choice((RTM_SETLINK, RTM_SETLINK, RTM_DELLINK))
        self.ask("add vlan" if kind == RTM_SETLINK else "delete vlan", kind, 0,
                 ifinfo(self.device(), socket.AF_BRIDGE) + nest(IFLA_AF_SPEC, *parts, any_attrs(BRIDGE_LAST, 1)))

    def get(self):
        self.ask("get", RTM_GETLINK, random.choice((0, NLM_F_DUMP)),
                 ifinfo(self.device(), random.choice((socket.AF_UNSPEC, socket.AF_BRIDGE))) + attr(IFLA_EXT_MASK, random.getrandbits(6)))

    def some(self, n):
        for _ in range(n):
            random.choice((self.make, self.change, self.port, self.master, self.delete, self.address, self.vlan, self.get))()


CHANGES = ["make " + m for m in MODULES] + ["change zswitch", "change zvnic", "port", "master", "delete", "add address",
                                            "delete address", "add vlan", "delete vlan"]


def unprivileged():
    """Requests by a process without any capability, in the switch's namespace"""
    with open("/run/netns/" + names["S"], encoding="ascii") as ns:
        libc.setns(ns.fileno(), 0)
    devices = {name: i for i, name in socket.if_nameindex()}
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    requests = Requests(Netlink(), devices)
    requests.some(1000)
    return " ".join("%s:%d" % (what.replace(" ", "_"), said[0]) for what, said in requests.said.items() if said[0])


def own_namespace():
    """Requests by root of a new user namespace: in its own network namespace, and into its parent's"""
    parent = os.getppid()
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        return "no user namespaces"
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", "0 %d 1" % NOBODY)
    write("/proc/self/gid_map", "0 %d 1" % NOBODY)
    nl = Netlink()
    peer = vnic_peer(ifinfo(0), attr(IFLA_IFNAME, "intruder"), attr(IFLA_NET_NS_PID, parent))
    into = nl.ask(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfo(0) + attr(IFLA_IFNAME, "z0") + linkinfo("zvnic", peer))
    nl.ask(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfo(0) + attr(IFLA_IFNAME, "zs0") + linkinfo("zswitch"))
    peer = vnic_peer(ifinfo(0), attr(IFLA_IFNAME, "eth0"))
    nl.ask(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfo(0) + attr(IFLA_IFNAME, "z0") + linkinfo("zvnic", peer))
    nl.ask(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfo(0) + attr(IFLA_IFNAME, "v1") + linkinfo("zvtap"))
    requests = Requests(nl, {name: i for i, name in socket.if_nameindex()})
    requests.some(1000)
    accepted = sum(said[0] for what, said in requests.said.items() if what in CHANGES)
    return "%s %d" % (errno.errorcode.get(into, into), accepted)


def strangers():
    """Delete the devices that a round has moved to this namespace"""
    for kind in MODULES:
        for line in run("ip -o link show type " + kind).splitlines():
            subprocess.run(["ip", "link", "del", line.split(":")[1].split("@")[0].strip()], stderr=subprocess.DEVNULL)


def requests_of_any_kind():
    said = collections.defaultdict(collections.Counter)

    def one_sided():
        return [what for what in CHANGES if not said[what][0] or not sum(n for e, n in said[what].items() if e)]
    # By chance it may take long until a request of each kind is accepted.
    rounds = 0
    while rounds < ROUNDS or (one_sided() and rounds < 10 * ROUNDS):
        rounds += 1
        build()
        container(0)
        container(1)
        vm(10)
        ip("S", "link add p2 type netwire peer name p3")
        ip("S", "link set p2 master zs0 up")
        nl = Netlink(names["S"])
        requests = Requests(nl, {dev: index_of(names["S"], dev) for dev in ("zs0", "z0", "z1", "v10", "p2", "p3")})
        requests.some(400)
        for what, counts in requests.said.items():
            said[what].update(counts)
        nl.close()
        end()
        strangers()
    for what, counts in sorted(said.items()):
        say("%s: %s" % (what, {errno.errorcode.get(e, e): n for e, n in counts.items()}))
    same("requests: of each kind some are accepted and some refused", one_sided(), [])
    build()
    container(0)
    container(1)
    vm(10)
    same("requests: without a capability nothing is changed", {w for w in as_child(unprivileged).split() if not w.startswith("get")}, set())
    answer = as_child(own_namespace)
    check("requests: root of a user namespace does as it likes in its own", answer and int(answer.split()[-1]) > 20, answer)
    same("requests: but puts no vNIC into another's", answer.split()[0], "EPERM")
    neighbours()
    sink = Sink("C1")
    flow = Datagrams("C0", addr(1), total=50).start()
    flow.finish()
    wait_until(lambda: sink.of(flow) == 50, "they arrive")
    check("requests: a switch made after all works", sink.whole(flow) and not wrong())
    sink.finish()
    end()


# Guests that lie.

def lie(packets):
    """A packet, and a header that may be false"""
    header = Header(random.choice((0, 1, 1, 2, 3, random.getrandbits(8))),
                    random.choice((0, GSO_TCPV4, GSO_TCPV4, GSO_UDP, GSO_TCPV6, GSO_UDP_L4, 0x80 | GSO_TCPV4, random.getrandbits(8))),
                    random.choice((0, 14, 34, 42, 54, 66, random.getrandbits(16))),
                    random.choice((0, 1, 8, 536, 1448, 1500, 65535, random.getrandbits(16))),
                    random.choice((0, 14, 34, 54, random.getrandbits(8), random.getrandbits(16))),
                    random.choice((0, 6, 16, random.getrandbits(16))))
    data = bytearray(random.choice(packets))
    for _ in range(random.choice((0, 0, 1, 3))):
        data[random.randrange(min(len(data), 70))] = random.getrandbits(8)
    if random.randrange(3) == 0:
        tag = struct.pack("!HH", random.choice((0x8100, 0x8100, 0x88a8)), random.getrandbits(16))
        data[12:12] = tag * random.choice((1, 1, 2, 10))
    return bytes(data[:random.choice((random.randrange(1, 120), 1514, 9000, 60000, 65549))]), header


def liar():
    """Frames with false headers go wherever frames go, and block no other port."""
    build()
    vm(10)
    vm(11)
    vm(12)
    container(0)
    container(1)
    box(4, RATE)
    neighbours_and_machines()
    ip("S", "address add 10.0.0.100/24 dev zs0")
    host = ip("S", "-br link show zs0").split()[2]
    a, whole, cut = plug(10), plug(11, offload=SEGMENTS), plug(12, offload=0)
    ports = [mac(0), mac(4), mac(11), mac(12), host, "ff:ff:ff:ff:ff:ff", mac(77)]
    packets_to = []
    for to in ports:
        for size in (100, 1400, 30000, 64000):
            payload = random.randbytes(size)
            packets_to += [eth4(to, mac(10), tcp4(addr(10), addr(0), 4000, payload)),
                           eth4(to, mac(10), ip4(addr(10), addr(0), udp(payload, 4000, 9, 0), 0, 0, 64, 1)),
                           ether(to) + ether(mac(10)) + b"\x86\xdd" + bytes.fromhex("60000000") +
                           struct.pack("!HBB", size + 20, random.choice((6, 17, 44)), 64) + random.randbytes(32) +
                           struct.pack("!HHIIBBHHH", 1, 2, 3, 4, 0x50, 0x10, 100, 0, 0) + payload,
                           frame(to, mac(10), 1, size)]
    sink = Sink("C1")
    honest = Datagrams("C0", addr(1), total=2000, pace=0.001).start()
    refused = taken = waited = 0
    for n in range(4000):
        data, header = lie(packets_to)
        try:
            if a.write(data, header):
                taken += 1
            else:
                waited += 1
                a.writable(1)
        except OSError:
            refused += 1
        if n % 8 == 0:
            for tap in (whole, cut):
                tap.read_all()
            time.sleep(0.001)

    devs = ("z0", "z1", "p4", "v10", "v11", "v12")
    wait_until(lambda: [t.read_all() for t in (a, whole, cut)] and not port("v10")["waiting"], "all went somewhere", 5)
    check("liar: %d of 4000 are refused, %d taken" % (refused, taken), refused > 100 and taken > 100, (refused, taken, waited))
    outs = {dev: port(dev)["out"] for dev in ("z0", "p4", "v11", "v12")}
    check("liar: they got as far as a container, a wire and machines: %s" % outs, all(outs.values()), outs)
    wait_until(lambda: a.read_all() is not None and sink.of(honest) == 2000, "an honest flow arrives", 10)
    done = honest.finish()
    same("liar: one beside it is whole", (done, sink.whole(honest)), (True, True))
    a.write(frame(mac(11), mac(10), 4711))
    wait_until(lambda: any(tapfd.number_of(f) == 4711 for _, f in whole.read_all() if len(f) > 18), "an honest frame")
    at_rest(devs, (a, whole, cut))
    same("liar: every frame is accounted for, and nothing stays charged", (unbalanced(devs), cee("S", "p4")["shared"]), ({}, 0))
    sink.finish()
    end()


def rewritten():
    """Checksums to be filled in over headers that the switch has checked, by a machine and a container's raw socket"""
    build()
    vm(10, slave="guard on")
    container(0, options="guard on")
    box(4, RATE)
    # The port fills in checksums that its wire does not.
    run("ip netns exec %s ethtool -K p4 tx off" % names["S"])
    neighbours_and_machines()
    a = plug(10)
    raw = inside(names["C0"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    # PACKET_VNET_HDR of SOL_PACKET
    raw.setsockopt(263, 15, 1)
    raw.bind(("eth0", 0))
    wire = inside(names["R4"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
    wire.bind(("e0", 3))
    wire.settimeout(0.5)
    by = {"v10": (10, a.write), "z0": (0, lambda data, header: raw.send(tapfd.HEADER.pack(*header) + data))}

    def came():
        """First bytes of each frame; a tag is delivered beside the frame"""
        got = []
        try:
            while True:
                data = wire.recv(2000)
                if data[6:12] != ether(mac(4)):
                    got.append(data[:42].hex())
        except socket.timeout:
            return got

    came()
    tag = struct.pack("!HH", 0x8100, 5)
    for dev, (i, write) in by.items():
        inner = ip4(addr(i), addr(4), udp(bytes(100), 4000, 9, 0), 0, 0, 64, 1)
        packet = eth4(mac(4), mac(i), inner)
        tagged = packet[:12] + tag + packet[12:]
        pause = ether("01:80:c2:00:77:77") + ether(mac(i)) + struct.pack("!HHH", 0x8808, 0x0101, 0xff) + bytes(60)
        # Over the destination of a pause frame, either half of the source, the type, and addresses and marks of IP
        lies = [(pause, 0, 4), (packet, 0, 6), (packet, 0, 10), (packet, 0, 12), (packet, 12, 0), (packet, 14, 1),
                (packet, 20, 6), (packet, 26, 0), (packet, 33, 0), (tagged, 18, 4), (tagged, 24, 6), (tagged, 37, 0)]
        before, refused = port(dev)["drop_malformed"], 0
        for data, start, at in lies:
            try:
                write(data, Header(NEEDS_CSUM, 0, 0, 0, start, at))
            except OSError:
                refused += 1
        same("rewritten: %s: %d sums over headers are refused by the kernel, all others dropped" % (dev, refused),
             (came(), port(dev)["drop_malformed"] - before), ([], len(lies) - refused))
        write(packet, Header(NEEDS_CSUM, 0, 0, 0, 34, 6))
        write(tagged, Header(NEEDS_CSUM, 0, 0, 0, 38, 6))
        whole = (packet[:40] + struct.pack("!H", checksum(packet[34:]))).hex()
        same("rewritten: %s: sums behind them are filled in" % dev, came(), [whole] * 2)
    raw.close()
    wire.close()
    end()


# Loops.

def cable(first, second, n, rate=RATE):
    """Cable number n between two switches of the namespace, lossless: devices a<n> and b<n>"""
    ip("S", "link add a%d type netwire rate %s delay 1us peer name b%d" % (n, rate, n))
    for dev, zs in (("a%d" % n, first), ("b%d" % n, second)):
        ip("S", "link set %s master %s up" % (dev, zs))
        tc("S", "qdisc replace dev %s root cee dscp 0-63:3%s" % (dev, ROOM))
    for dev in ("a%d" % n, "b%d" % n):
        wait_for_carrier(names["S"], dev)


def waiting(devs):
    return sum(p["waiting"] + p["backlog"] for p in map(port, devs))


def moved(devs):
    return [port(d)["out"] for d in devs]


def loop():
    """Two cables between two switches are a loop: flooded frames circulate until one is deleted."""
    if not VIRTUAL:
        say("loop: asks for links that are full, in virtual time alone")
        return
    build("flood-wait 100")
    ip("S", "link add zs1 type zswitch flood-wait 100")
    ip("S", "link set zs1 up")
    for i in (0, 1):
        container(i, RATE)
    for n in (1, 2):
        cable("zs0", "zs1", n, SLOW)
    neighbours()
    ip("S", "link set z1 nomaster")
    ip("S", "link set z1 master zs1")
    wait_for_carrier(names["C1"], "eth0")
    # A static address would be refused on its way back.
    bridge("fdb del %s dev zs0" % mac(0))
    ring = ("a1", "b1", "a2", "b2")
    devs = (*ring, "z0", "z1")
    sink = Sink("C1")
    Datagrams("C0", "10.0.0.255", total=1).start().finish()
    time.sleep(0.05)
    before = moved(ring)
    time.sleep(0.05)
    each = [b - a for a, b in zip(before, moved(ring))]
    check("loop: one broadcast goes round for ever: %r in 50 ms" % each, all(n > 20 for n in each), each)
    flow = Datagrams("C0", "10.0.0.255", pace=0.001).start()
    unknown = Datagrams("C0", "10.0.0.77", pace=0.001)
    ip("C0", "neighbour replace 10.0.0.77 lladdr %s nud permanent dev eth0" % mac(77))
    unknown.start()
    most = 0
    for _ in range(10):
        time.sleep(0.2)
        most = max(most, waiting(devs))
    check("loop: more of them fill both cables, no more than %d bytes wait" % most, 0 < most < 4 << 20, most)
    done = [f.finish(now=True) for f in (flow, unknown)]
    lost = [k for dev in devs for k in drops(port(dev))]
    check("loop: senders end; what the bounds have ended: %s" % sorted(set(lost)),
          done == [True] * 2 and set(lost) <= {"drop_flood", "drop_local"}, (done, lost))
    ip("S", "link del a2")
    wait_until(lambda: not waiting(("a1", "b1", "z0", "z1")), "it ends with the cable", 20)
    before = moved(("a1", "b1"))
    time.sleep(0.05)
    same("loop: without the second cable nothing moves, and nothing stays charged",
         (moved(("a1", "b1")), [cee("S", d)[k] for d in ("a1", "b1") for k in ("shared", "headroom", "overflow")]),
         (before, [0] * 6))
    sound = Datagrams("C0", addr(1), total=50).start()
    sound.finish()
    wait_until(lambda: sink.of(sound) == 50, "an honest flow arrives", 20)
    check("loop: the two switches work", sink.whole(sound))
    same("loop: every frame is accounted for", unbalanced(("a1", "b1", "z0", "z1")), {})
    sink.finish()
    destroy()


def chain():
    """A chain of switches, each one's wire on top of the next one's vNIC, as any root can build it: one nested call.

        g0 == z0 - zs0 - w0 upon g1 == z1 - zs1 - w1 upon g2 ...
    """
    build()
    links, length = [], 31
    for i in range(length):
        links += ["link add zs1%02d type zswitch" % i, "link set zs1%02d up" % i,
                  "link add z1%02d type zvnic peer name g%d" % (i, i), "link set z1%02d master zs1%02d up" % (i, i),
                  "link set g%d up" % i]
    for i in range(length - 1):
        links += ["link add link g%d name w%d type macvlan" % (i + 1, i), "link set w%d master zs1%02d up" % (i, i)]
    run("ip -n %s -batch -" % names["S"], links)
    # The core limits recursion through devices that have no queue.
    run("tc -n %s -batch -" % names["S"], ["qdisc add dev w%d root pfifo" % i for i in range(length - 1)])
    for i in range(length - 1):
        wait_for_carrier(names["S"], "w%d" % i)
    raw = inside(names["S"], lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    raw.bind(("g0", 0))
    before = [port("w%d" % i)["out"] for i in range(length - 1)]
    raw.send(frame("ff:ff:ff:ff:ff:ff", mac(1), 1, 200))
    raw.close()
    same("chain: three switches pass it on, the fourth one does not",
         ([port("w%d" % i)["out"] - n for i, n in enumerate(before)], [port("z1%02d" % i)["drop_qdisc"] for i in range(length)]),
         ([1] * 3 + [0] * (length - 4), [0] * 3 + [1] + [0] * (length - 4)))
    destroy()


def ring_of_switches():
    """Three switches in a ring, all frames go clockwise, by two cables each: buffers wait for each other.

        C0 --- zs0 a1 --- b1 zs1 --- C1     No frame comes back to where it was: static
               b3            a2             ways, nothing is learnt, nothing flooded.
                '--- a3 zs2 b2 --'--- C2
    """
    build("ageing 0")
    for zs in ("zs1", "zs2"):
        ip("S", "link add %s type zswitch ageing 0" % zs)
        ip("S", "link set %s up" % zs)
    for i in range(3):
        container(i)
    neighbours()
    for i in range(3):
        ip("S", "link set z%d nomaster" % i)
        ip("S", "link set z%d master zs%d" % (i, i))
    for i in range(3):
        wait_for_carrier(names["C%d" % i], "eth0")
        cable("zs%d" % i, "zs%d" % ((i + 1) % 3), i + 1, SLOW)
    for i in range(3):
        for dev in ("z%d" % i, "a%d" % (i + 1), "b%d" % (i + 1)):
            ip("S", "link set %s type zswitch_slave learning off flood off" % dev)
        for j in range(3):
            subprocess.run(("bridge -n %s fdb del %s dev zs%d" % (names["S"], mac(j), i)).split(), stderr=subprocess.DEVNULL)
            bridge("fdb replace %s dev zs%d via %s dynamic" % (mac(j), i, "z%d" % i if i == j else "a%d" % (i + 1)))


RING = ["%s%d" % (side, n) for side in "ab" for n in (1, 2, 3)]


def stuck_ring(way_out):
    """A ring of switches deadlocks until @way_out ends that."""
    if not VIRTUAL:
        say("ring: asks for links that are full, in virtual time alone")
        return
    ring_of_switches()
    for i in range(3):
        ip("S", "link set zs%d type zswitch wire-wait 0 virtual-wait 0" % i)
        # With equal weights no more frames would arrive for the next cable than leave by it.
        ip("S", "link set z%d type zswitch_slave weight 32" % i)
    for dev in RING:
        tc("S", "qdisc change dev %s root cee watchdog off" % dev)
    sinks = [Sink("C%d" % i) for i in range(3)]
    flows = [Datagrams("C%d" % i, addr((i + 2) % 3), sndbuf=4 << 20).start() for i in range(3) for _ in range(2)]
    clockwise = ("a1", "a2", "a3")

    def stands():
        before = moved(clockwise)
        time.sleep(0.1)
        return moved(clockwise) == before and all(port(d)["backlog"] for d in clockwise)
    wait_until(stands, "all stand", 4)
    before = moved(clockwise)
    time.sleep(0.5)
    same("ring, %s: without it nothing moves for 500 ms, nothing is lost" % way_out,
         (moved(clockwise), [drops(port(d)) for d in RING]), (before, [{}] * 6))
    # Frames that a watchdog drops take no time, so that senders would send for ever.
    for f in flows:
        f.stop = True
    if way_out == "wire-wait":
        for i in range(3):
            ip("S", "link set zs%d type zswitch wire-wait 200" % i)
    else:
        for dev in RING:
            tc("S", "qdisc change dev %s root cee watchdog 20ms action drop" % dev)
    wait_until(lambda: time.sleep(0.2) or all(now > then + 20 for now, then in zip(moved(clockwise), before)), "frames pass", 20)
    still = sum(port(d)["drop_still"] for d in RING)
    storms = sum(cee("S", d)["drop_watchdog"] for d in RING)
    check("ring, %s: ends it; given up: %d by the switch, %d by the watchdog" % (way_out, still, storms),
          (still and not storms) if way_out == "wire-wait" else (storms and not still), (still, storms))
    same("ring, %s: senders end" % way_out, [f.finish(now=True) for f in flows], [True] * 6)
    devs = [*RING, "z0", "z1", "z2"]
    wait_until(lambda: time.sleep(0.2) or not waiting(devs), "nothing waits", 30)
    time.sleep(0.05)
    lost = sum(sum(drops(port(d)).values()) for d in devs) + sum(cee("S", d)["drop_watchdog"] for d in RING)
    same("ring, %s: every frame arrives, or was given up and counted" % way_out,
         (sum(s.of(f) for s in sinks for f in flows) + lost, [s.disorder for s in sinks], unbalanced(devs)),
         (sum(f.sent for f in flows), [0] * 3, {}))
    same("ring, %s: nothing stays charged" % way_out, [cee("S", d)["shared"] for d in RING], [0] * 6)
    for s in sinks:
        s.finish()
    destroy()


def ring_bound():
    stuck_ring("wire-wait")


def ring_watchdog():
    stuck_ring("watchdog")


# Deletion of a namespace.

def buried():
    """The switch's namespace is deleted under the load of containers, machines and wires."""
    build()
    for i in (0, 1):
        container(i, RATE if i else None)
    box(4, RATE)
    vm(10)
    vm(11)
    neighbours_and_machines()
    a, b = plug(10), plug(11)
    flows = [Datagrams(node, to, pace=0.0005).start() for node in ("C0", "C1", "R4")
             for to in (addr(0), addr(1), addr(4), addr(10), "10.0.0.255")]
    stop = threading.Event()

    def load():
        n = 0
        while not stop.is_set():
            try:
                if not a.write(frame(random.choice((mac(11), mac(1), mac(4), "ff:ff:ff:ff:ff:ff")), mac(10), n, 500)):
                    a.writable(1)
            except OSError:
                # The tap's device was deleted.
                pass
            n += 1
            time.sleep(0.0005)
    writer = threading.Thread(target=load, daemon=True)
    writer.start()
    wait_until(lambda: port("z0")["in"] > 100 and port("v10")["in"] > 100 and port("p4")["in"] > 100, "all send")
    wait_until(lambda: b.readable(), "a machine has frames in its ring")
    run("ip netns del " + names.pop("S"))
    time.sleep(1)
    stop.set()
    writer.join(60)
    same("buried: senders end", ([f.finish(now=True) for f in flows], writer.is_alive()), ([True] * len(flows), False))
    wait_until(lambda: "eth0" not in ip("C0", "-o link show"), "containers' ends are gone", 20)
    check("buried: containers' ends are gone with it", True)
    wait_until(lambda: a.writable(), "the send buffer is free", 20)
    # The kernel's tap.c discards what is written to a device that is gone.
    same("buried: a machine has all of its send buffer again", send(a, [frame(mac(11), mac(10), n) for n in range(100)]), 100)
    for tap in list(taps):
        unplug(tap)
    vms.clear()
    destroy()


def unload():
    def gone():
        return not subprocess.run(["rmmod", "zvtap", "zvnic", "zswitch"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode
    wait_until(gone, "modules unload", 30)
    check("modules unload", True)
    run("modprobe -a zvnic zvtap")


PARTS = (allocations, packets, requests_of_any_kind, liar, rewritten, loop, chain, ring_bound, ring_watchdog, buried, unload)
# Number of results
PLAN = 5 + 4 + 4 + 3 + 1 + 1 + (22 if can_fail() else 0) + (16 if VIRTUAL else 0)


def main():
    chosen = run_parts(PARTS, PLAN, end)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
