#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# What sch_ndp does with packets, checked to the byte.  Prints TAP.
#
#	 S                 R                        D
#	 s0 ------------ r0 r1 [ndp] -------------- d0
#	 10.0.0.2  10.0.0.1 10.0.1.1          10.0.1.2
#
# S makes whole frames, R forwards them into the qdisc under test, D captures
# what leaves it; S captures what is returned.  The expected trimmed and returned
# packets are built here from the specification, field by field, and compared as
# a whole.
#
# A rate of 1 kbit/s stalls a port: the first packet leaves, and the next one
# only long after the test has filled the queues and released them by a higher
# rate.

import contextlib
import ctypes
import hashlib
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time

ETH_P_ALL = 3
PACKET_OUTGOING = 4
SOL_UDP, UDP_SEGMENT = 17, 103
SO_MAX_PACING_RATE = 47
DATA, TRIMMED, CONTROL = 3, 7, 11
BOUNCED = 0x20
PORT = 13141
HELD, OPEN = "1kbit", "1gbit"
HOLDING = 60000
# User-mode Linux in virtual time: waiting costs nothing.
VIRTUAL = os.path.exists("/proc/exitcode")
# Factor of time limits: a machine may be slow
PATIENCE = 1 if VIRTUAL else 5

# Number of results
PLAN = 90

libc = ctypes.CDLL(None, use_errno=True)
tag = "%d" % os.getpid()
S, R, D = "s-" + tag, "r-" + tag, "d-" + tag
DEVICES = ((S, "s0"), (R, "r0"), (R, "r1"), (D, "d0"))
MAC = {"s0": "02:00:00:00:00:01", "r0": "02:00:00:00:00:02", "r1": "02:00:00:00:00:03", "d0": "02:00:00:00:00:04"}
ADDR_S, ADDR_D = "10.0.0.2", "10.0.1.2"

results = []


def say(text):
    print("# " + str(text).replace("\n", "\n# "), flush=True)


def check(name, good, why=""):
    results.append(bool(good))
    if not good:
        say(why)
    print("%sok %d %s" % ("" if good else "not ", len(results), name), flush=True)


def skip(name, why):
    results.append(True)
    print("ok %d %s # SKIP %s" % (len(results), name, why), flush=True)


def left_out(name, count, why):
    """Skip a part of so many results."""
    for i in range(count):
        skip("%s, result %d" % (name, i + 1), why)


def exact(name, good, why=""):
    """A check that a slow machine may fail: only where time is virtual."""
    if VIRTUAL:
        check(name, good, why)
    else:
        skip(name, "time is not virtual")


def same(name, got, wanted):
    check(name, got == wanted, "got %r, wanted %r" % (got, wanted))


def run(command, lines=None):
    """@lines: input of a program that reads commands, as "ip -batch -" does."""
    p = subprocess.run(command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       input="\n".join(lines) if lines is not None else None)
    if p.returncode:
        raise RuntimeError("%s: %s" % (command, p.stdout))
    return p.stdout


