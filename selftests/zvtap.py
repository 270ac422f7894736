#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zvtap at work: virtual machines played by this program, which reads and writes the
# descriptors of their taps as QEMU does.  Prints TAP.  zbed.py has the network.

import fcntl
import json
import os
import random
import struct
import subprocess
import sys
import threading
import time

import tapfd
from sch_cee import run_parts, verdict
from sch_ndp import check, checksum, inside, ip4, run, same, udp, wait_for_carrier, wait_until
from tapfd import (F_CSUM, F_ECN, F_TSO4, F_TSO6, F_USO4, F_USO6, GSO_TCPV4, GSO_UDP, GSO_UDP_L4, NEEDS_CSUM,
                   NO_LIMIT, PLAIN, Header, Tap, ether, frame, number_of)
from zbed import (Datagrams, Sink, addr, bridge, build, container, destroy, drops, ip, mac, names,
                  port, refused, switch)

# Bytes that a queue's socket may have in flight; the last frame may exceed them
SNDBUF = 256 << 10
# Frames a ring holds against credit, and one more that the port holds
CREDITS = 256 - 64
TAKEN = CREDITS + 1
SEGMENTS = F_CSUM | F_TSO4 | F_TSO6 | F_ECN
vms = []
taps = []

# In Linux 7.2 tap.c does not tell a device that its guest takes UDP segments: they are cut.
TAP_TELLS_USO = int(os.uname().release.split(".")[0]) < 7


def vm(i, options="", slave=""):
    """Port v<i> of virtual machine i."""
    ip("S", "link add v%d type zvtap" % i)
    ip("S", "link set v%d %s master zs0 up" % (i, options))
    if slave:
        ip("S", "link set v%d type zswitch_slave %s" % (i, slave))
    bridge("fdb replace %s dev zs0 via v%d static" % (mac(i), i))
    vms.append(i)


def plug(i, **how):
    """Open a descriptor of machine i; returns when the link is up."""
    index = json.loads(ip("S", "-j link show v%d" % i))[0]["ifindex"]
    tap = Tap("/dev/tap%d" % index, **how)
    taps.append(tap)
    wait_up(i)
    return tap


def is_up(i):
    return json.loads(ip("S", "-j link show v%d" % i))[0]["operstate"] == "UP"


def wait_up(i):
    wait_until(lambda: is_up(i), "carrier of v%d" % i)


def unplug(tap):
    taps.remove(tap)
    tap.close()


def end():
    for tap in list(taps):
        unplug(tap)
    vms.clear()
    destroy()


def device(i):
    """Counters of the device: sent and received by the machine, dropped"""
    s = json.loads(ip("S", "-s -j link show v%d" % i))[0]["stats64"]
    return s["tx"]["packets"], s["rx"]["packets"], s["tx"]["dropped"], s["rx"]["dropped"]


def switch_drops():
    return {i: drops(port("v%d" % i)) for i in vms if drops(port("v%d" % i))}


def all_counters():
    """Counters of all ports and of the switch, by device"""
    ports = {"v%d" % i: port("v%d" % i) for i in vms}
    ports.update({"z" + n[1:]: port("z" + n[1:]) for n in names if n[0] == "C"}, zs0=switch())
    return ports


def unaccounted(ports, gone):
    """The ports whose counters do not add up"""
    bad = {dev: p for dev, p in ports.items()
           if p["in"] + p["copies"] != p["passed"] + sum(drops(p).values()) or p.get("waiting") or p.get("backlog")
           or p["slept"] != p["woken"]}
    if not gone and sum(p["passed"] for p in ports.values()) != sum(p["out"] for p in ports.values()):
        bad["sums"] = ports
    return bad


def wrong(gone=False):
    """At rest every frame is accounted for.  @gone: a port was deleted, with its counters.

    The kernel's own frames, such as ARP's, may pass while ports are read one after the other: what is wrong at rest
    is so when they are read again."""
    ports, before = all_counters(), None
    while unaccounted(ports, gone) and ports != before:
        ports, before = all_counters(), ports
    return unaccounted(ports, gone)


def send(tap, frames, header=PLAIN):
    """Write frames until one would have to wait.  Return: how many were taken."""
    for n, data in enumerate(frames):
        if not tap.write(data, header):
            return n
    return len(frames)