def inside(ns, function):
    """Call the function with this thread in a namespace."""
    with open("/proc/self/ns/net") as home, open("/run/netns/" + ns) as there:
        if libc.setns(there.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns")
        try:
            return function()
        finally:
            libc.setns(home.fileno(), 0)


def wait_until(condition, what, limit=60):
    """
    Only a failure waits to the limit: where time is real, for five times as many seconds.
    Polls get rarer with time, since many conditions start a program.
    """
    begin = time.monotonic()
    while not condition():
        waited = time.monotonic() - begin
        if waited > limit * PATIENCE:
            raise RuntimeError("not in time: " + what)
        time.sleep(min(max(0.02, waited / 10), 0.5))


def forwarded():
    """IPv4 packets that R has forwarded."""
    names, values = (line.split() for line in inside(R, lambda: open("/proc/net/snmp").readlines()[:2]))
    return int(values[names.index("ForwDatagrams")])


def wait_for_carrier(ns, dev):
    """The carrier comes up asynchronously; until then all that is sent is dropped."""
    wait_until(lambda: json.loads(run("ip -n %s -j link show %s" % (ns, dev)))[0]["operstate"] == "UP",
               "carrier of " + dev)


def build_network(queues=1):
    for ns in (S, R, D):
        run("ip netns add " + ns)
        for path, value in (("ipv6/conf/all/disable_ipv6", 1), ("ipv6/conf/default/disable_ipv6", 1),
                            ("ipv4/ip_forward", 1), ("ipv4/conf/all/rp_filter", 0),
                            ("ipv4/conf/default/rp_filter", 0)):
            inside(ns, lambda: open("/proc/sys/net/" + path, "w").write(str(value)))
    q = "numtxqueues %d numrxqueues %d" % (queues, queues)
    run("ip link add s0 netns %s %s type veth peer name r0 netns %s %s" % (S, q, R, q))
    run("ip link add r1 netns %s %s type veth peer name d0 netns %s %s" % (R, q, D, q))
    for ns, dev, addr in ((S, "s0", "10.0.0.2"), (R, "r0", "10.0.0.1"), (R, "r1", "10.0.1.1"), (D, "d0", "10.0.1.2")):
        run("ip -n %s link set %s address %s up" % (ns, dev, MAC[dev]))
        run("ip -n %s address add %s/24 dev %s" % (ns, addr, dev))
    run("ip -n %s route add default via 10.0.0.1" % S)
    run("ip -n %s route add default via 10.0.1.1" % D)
    for ns, dev, addr, peer in ((S, "s0", "10.0.0.1", "r0"), (R, "r0", "10.0.0.2", "s0"),
                                (R, "r1", "10.0.1.2", "d0"), (D, "d0", "10.0.1.1", "r1")):
        run("ip -n %s neighbour replace %s lladdr %s nud permanent dev %s" % (ns, addr, MAC[peer], dev))
    for ns, dev in DEVICES:
        wait_for_carrier(ns, dev)


def set_mtu(mtu):
    for ns, dev in DEVICES:
        run("ip -n %s link set %s mtu %d" % (ns, dev, mtu))


@contextlib.contextmanager
def held_for_minutes():
    """
    Decorator of a part whose first packet has HOLDING bytes.  It leaves at once, and its size tells
    how long the others are held: eight minutes.  A slow machine takes longer for such a part than
    the 12 s of 1500 bytes.
    """
    set_mtu(65535)
    yield
    set_mtu(1500)


def destroy_network():
    for ns in (S, R, D):
        subprocess.run(["ip", "netns", "del", ns], stderr=subprocess.DEVNULL)


def tc(args):
    return run("tc -n %s %s" % (R, args))


def port(args="", parent="root"):
    tc("qdisc replace dev r1 %s handle 10: ndp rate %s %s" % (parent, HELD, args))


def fresh(args=""):
    subprocess.run(["tc", "-n", R, "qdisc", "del", "dev", "r1", "root"], stderr=subprocess.DEVNULL)
    port(args)


def release(parent="root"):
    tc("qdisc change dev r1 %s handle 10: ndp rate %s" % (parent, OPEN))


def qdisc():
    return json.loads(tc("-s -j qdisc show dev r1 handle 10:"))[0]


# Internet checksum, and headers after RFC 791, 768 and the wire format.

def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def ip4(src, dst, payload, dscp, ecn, ttl, ident, proto=17, frag=0):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, dscp << 2 | ecn, 20 + len(payload), ident, frag, ttl, proto, 0,
                       socket.inet_aton(src), socket.inet_aton(dst))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ip6(src, dst, payload, dscp, ecn, first=17):
    return struct.pack("!IHBB16s16s", 6 << 28 | (dscp << 2 | ecn) << 20 | 0x12345, len(payload), first, 63,
                       socket.inet_pton(socket.AF_INET6, src), socket.inet_pton(socket.AF_INET6, dst)) + payload


def udp(payload, sport, dport=PORT, check=0):
    return struct.pack("!HHHH", sport, dport, 8 + len(payload), check) + payload


def ndp(addresses, psn, length, flags=1, kind=1, conn=0x1122334455667788):
    """addresses: both, as bytes; the order does not matter to the checksum."""
    head = struct.pack("!BBHHHQIHHII", 1 << 5 | kind, flags, 0, 4000, 5000, conn, psn, psn & 7, length, psn, 65536)
    return head[:2] + struct.pack("!H", checksum(addresses + head)) + head[4:]