def send_all(tap, frames):
    for data in frames:
        while not tap.write(data):
            tap.writable(10)


def frames_of(data):
    return [f for _, f in data]


def receive(tap, count, seconds=60):
    got = []
    wait_until(lambda: got.extend(tap.read_all()) or len(got) >= count, "%d frames, %d came" % (count, len(got)), seconds)
    return got


def in_order():
    """A machine sends to another, which reads as frames arrive."""
    build()
    vm(10)
    vm(11)
    same("a machine that nobody has started has no link", is_up(10), False)
    a, b = plug(10), plug(11)
    sent = [frame(mac(11), mac(10), n, random.randint(60, 1514)) for n in range(1500)]
    writer = threading.Thread(target=send_all, args=(a, sent), daemon=True)
    writer.start()
    got = receive(b, len(sent))
    writer.join(60)
    check("order: all arrive, to the byte and in order", frames_of(got) == sent, (len(got), len(sent)))
    p, q = port("v10"), port("v11")
    same("order: sent is in, is out, is received", (device(10)[0], p["in"], p["passed"], q["out"], device(11)[1]),
         (1500,) * 5)
    same("order: nothing is lost at any hop", (switch_drops(), wrong(), device(10)[2:], device(11)[2:]),
         ({}, {}, (0, 0), (0, 0)))
    end()


def waits():
    """A machine that reads nothing: its ring fills, then the switch, then the sender waits."""
    for size in (60, 1514):
        build()
        for i in (10, 11, 12):
            vm(i)
        a, b, c = plug(10), plug(11), plug(12)
        sent = [frame(mac(11), mac(10), n, size) for n in range(2000)]
        taken = send(a, sent)
        p = port("v11")
        check("waits: %d of %d bytes are taken, %d bytes wait in the switch" % (taken, size, p["backlog"]),
              taken < 1000 and p["backlog"] == max(taken - TAKEN, 0) * size and not a.writable(), (taken, p))
        # Another machine goes on meanwhile, and sends to a third.
        other = [frame(mac(12), mac(11), n, size) for n in range(300)]
        writer = threading.Thread(target=send_all, args=(b, other), daemon=True)
        writer.start()
        check("waits: others go on", frames_of(receive(c, 300)) == other)
        writer.join(60)
        # As the receiver reads, the sender goes on.
        got = []
        writer = threading.Thread(target=send_all, args=(a, sent[taken:]), daemon=True)
        writer.start()
        got = receive(b, len(sent))
        writer.join(60)
        check("waits: all arrive, to the byte and in order", frames_of(got) == sent, len(got))
        same("waits: nothing is lost", (switch_drops(), wrong(), device(10)[2:], device(11)[2:]),
             ({}, {}, (0, 0), (0, 0)))
        end()


def send_buffer():
    """QEMU asks for no limit by TUNSETSNDBUF; the ports' own bound holds."""
    build()
    vm(10)
    vm(11)
    a, b = plug(10), plug(11)
    sent = [frame(mac(11), mac(10), n) for n in range(1000)]
    bound = SNDBUF // 1514 + 1
    taken = send(a, sent)
    check("send buffer: %d frames are on their way" % taken, 50 < taken < bound, taken)
    same("send buffer: they arrive", len(receive(b, taken)), taken)
    a.sndbuf(NO_LIMIT)
    fcntl.ioctl(a.fd, tapfd.TUNSETOFFLOAD, SEGMENTS)
    taken = send(a, sent)
    check("send buffer: without limit, then the guest's offloads: %d" % taken, 50 < taken < bound, taken)
    same("send buffer: they arrive", len(receive(b, taken)), taken)
    a.sndbuf(NO_LIMIT)
    taken = send(a, sent)
    check("send buffer: without limit: %d" % taken, 50 < taken < bound, taken)
    same("send buffer: they arrive", len(receive(b, taken)), taken)
    same("send buffer: nothing is lost", (switch_drops(), wrong()), ({}, {}))
    end()