class Packet:
    """An NDP packet and what becomes of it."""

    def __init__(self, psn, size=1400, ecn=0, check=0, flags=1, kind=1, dscp=DATA, v6=False, conn=0x1122334455667788,
                 extension=(17, b"")):
        self.psn, self.size, self.ecn, self.check, self.flags, self.kind = psn, size, ecn, check, flags, kind
        self.dscp, self.v6, self.conn = dscp, v6, conn
        self.first, self.extension = extension     # IPv6 extension header: its number and its bytes
        self.sport = 49152 + psn
        self.payload = random.randbytes(size)
        self.crc = random.randbytes(4) if size else b""
        self.src, self.dst = ("fd00::1", "fd00::2") if v6 else (ADDR_S, ADDR_D)

    def ip(self, cut=False, back=False, ttl=64, dscp=None, ecn=None):
        family = socket.AF_INET6 if self.v6 else socket.AF_INET
        both = socket.inet_pton(family, self.src) + socket.inet_pton(family, self.dst)
        body = ndp(both, self.psn, self.size, self.flags | (BOUNCED if back else 0), self.kind, self.conn) + self.crc
        if not cut:
            body += self.payload
        src, dst = (self.dst, self.src) if back else (self.src, self.dst)
        dscp = dscp if dscp is not None else TRIMMED if cut else self.dscp
        ecn = self.ecn if ecn is None else ecn
        u = udp(body, self.sport, check=0 if cut else self.check)
        return ip6(src, dst, self.extension + u, dscp, ecn, self.first) if self.v6 else ip4(src, dst, u, dscp, ecn, ttl, self.psn + 1)

    def frame(self, src, dst, **how):
        return mac(MAC[dst]) + mac(MAC[src]) + (b"\x86\xdd" if self.v6 else b"\x08\x00") + self.ip(**how)

    def offered(self):
        return self.frame("s0", "r0")

    def whole(self, **how):
        return self.frame("r1", "d0", ttl=63, **how)

    def trimmed(self):
        return self.frame("r1", "d0", cut=True, ttl=63)

    def returned(self):
        """The returned header as R receives it on r1."""
        return self.frame("d0", "r1", cut=self.size > 0, back=True, ttl=64)

    def home(self):
        """The returned header as S receives it."""
        return self.frame("r0", "s0", cut=self.size > 0, back=True, ttl=63)


def other_frame(number, size=1400, tos=0, proto=253, frag=0):
    body = struct.pack("!I", number) + b"\xee" * (size - 4)
    return mac(MAC["r0"]) + mac(MAC["s0"]) + b"\x08\x00" + ip4(
        ADDR_S, ADDR_D, body, tos >> 2, tos & 3, 64, number + 1, proto, frag)


class Capture:
    def __init__(self, ns, dev):
        self.sock = inside(ns, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUFFORCE if hasattr(socket, "SO_RCVBUFFORCE") else 33, 32 << 20)
        self.sock.bind((dev, ETH_P_ALL))

    def clear(self):
        self.read(0)

    def read(self, quiet=0.3, count=None, limit=60):
        """Incoming frames, until count have arrived and then no more for quiet seconds."""
        frames, end = [], time.monotonic() + limit
        while time.monotonic() < end:
            wait = quiet if count is None or len(frames) >= count else end - time.monotonic()
            if not select.select([self.sock], [], [], max(wait, 0))[0]:
                break
            frame, address = self.sock.recvfrom(65536)
            # ICMP errors of hosts that do not expect these packets are not the port's.
            if address[2] != PACKET_OUTGOING and frame[12:14] + frame[23:24] != b"\x08\x00\x01":
                frames.append(frame)
        return frames


def identities(x):
    cut = x["trimmed_arrival"] + x["trimmed_tail"]
    return (x["data_in"] == x["data_sent"] + x["data_len"] + cut + x["drop_data"] and
            x["header_in"] + cut == x["header_sent"] + x["header_len"] + x["bounced"] + x["drop_header"] and
            x["other_in"] == x["other_sent"] + x["other_len"] + x["drop_other"] and
            x["qlen"] == x["data_len"] + x["header_len"] + x["other_len"])


def show(frames):
    """The order of frames; d, h, o: data, header, other."""
    return "".join("o" if f[23] != 17 else "h" if f[15] >> 2 != DATA else "d" for f in frames)


def compare(name, got, wanted):
    """Compare as multisets; shows the first surplus and the first lacking frame."""
    got, wanted = sorted(got), sorted(wanted)
    surplus = [f.hex() for f in got if f not in wanted][:1]
    lacking = [f.hex() for f in wanted if f not in got][:1]
    check("%s (%d frames)" % (name, len(wanted)), got == wanted and wanted,
          "got %d, wanted %d\nsurplus %s\nlacking %s" % (len(got), len(wanted), surplus, lacking))


class Test:
    def __init__(self):
        # With sockets on the port no host sends ICMP errors, which would be traffic.
        self.deaf = [inside(ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for ns in (S, D)]
        for sock in self.deaf:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("0.0.0.0", PORT))
        self.out = inside(S, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
        self.out.bind(("s0", 0))
        self.mid = inside(R, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
        self.mid.bind(("r1", 0))
        self.at_d, self.at_s, self.at_r = Capture(D, "d0"), Capture(S, "s0"), Capture(R, "r1")

    def clear(self):
        for c in (self.at_d, self.at_s, self.at_r):
            c.clear()

    def send(self, frames, sock=None):
        """Send into the port: forwarded by R, or directly if a socket in R is given."""
        before, n = forwarded(), 0
        for f in frames:
            (sock or self.out).send(f)
            n += 1
        time.sleep(0.1)
        wait_until(lambda: sock or forwarded() >= before + n, "R forwards %d frames" % n)

    def overload(self, limit):
        fresh("limit %d hdr_limit 2000" % limit)
        self.clear()
        count = limit + 21
        packets = [Packet(n, ecn=n % 4 and 2, check=0xbeef if n % 5 == 0 else 0) for n in range(count)]
        self.send(p.offered() for p in packets)
        x = qdisc()
        same("limit %d: queue full, rest trimmed" % limit,
             (x["data_in"], x["data_len"], x["trimmed_arrival"] + x["trimmed_tail"], x["header_len"],
              x["header_len_bytes"]), (count, limit, 20, 20, 20 * 78))
        check("limit %d: both sides of the coin" % limit, x["trimmed_arrival"] and x["trimmed_tail"], x)
        check("limit %d: sums while queued" % limit, identities(x), x)
        release()
        frames = self.at_d.read(count=count)
        x = qdisc()
        check("limit %d: sums when drained" % limit, identities(x) and not x["qlen"] and not x["backlog"], x)
        short = [f for f in frames if len(f) < 200]
        cut = {struct.unpack("!I", f[58:62])[0] for f in short}
        compare("limit %d: trimmed to the byte" % limit, short, [p.trimmed() for p in packets if p.psn in cut])
        compare("limit %d: others whole" % limit, [f for f in frames if len(f) >= 200],
                [p.whole() for p in packets if p.psn not in cut])
        same("limit %d: sent" % limit, (x["data_sent"], x["header_sent"], x["header_sent_bytes"]),
             (limit + 1, 20, 20 * 78))

    def order(self):
        fresh("limit 8")
        self.clear()
        self.send(Packet(n).offered() for n in range(49))
        release()
        same("ten headers, one data", show(self.at_d.read(count=49)),
             "d" + ("h" * 10 + "d") * 4 + "d" * 4)
        fresh("limit 8 hdr_weight 2")
        self.clear()
        self.send(Packet(n).offered() for n in range(19))
        release()
        same("two headers, one data", show(self.at_d.read(count=19)), "d" + "hhd" * 5 + "ddd")

    @held_for_minutes()
    def bounce(self):
        fresh("limit 2 hdr_limit 256")
        self.clear()
        packets = [Packet(n, size=1400 if n else HOLDING, ecn=n & 1) for n in range(30)]
        self.send(p.offered() for p in packets)
        x = qdisc()
        same("full header queue returns headers", (x["header_len"], x["bounced"], x["drop_header"]), (3, 24, 0))
        check("bounce: sums", identities(x), x)
        back = self.at_r.read(count=24)
        gone = {struct.unpack("!I", f[58:62])[0] for f in back}
        same("bounce: each one once", len(gone), 24)
        compare("bounce: as the port gets it back", back, [p.returned() for p in packets if p.psn in gone])
        compare("bounce: as the sender gets it", self.at_s.read(count=24),
                [p.home() for p in packets if p.psn in gone])
        already = [Packet(100 + n, flags=1 | BOUNCED, dscp=TRIMMED) for n in range(2)]
        control = [Packet(200 + n, size=0, kind=2, dscp=CONTROL) for n in range(2)]
        self.send([p.frame("s0", "r0", cut=True) for p in already] + [p.offered() for p in control])
        x = qdisc()
        same("never returned: BOUNCED, control",
             (x["bounced"], x["drop_header"], x["drop_bounce"], x["header_in"]), (24, 4, 4, 4))
        same("bounce: nothing more comes back", self.at_s.read(), [])
        numbered = [Packet(300, size=0), Packet(301, size=0, kind=6, dscp=CONTROL)]
        self.send(p.offered() for p in numbered)
        x = qdisc()
        same("an opening and FIN are returned",
             (x["bounced"], x["drop_header"], x["drop_bounce"], x["header_in"]), (26, 4, 4, 6))
        compare("bounce: they as the sender gets them", self.at_s.read(count=2), [p.home() for p in numbered])
        check("bounce: sums at the end", identities(x), x)
        fresh("limit 2 hdr_limit 256 overflow drop")
        self.clear()
        self.send(p.offered() for p in packets)
        x = qdisc()
        same("overflow drop", (x["bounced"], x["drop_header"], x["drop_bounce"], x["drops"]), (0, 24, 0, 24))
        check("overflow drop: sums", identities(x), x)
        same("overflow drop: nothing comes back", self.at_s.read(), [])

    def classes(self):
        fresh("limit 1")
        self.clear()
        frames = [other_frame(0), other_frame(1, proto=17), other_frame(2, tos=DATA << 2),
                  other_frame(3, tos=DATA << 2, proto=17, frag=0x2000), other_frame(4, tos=CONTROL << 2, size=200),
                  other_frame(5, tos=TRIMMED << 2, size=200), Packet(6).offered()[:36] + b"\x12\x34" + Packet(6).offered()[38:]]
        self.send(frames)
        x = qdisc()
        same("other: no code point, no UDP, fragment, long control, other port",
             (x["other_in"], x["data_in"], x["header_in"]), (len(frames), 0, 0))
        small = [Packet(10, size=0), Packet(11, size=0, kind=2, dscp=CONTROL), Packet(12, size=1)]
        self.send(p.offered() for p in small)
        x = qdisc()
        same("no payload: a header; one byte: data", (x["data_in"], x["header_in"]), (1, 2))
        self.clear()
        release()
        got = [f for f in self.at_d.read(count=9) if f[23] == 17 and f[36:38] == struct.pack("!H", PORT)]
        compare("and all arrive as they were", got, [p.whole() for p in small])

    def raw(self):
        """Directly into the port: IPv6 and its extension headers, VLAN."""
        fresh("limit 1")
        self.clear()
        packets = [Packet(n, v6=True, ecn=2, check=0x1234) for n in range(12)]
        self.send((p.frame("r1", "d0") for p in packets), self.mid)
        release()
        short = [f for f in self.at_d.read(count=12) if len(f) < 200]
        cut = {struct.unpack("!I", f[78:82])[0] for f in short}
        same("IPv6: all but two trimmed", len(cut), 10)
        compare("IPv6: trimmed to the byte", short,
                [p.frame("r1", "d0", cut=True) for p in packets if p.psn in cut])
        # Destination options; a segment list; a whole packet with a fragment header.
        for name, number, extension in (("options", 60, b"\x11\0\x01\x04\0\0\0\0"),
                                        ("a segment", 43, b"\x11\x02\x04\0\0\0\0\0" + b"\xfd" * 16),
                                        ("an atomic fragment", 44, b"\x11\0\0\0\0\0\0\x07")):
            fresh("limit 1")
            self.clear()
            packets = [Packet(n, size=1300, v6=True, extension=(number, extension)) for n in range(12)]
            self.send((p.frame("r1", "d0") for p in packets), self.mid)
            x = qdisc()
            same("IPv6 with %s: trimmed" % name, (x["header_len"], x["drop_header"]), (10, 0))
            release()
            at = 78 + len(extension)
            short = [f for f in self.at_d.read(count=12) if len(f) < 200]
            cut = {struct.unpack("!I", f[at:at + 4])[0] for f in short}
            compare("IPv6 with %s: to the byte" % name, short,
                    [p.frame("r1", "d0", cut=True) for p in packets if p.psn in cut])
        # Headers that are too long, fragments, and chains without an end are other traffic.
        for name, number, extension in (("many segments", 43, b"\x11\x06\x04" + b"\0" * 53),
                                        ("a first fragment", 44, b"\x11\0\0\x01\0\0\0\x07"),
                                        ("a later fragment", 44, b"\x11\0\x01\x00\0\0\0\x07"),
                                        ("endless options", 60, b"\x11\xff" + b"\0" * 6)):
            fresh("limit 1")
            self.clear()
            self.send((Packet(n, size=1300, v6=True, extension=(number, extension)).frame("r1", "d0") for n in range(12)),
                      self.mid)
            x = qdisc()
            same("IPv6 with %s: other" % name, (x["other_in"], x["data_in"]), (12, 0))
            release()
            same("IPv6 with %s: whole" % name, sum(len(f) > 1300 for f in self.at_d.read(count=12)), 12)
        fresh("limit 1")
        self.clear()
        packets = [Packet(n) for n in range(12)]
        self.send((p.whole()[:12] + b"\x81\x00\x00\x05" + p.whole()[12:] for p in packets), self.mid)
        x = qdisc()
        same("VLAN: trimmed behind its tag", (x["header_len"], x["header_len_bytes"]), (10, 820))
        release()
        short = [f for f in self.at_d.read(count=12) if len(f) < 200]
        cut = {struct.unpack("!I", f[58:62])[0] for f in short}
        compare("VLAN: trimmed to the byte", short, [p.trimmed() for p in packets if p.psn in cut])

    def shares(self):
        for weights, wanted in (("", (1, 1)), ("weight 3", (3, 1)), ("other_weight 2", (1, 2))):
            fresh("limit 60 other_limit 60 " + weights)
            self.clear()
            # The same size on the wire: 20 + 8 + 36 + 1400 and 20 + 1444.
            self.send(f for n in range(60) for f in (Packet(n).offered(), other_frame(n, 1444)))
            release()
            seen = show(self.at_d.read(count=120))[1:61]
            ratio, ideal = seen.count("d") / 60, wanted[0] / sum(wanted)
            check("share of NDP with '%s': %.2f of %.2f" % (weights, ratio, ideal),
                  abs(ratio - ideal) < 0.07, seen)
        fresh("limit 8 hdr_limit 20000 other_limit 20")
        self.clear()
        self.send(Packet(n, size=1300).offered() for n in range(200))
        self.send(other_frame(n) for n in range(30))
        x = qdisc()
        same("other: its own limit", (x["other_len"], x["drop_other"]), (20, 10))
        check("other: sums", identities(x), x)
        release()
        seen = show(self.at_d.read(count=220))
        first = seen.index("o" * 2) if "oo" in seen else seen.index("o")
        check("other: not starved by headers", seen[:100].count("o") >= 3, "%s (%d)" % (seen, first))

    def ecn(self):
        fresh("limit 8 ecn 2 other_limit 8 other_ecn 3")
        self.clear()
        packets = [Packet(n, ecn=(0, 2, 1)[n % 3]) for n in range(9)]
        self.send(p.offered() for p in packets)
        self.send(other_frame(n, tos=2) for n in range(8))
        # Depth seen by packet n > 0 is n - 1: marked from 2 on, if it is ECT.
        marked = [n for n in range(9) if n >= 3 and n % 3]
        x = qdisc()
        same("ECN: counted", (x["ecn_data"], x["ecn_other"]), (len(marked), 5))
        release()
        frames = self.at_d.read(count=17)
        compare("ECN: the right packets marked, to the byte", [f for f in frames if f[23] == 17],
                [p.whole(ecn=3) if p.psn in marked else p.whole() for p in packets])
        same("ECN: other marked", sum(f[15] & 3 == 3 for f in frames if f[23] != 17), 5)

    def gso(self):
        fresh("limit 64")
        release()
        src = inside(R, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        dst = inside(D, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        dst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        dst.bind((ADDR_D, PORT))
        dst.settimeout(10)
        src.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DATA << 2)
        src.setsockopt(SOL_UDP, UDP_SEGMENT, 1000)
        sent = random.randbytes(8000)
        before = qdisc()
        src.sendto(sent, (ADDR_D, PORT))
        got = b"".join(dst.recv(2000) for _ in range(8))
        x = qdisc()
        same("GSO UDP: arrives whole", hashlib.sha256(got).hexdigest(), hashlib.sha256(sent).hexdigest())
        same("GSO UDP: judged by segment", (x["data_in"] - before["data_in"], x["gso_segmented"] - before["gso_segmented"]),
             (8, 1))
        check("GSO UDP: sums", identities(x) and not x["backlog"], x)
        listener = inside(D, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        listener.bind((ADDR_D, 7000))
        listener.listen(1)
        sent = random.randbytes(1 << 20)
        client = inside(R, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        client.settimeout(60)
        client.connect((ADDR_D, 7000))
        server, _ = listener.accept()
        writer = threading.Thread(target=lambda: (client.sendall(sent), client.close()))
        writer.start()
        got = b""
        while True:
            piece = server.recv(1 << 16)
            if not piece:
                break
            got += piece
        writer.join()
        y = qdisc()
        same("GSO TCP: arrives whole", hashlib.sha256(got).hexdigest(), hashlib.sha256(sent).hexdigest())
        check("GSO TCP: segmented and counted", y["gso_segmented"] > x["gso_segmented"] and
              y["other_in"] - x["other_in"] >= (1 << 20) // 1460 and identities(y) and not y["backlog"], y)

    def round_robin(self, a, b):
        """The order in which packets of connections a and b, others and control leave."""
        fresh("mode host limit 30 other_limit 10")
        self.clear()
        self.send(Packet(n, conn=a).offered() for n in range(21))
        self.send(Packet(100 + n, conn=b).offered() for n in range(5))
        self.send(other_frame(n) for n in range(5))
        self.send(Packet(200 + n, size=0, kind=3, dscp=CONTROL).offered() for n in range(3))
        release()
        frames = self.at_d.read(count=34)
        return "".join("h" if f[15] >> 2 == CONTROL else "o" if f[23] != 17 else
                       "a" if f[50:58] == struct.pack("!Q", a) else "b" for f in frames)

    def host(self):
        def fair(flow):
            return all(abs(flow[4:19].count(k) - 5) <= 1 for k in "abo") and flow[-10:] == "a" * 10
        flow = self.round_robin(0x0102030405060708, 0x1112131415161718)
        same("host: control right behind what was on its way", flow[:4], "ahhh")
        if not fair(flow):
            # Once in 1024 times both share a hash bucket.
            flow = self.round_robin(0x2122232425262728, 0x3132333435363738)
        check("host: round robin among connections and the rest", fair(flow), flow)
        fresh("mode host limit 8 other_limit 4")
        self.clear()
        packets = [Packet(n) for n in range(20)]
        self.send(p.offered() for p in packets)
        self.send(other_frame(n) for n in range(6))
        x = qdisc()
        same("host: limits drop, nothing trimmed", (x["data_len"], x["drop_data"], x["trimmed_arrival"], x["trimmed_tail"],
                                                    x["header_len"], x["other_len"], x["drop_other"], x["bounced"]),
             (8, 11, 0, 0, 0, 4, 2, 0))
        check("host: sums", identities(x), x)
        release()
        got = [f for f in self.at_d.read(count=13) if f[23] == 17]
        compare("host: the rest whole", got, [p.whole() for p in packets[:9]])

    def paced(self):
        """A socket that sends next to nothing, by its own pacing rate, acknowledges in time."""
        fresh("mode host")
        release()
        listener = inside(D, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        listener.bind((ADDR_D, 7001))
        listener.listen(1)
        client = inside(R, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        client.settimeout(60)
        client.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Reset when closed: a paced FIN would hold the namespace.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.connect((ADDR_D, 7001))
        server, _ = listener.accept()
        # The first ten segments are not paced, the next one takes 1000 s.
        for size in [1] * 10 + [1000]:
            client.sendall(bytes(size))
            while size:
                size -= len(server.recv(size))
        server.settimeout(60)
        sent, got = random.randbytes(1 << 20), b""

        def work():
            try:
                server.sendall(sent)
            except OSError:
                # The data was not acknowledged.
                pass

        writer = threading.Thread(target=work)
        writer.start()
        try:
            while len(got) < len(sent):
                got += client.recv(1 << 16)
        except socket.timeout:
            pass
        x = qdisc()
        client.close()
        writer.join()
        server.close()
        listener.close()
        check("host: a socket paced to 1 byte/s acknowledges in time", got == sent and not x["drop_other"], (len(got), x))

    def unprivileged_control(self, count):
        """Small packets with control's code point, from a user of R without privileges."""
        def flood():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, CONTROL << 2)
            for _ in range(count):
                sock.sendto(bytes(40), (ADDR_D, PORT))

        child = os.fork()
        if not child:
            try:
                inside(R, flood)
                os._exit(0)
            finally:
                os._exit(1)
        same("host: a user may send %d packets as control" % count, os.waitpid(child, 0)[1], 0)

    @held_for_minutes()
    def not_starved(self):
        for options, weight in ("mode host", 10), ("mode host hdr_weight 3", 3):
            fresh(options)
            self.clear()
            self.send([Packet(4, size=HOLDING).offered()])
            self.unprivileged_control(100)
            same("host: they wait as control does", qdisc()["header_len"], 100)
            self.send(f for n in range(4) for f in (Packet(n).offered(), other_frame(n)))
            release()
            seen = show(self.at_d.read(count=109))
            same("host: of control %d packets for one other" % weight,
                 seen.replace("o", "d"), "d" + ("h" * weight + "d") * 8 + "h" * (100 - 8 * weight))

    @held_for_minutes()
    def change(self):
        fresh("limit 8")
        self.clear()
        packets = [Packet(n, size=1400 if n else HOLDING) for n in range(9)]
        self.send(p.offered() for p in packets)
        tc("qdisc change dev r1 root handle 10: ndp limit 2 ")
        x = qdisc()
        same("a lower limit leaves the queue alone", (x["data_len"], x["trimmed_arrival"] + x["trimmed_tail"]), (8, 0))
        self.send([Packet(9).offered()])
        x = qdisc()
        same("and counts for what comes", (x["data_len"], x["trimmed_arrival"] + x["trimmed_tail"]), (8, 1))
        run("ip -n %s link set r1 down" % R)
        x = qdisc()
        check("a device that goes down drops, counted", identities(x) and not x["qlen"] and not x["backlog"] and
              x["drop_data"] == 8 and x["drop_header"] == 1, x)
        run("ip -n %s link set r1 up" % R)
        run("ip -n %s neighbour replace %s lladdr %s nud permanent dev r1" % (R, ADDR_D, MAC["d0"]))
        run("ip -n %s route replace 10.0.1.0/24 dev r1" % R)

    def death(self):
        """Deletion under traffic, of the qdisc and then of the namespace."""
        tc("qdisc del dev r1 root")
        stop = threading.Event()
        frames = [Packet(n).offered() for n in range(40)] + [other_frame(n) for n in range(8)]
        cut_off = []

        def flood():
            while not stop.is_set():
                for f in frames:
                    try:
                        self.out.send(f)
                    except OSError as e:
                        cut_off.append(e)
                        return
                # In virtual time nothing else happens while a thread is busy.
                time.sleep(0.0002)

        def flows():
            """Do packets arrive at the port, and more of them than it sends?"""
            before = qdisc()
            wait_until(lambda: qdisc()["data_in"] > before["data_in"] + 50, "traffic at the port")
            x = qdisc()
            return x["data_in"] - before["data_in"] > x["data_sent"] - before["data_sent"]

        floods = [threading.Thread(target=flood) for _ in range(2)]
        for t in floods:
            t.start()
        try:
            flowed = []
            for rounds in range(6):
                mode = "mode host" if rounds % 3 == 0 else "limit %d hdr_limit 200" % (rounds % 8 + 1)
                tc("qdisc add dev r1 root handle 10: ndp rate 1mbit " + mode)
                flowed.append(flows())
                tc("qdisc change dev r1 root ndp limit 3 rate 2mbit")
                flowed.append(flows())
                tc("qdisc del dev r1 root")
            same("added, changed and deleted under traffic", flowed, [True] * 12)
            tc("qdisc add dev r1 root handle 10: ndp rate 1mbit limit 8 hdr_limit 200")
            check("traffic before the namespace goes", flows())
            # The namespace lives for as long as there is a socket in it.
            self.mid.close()
            self.at_r.sock.close()
            run("ip netns del " + R)
            # The namespace's end of the cable is deleted with it, which ends the floods.
            for t in floods:
                t.join(60)
            same("namespace deleted under traffic, which ends by it", len(cut_off), len(floods))
        finally:
            stop.set()


def unload_modules(name, modules, limit=30):
    end = time.monotonic() + limit * PATIENCE
    while True:
        p = subprocess.run(["modprobe", "-r", *modules], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not p.returncode or time.monotonic() > end:
            break
        time.sleep(0.3)
    check(name, not p.returncode, p.stdout)


def test_all():
    """All tests with sockets, which keep namespaces and their devices alive until this returns."""
    t = Test()
    for limit in (1, 2, 8):
        t.overload(limit)
    for part in (t.order, t.bounce, t.classes, t.raw, t.shares, t.ecn, t.gso, t.host, t.paced, t.not_starved, t.change, t.death):
        part()


def main():
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    random.seed(seed)
    say("SEED=%d" % seed)
    print("1..%d" % PLAN, flush=True)
    try:
        build_network()
        test_all()
    finally:
        destroy_network()
    unload_modules("module unloads", ["sch_ndp"], 20)
    if len(results) != PLAN:
        say("planned %d results, gave %d" % (PLAN, len(results)))
    return 0 if all(results) and len(results) == PLAN else 1


if __name__ == "__main__":
    sys.exit(main())