def killed():
    """A machine ends while frames for it and frames from it are queued."""
    build()
    for i in (10, 11, 12):
        vm(i)
    a, b, c = plug(10), plug(11), plug(12)
    sent = [frame(mac(11), mac(10), n, 60) for n in range(2000)]
    taken = send(a, sent)
    queued = send(b, [frame(mac(12), mac(11), n) for n in range(50)])
    check("killed: frames wait for it and of it", taken > CREDITS and queued == 50 and not a.writable())
    unplug(b)
    check("killed: its sender goes on", a.writable(60))
    wait_until(lambda: not is_up(11), "the link goes down")
    wait_until(lambda: not wrong(), "nothing waits")
    p = port("v10")
    same("killed: what waited for it is counted", (p["passed"], p["drop_down"], device(11)[1], device(11)[3]),
         (TAKEN, taken - TAKEN, 0, 1))
    same("killed: what it had sent arrives", len(receive(c, 50)), 50)
    send(a, sent[:10])
    same("killed: nothing is kept for it", port("v10")["drop_down"], taken - TAKEN + 10)
    b = plug(11)
    send_all(a, sent[:100])
    check("killed: when it is back, frames arrive", frames_of(receive(b, 100)) == sent[:100])
    end()


def deleted():
    """The port of a running machine is deleted, with frames in its ring."""
    build()
    vm(10)
    vm(11)
    a, b = plug(10), plug(11)
    sent = [frame(mac(11), mac(10), n, 60) for n in range(1000)]
    send(a, sent)
    ip("S", "link del v11")
    vms.remove(11)
    check("deleted: the sender goes on", a.writable(60))
    wait_until(lambda: not wrong(gone=True), "nothing waits")
    b.write(sent[0])
    busy = subprocess.run(["rmmod", "zvtap"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check("deleted: the module stays as long as a descriptor is open", busy.returncode != 0, busy.stdout)
    vm(11)
    c = plug(11)
    send_all(a, sent[:10])
    check("deleted: a new one of this name works", frames_of(receive(c, 10)) == sent[:10])
    end()


def tcp4(src, dst, sport, payload, partial=True):
    """A TCP segment over IPv4, with a checksum that is to be completed, or a whole one."""
    header = struct.pack("!HHIIBBHHH", sport, 5001, 1, 1, 5 << 4, 0x10, 1000, 0, 0)
    a, b = (bytes(map(int, x.split("."))) for x in (src, dst))
    pseudo = a + b + struct.pack("!BBH", 0, 6, len(header) + len(payload))
    if partial:
        value = ~checksum(pseudo) & 0xffff
    else:
        value = checksum(pseudo + header + payload)
    header = header[:16] + struct.pack("!H", value) + header[18:]
    return ip4(src, dst, header + payload, 0, 0, 64, 1, 6)


def good_tcp(packet):
    """Are a packet's IPv4 and TCP checksums right?"""
    total = struct.unpack_from("!H", packet, 2)[0]
    body = packet[20:total]
    pseudo = packet[12:20] + struct.pack("!BBH", 0, 6, len(body))
    return total == len(packet) and checksum(packet[:20]) == 0 and checksum(pseudo + body) == 0


def eth4(to, src, packet):
    return ether(to) + ether(src) + b"\x08\x00" + packet


def segments():
    """Large segments stay whole where the receiver takes them, else they are cut."""
    build()
    for i in (10, 11, 12, 13):
        vm(i)
    a = plug(10, offload=SEGMENTS)
    whole, cut, bare = plug(11, offload=SEGMENTS), plug(12, offload=0), plug(13, vnet=False)
    payload = random.randbytes(60000)
    tso = Header(NEEDS_CSUM, GSO_TCPV4, 54, 1448, 34, 16)
    for to in (11, 12, 13):
        a.write(eth4(mac(to), mac(10), tcp4(addr(10), addr(to), 4000, payload)), tso)
    (header, data), = receive(whole, 1)
    check("segments: 60 KB stay one", data[54:] == payload and header.gso == GSO_TCPV4 and header.gso_size == 1448
          and header.flags == NEEDS_CSUM, header)
    for name, tap in (("without offloads", cut), ("without headers", bare)):
        got = receive(tap, 42)
        check("segments: %s: cut, checksums are right" % name,
              len(got) == 42 and b"".join(f[54:] for _, f in got) == payload
              and all(good_tcp(f[14:]) and h.gso == 0 and h.flags == 0 for h, f in got), (len(got), got[0][0]))
    # A packet of which only the checksum is to be completed.
    data = eth4(mac(12), mac(10), tcp4(addr(10), addr(12), 4000, b"x" * 100))
    a.write(data, Header(NEEDS_CSUM, 0, 54, 0, 34, 16))
    (header, got), = receive(cut, 1)
    check("segments: a checksum is completed", good_tcp(got[14:]) and header.flags == 0, header)
    p = port("v10")
    same("segments: nothing is lost", (switch_drops(), wrong(), p["in"], device(13)[1]), ({}, {}, 4, 42))
    end()


def segments_udp():
    """UDP segmentation offload, which older kernels do not know."""
    build()
    for i in (10, 11, 12):
        vm(i)
    a, cut = plug(10), plug(12, offload=SEGMENTS)
    try:
        whole = plug(11, offload=SEGMENTS | F_USO4 | F_USO6)
    except OSError:
        whole = None
    payload = random.randbytes(14000)
    datagram = udp(payload, 4000, 5001, 0)
    pseudo = bytes([10, 0, 0, 11, 10, 0, 0, 13, 0, 17]) + struct.pack("!H", len(datagram))
    datagram = datagram[:6] + struct.pack("!H", ~checksum(pseudo) & 0xffff) + datagram[8:]
    packet = ip4(addr(10), addr(12), datagram, 0, 0, 64, 1)
    uso = Header(NEEDS_CSUM, GSO_UDP_L4, 42, 1400, 34, 6)
    try:
        a.write(eth4(mac(12), mac(10), packet), uso)
        known = True
    except OSError:
        known = False
    if known:
        got = receive(cut, 10)
        check("udp: cut where it is not taken", len(got) == 10 and b"".join(f[42:] for _, f in got) == payload
              and all(h.gso == 0 for h, _ in got), (len(got), got[0][0]))
    else:
        check("udp: this kernel refuses what it does not know", True)
    if known and whole:
        a.write(eth4(mac(11), mac(10), packet), uso)
        frames, gso = (1, GSO_UDP_L4) if TAP_TELLS_USO else (10, 0)
        got = receive(whole, frames)
        check("udp: stays one where it is", b"".join(f[42:] for _, f in got) == payload
              and [h.gso for h, _ in got] == [gso] * frames, (len(got), got[0][0]))
    else:
        check("udp: nobody offers to take it", not whole)
    # UDP fragmentation offload, which no receiver takes any more
    fragments = Header(NEEDS_CSUM, GSO_UDP, 42, 1400, 34, 6)
    a.write(eth4(mac(12), mac(10), packet), fragments)
    got = receive(cut, 10)
    total = b"".join(f[34:] for _, f in got)
    check("udp: fragments are cut", len(total) == len(datagram) and total[8:] == payload
          and all(h.gso == 0 for h, _ in got), (len(got), len(total)))
    # Fragments of a byte each take a hundred times the datagram's memory: those beyond the bound are lost.
    taken = device(10)[0]
    a.write(eth4(mac(12), mac(10), packet), fragments._replace(gso_size=1))
    sent, lost = device(10)[0] - taken, device(10)[2]
    check("udp: of fragments of a byte %d are taken, %d are lost" % (sent, lost),
          sent + lost == len(datagram) and 2 * SNDBUF / 2000 < sent < 2 * SNDBUF / 500, (sent, lost, len(datagram)))
    same("udp: those that are taken arrive", len(receive(cut, sent)), sent)
    same("udp: nothing is lost in the switch", (switch_drops(), wrong()), ({}, {}))
    end()


def lied():
    p = port("v10")
    return device(10)[2] + p["drop_guard"] + p["drop_malformed"]


def lies():
    """Frames that no honest machine sends."""
    build()
    vm(10, slave="guard on")
    vm(11)
    a, b = plug(10), plug(11, offload=SEGMENTS)
    payload = random.randbytes(30000)
    packet = eth4(mac(11), mac(10), tcp4(addr(10), addr(11), 4000, payload))
    tso = Header(NEEDS_CSUM, GSO_TCPV4, 54, 1448, 34, 16)
    bad = [
        ("a segment longer than the MTU", packet, tso._replace(gso_size=9000)),
        ("a frame longer than the MTU", packet[:4000], PLAIN),
        ("UDP that says it is TCP", eth4(mac(11), mac(10), ip4(addr(10), addr(11), udp(payload, 1, 2, 0), 0, 0, 64, 1)),
         tso._replace(flags=0)),
        ("a length of nothing", packet, tso._replace(gso_size=0)),
        ("a length of next to nothing", packet, tso._replace(gso_size=1)),
        ("a type that does not exist", packet, tso._replace(gso=9)),
        ("a checksum beyond the end", packet[:100], Header(NEEDS_CSUM, 0, 0, 0, 60000, 16)),
        ("headers longer than the frame", packet[:100], Header(0, 0, 5000, 0, 0, 0)),
        ("less than a header", b"x" * 13, PLAIN),
        ("a source of many", ether(mac(11)) + b"\xff" * 6 + b"\x08\x00" + b"x" * 100, PLAIN),
        ("another's address", frame(mac(11), mac(11), 1), PLAIN),
        ("IPv6 that says it is IPv4", packet[:12] + b"\x86\xdd" + packet[14:], tso._replace(flags=0)),
    ]
    for what, data, header in bad:
        before = lied()
        try:
            a.write(data, header)
            refused_it = 0
        except OSError:
            refused_it = 1
        same("lies: %s: refused, or dropped and counted" % what, (lied() - before + refused_it, b.read()), (1, None))
    for _ in range(3000):
        header = Header(random.choice((0, 1, 1, 2)), random.choice((0, 1, 1, 3, 4, 5, 0x81, random.getrandbits(8))),
                        random.choice((0, 54, random.getrandbits(16))), random.choice((8, 1448, random.getrandbits(16))),
                        random.choice((0, 34, random.getrandbits(8))), random.choice((6, 16, random.getrandbits(16))))
        size = random.choice((60, 1514, 9000, 60000))
        data = bytearray(packet[:size])
        if random.getrandbits(1):
            for _ in range(3):
                data[random.randrange(12, 60)] = random.getrandbits(8)
        try:
            if not a.write(bytes(data), header):
                b.read_all()
        except OSError:
            pass
    b.read_all()
    wait_until(lambda: b.read_all() is not None and not wrong(), "all went somewhere")
    a.write(frame(mac(11), mac(10), 77))
    check("lies: an honest frame arrives behind 3000 others", [f for f in frames_of(receive(b, 1)) if number_of(f) == 77])
    end()


def queues():
    """Several queues: each flow has one, and keeps its order."""
    build()
    vm(10)
    vm(11)
    a = plug(10)
    many = [plug(11, multi=True) for _ in range(4)]
    sent = {}
    for n in range(600):
        flow = n % 40
        packet = ip4(addr(10), addr(11), udp(struct.pack("!I", n) + random.randbytes(random.randint(0, 1000)), 4000 + flow, 5001, 0),
                     0, 0, 64, 1)
        sent.setdefault(flow, []).append(eth4(mac(11), mac(10), packet))
    order = [sent[n % 40][n // 40] for n in range(600)]
    writer = threading.Thread(target=send_all, args=(a, order), daemon=True)
    writer.start()
    got = [[] for _ in many]

    def read_all():
        for tap, into in zip(many, got):
            into += frames_of(tap.read_all())
        return sum(map(len, got)) == 600
    wait_until(read_all, "all arrive")
    writer.join(60)
    flows = [{f[34:36] for f in g} for g in got]
    check("queues: each of them is used", all(got), [len(g) for g in got])
    check("queues: a flow has one", sum(map(len, flows)) == 40, [len(f) for f in flows])
    merged = {}
    for g in got:
        for f in g:
            merged.setdefault(struct.unpack_from("!H", f, 34)[0] - 4000, []).append(f)
    check("queues: all arrive, each flow in order", merged == sent)

    # A queue that is detached, or closed, gives back the frames in its ring.
    last = frame(mac(11), mac(10), 1)
    for what in ("detached", "closed"):
        taken = send(a, order)
        check("queues: the sender waits", taken < 600 and not a.writable())
        if what == "detached":
            for tap in many[1:3]:
                tap.set_flags(tapfd.TUNSETQUEUE, tapfd.IFF_DETACH_QUEUE)
        else:
            for tap in many[1:]:
                unplug(tap)
        reading = many[:1] + many[3:] if what == "detached" else many[:1]
        left = 0

        def all_back():
            nonlocal left
            left += sum(len(t.read_all()) for t in reading)
            return a.write(last) and not wrong()
        wait_until(all_back, "%s: the sender goes on" % what)
        check("queues: %s: %d of %d were read, the sender goes on" % (what, left, taken), left < taken)
        many[0].read_all()
        if what == "detached":
            for tap in many[1:3]:
                tap.set_flags(tapfd.TUNSETQUEUE, tapfd.IFF_ATTACH_QUEUE)
    send_all(a, order[:100])
    same("queues: the one that is left gets all", len(receive(many[0], 100)), 100)
    same("queues: nothing is lost in the switch", (switch_drops(), wrong()), ({}, {}))
    end()


def many_queues():
    """All 32 queues of a machine are full of segments for a stalled receiver."""
    build()
    vm(10)
    container(1, "1kbit")
    bridge("fdb replace %s dev zs0 via z1 static" % mac(1))
    wait_for_carrier(names["S"], "z1")
    payload = random.randbytes(60000)
    tso = Header(NEEDS_CSUM, GSO_TCPV4, 54, 1448, 34, 16)
    packet = eth4(mac(1), mac(10), tcp4(addr(10), addr(1), 4000, payload))
    sent = 0
    for tap in [plug(10, multi=True) for _ in range(32)]:
        # Not endlessly: frames that are lost would make room for more.
        sent += send(tap, [packet] * 20, tso)
    waiting = port("v10")["waiting"]
    check("many queues: %d packets wait, %d bytes" % (sent, waiting), waiting > 4 << 20, (sent, port("v10")))
    same("many queues: nothing is lost", switch_drops(), {})
    ip("S", "link set z1 type zvnic rate 1gbit")
    wait_until(lambda: port("z1")["out"] == sent and not wrong(), "all have gone there", 20)
    same("many queues: all have gone there", (switch_drops(), wrong()), ({}, {}))
    end()


def nobody():
    """All queues are detached for a while: frames wait, and nothing is lost."""
    build()
    vm(10)
    vm(11)
    a, b = plug(10), plug(11, multi=True)
    b.set_flags(tapfd.TUNSETQUEUE, tapfd.IFF_DETACH_QUEUE)
    sent = [frame(mac(11), mac(10), n) for n in range(50)]
    same("nobody: frames are taken", send(a, sent), 50)
    same("nobody: they wait in the switch", port("v11")["backlog"], 50 * 1514)
    b.set_flags(tapfd.TUNSETQUEUE, tapfd.IFF_ATTACH_QUEUE)
    check("nobody: and arrive", frames_of(receive(b, 50)) == sent)
    end()


def containers():
    """A container's sockets and a machine, both ways."""
    build()
    container(0)
    vm(10)
    bridge("fdb replace %s dev zs0 via z0 static" % mac(0))
    ip("C0", "neighbour replace %s lladdr %s nud permanent dev eth0" % (addr(10), mac(10)))
    tap = plug(10)
    wait_for_carrier(names["C0"], "eth0")
    flow = Datagrams("C0", addr(10), total=1000, sndbuf=100000).start()
    # The machine does not read: the socket's own buffer bounds what is in flight.
    wait_until(lambda: 10 < flow.sent < 1000, "the sender has begun")
    time.sleep(0.3)
    stuck = flow.sent
    time.sleep(0.3)
    check("containers: a machine that takes nothing makes the socket wait (%d sent)" % stuck, flow.sent == stuck < 200)
    got = receive(tap, 1000)
    flow.finish()
    same("containers: all arrive in order", [struct.unpack_from("!I", f, 46)[0] for _, f in got], list(range(1000)))
    sink = Sink("C0")
    sent = [eth4(mac(0), mac(10), ip4(addr(10), addr(0), udp(struct.pack("!II", 7, n) + random.randbytes(1000), 4000, 7000, 0),
                                      0, 0, 64, 1)) for n in range(1000)]
    send_all(tap, sent)
    wait_until(lambda: sink.got.get(7) == 1000, "all arrive")
    same("containers: and the other way", (sink.disorder, switch_drops(), wrong()), (0, {}, {}))
    sink.finish()
    end()


def host_itself():
    """Packets that the host itself sends by a machine's port are dropped."""
    build()
    vm(10)
    vm(11)
    plug(10)
    b = plug(11)
    ip("S", "address add 10.0.9.1/24 dev v10")
    ip("S", "neighbour replace 10.0.9.2 lladdr %s nud permanent dev v10" % mac(11))

    def send_one():
        import socket
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"x", ("10.0.9.2", 9))
    inside(names["S"], send_one)
    wait_until(lambda: device(10)[2] == 1, "it is dropped")
    same("host: what it sends by a machine's port is dropped", (port("v10")["in"], b.read()), (0, None))
    end()


def options():
    """Options that are not valid are refused with a reason."""
    build()
    vm(10)
    check("options: a ring that is too short", "128" in (refused("ip link add v1 txqueuelen 100 type zvtap") or ""))
    check("options: an address of many", "unicast" in (refused("ip link add v1 address 01:00:00:00:00:01 type zvtap") or ""))
    same("options: a longer one while nobody has it open", refused("ip link set v10 txqueuelen 512"), None)
    a = plug(10)
    check("options: while it is open it stays", refused("ip link set v10 txqueuelen 1024") is not None)
    vm(11)
    sent = [frame(mac(10), mac(11), n, 60) for n in range(300)]
    other = plug(11)
    taken = send(other, sent)
    check("options: a longer ring holds more", taken > TAKEN and port("v10")["backlog"] == 0, (taken, port("v10")))
    same("options: all arrive", len(receive(a, taken)), taken)
    run("ip -n %s link set v10 nomaster" % names["S"])
    check("options: without a switch there is no link", not is_up(10) or wait_until(lambda: not is_up(10), "link down") is None)
    ip("S", "link set v10 master zs0")
    bridge("fdb replace %s dev zs0 via v10 static" % mac(10))
    wait_up(10)
    send_all(other, sent[:20])
    same("options: and with it again there is", len(receive(a, 20)), 20)
    end()


def churn():
    """Ports, descriptors and the switch come and go under load."""
    build()
    for i in (10, 11, 12):
        vm(i)
    source = plug(10)
    stop = threading.Event()

    def load():
        n = 0
        while not stop.is_set():
            if not source.write(frame(random.choice((mac(11), mac(12), "ff:ff:ff:ff:ff:ff")), mac(10), n, 200)):
                source.writable(1)
            n += 1
            # Otherwise virtual time would not advance.
            time.sleep(0.0002)
    writer = threading.Thread(target=load, daemon=True)
    writer.start()
    for _ in range(40):
        what = random.randrange(5)
        i = random.choice((11, 12))
        if what == 0:
            for tap in [t for t in taps if t is not source]:
                unplug(tap)
        elif what == 1:
            plug(i, multi=True)
        elif what == 2:
            ip("S", "link set v%d down" % i)
            time.sleep(0.01)
            ip("S", "link set v%d up" % i)
        elif what == 3:
            ip("S", "link set v%d nomaster" % i)
            time.sleep(0.01)
            ip("S", "link set v%d master zs0" % i)
            bridge("fdb replace %s dev zs0 via v%d static" % (mac(i), i))
        else:
            ip("S", "link del v%d" % i)
            vms.remove(i)
            vm(i)
        for tap in taps:
            if tap is not source and random.getrandbits(1):
                tap.read_all()
        time.sleep(0.03)
    stop.set()
    writer.join(60)
    check("churn: the sender has come to its end", not writer.is_alive())
    ip("S", "link del zs0")
    end()
    same("churn: no descriptor is left", held(), [])
    wait_until(unloads, "the module goes")
    check("churn: the module goes", True)
    run("modprobe zvtap")


def held():
    """Taps that this program has open"""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink("/proc/self/fd/" + name))
        except FileNotFoundError:
            # It was the descriptor of the directory itself.
            pass
    return [path for path in found if "/tap" in path]


def unloads():
    return subprocess.run(["rmmod", "zvtap"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode == 0


PARTS = (in_order, waits, send_buffer, killed, deleted, segments, segments_udp, lies, queues, many_queues, nobody, containers,
         host_itself, options, churn)
# Number of results
PLAN = 82


def main():
    chosen = run_parts(PARTS, PLAN, end)
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
