# SPDX-License-Identifier: GPL-2.0
#
# Requests to rtnetlink by this process itself: well-formed ones, or with random attributes.

import os
import random
import socket
import struct

from sch_ndp import inside

RTM_NEWLINK, RTM_DELLINK, RTM_GETLINK, RTM_SETLINK = 16, 17, 18, 19
RTM_NEWNEIGH, RTM_DELNEIGH, RTM_GETNEIGH = 28, 29, 30
NLM_F_REQUEST, NLM_F_ACK, NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 1, 4, 0x100, 0x200, 0x400
NLM_F_DUMP = 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLA_F_NESTED = 0x8000
IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_MASTER, IFLA_TXQLEN, IFLA_LINKINFO = 1, 3, 4, 10, 13, 18
IFLA_NET_NS_PID, IFLA_AF_SPEC, IFLA_EXT_MASK, IFLA_NUM_TX_QUEUES = 19, 26, 29, 31
IFLA_INFO_KIND, IFLA_INFO_DATA, IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA = 1, 2, 4, 5
IFLA_BRIDGE_FLAGS, IFLA_BRIDGE_VLAN_INFO = 0, 2
NDA_LLADDR, NDA_VLAN, NDA_IFINDEX = 2, 5, 8
NTF_SELF, NUD_NOARP, NUD_PERMANENT, NUD_REACHABLE = 2, 0x40, 0x80, 2
IFF_UP = 1


def attr(kind, data):
    if isinstance(data, int):
        data = struct.pack("I", data)
    elif isinstance(data, str):
        data = data.encode() + b"\0"
    return struct.pack("HH", len(data) + 4, kind) + data + bytes(-len(data) % 4)


def nest(kind, *attrs):
    return attr(kind | NLA_F_NESTED, b"".join(attrs))


def linkinfo(kind, *data, slave=False):
    names = (IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA) if slave else (IFLA_INFO_KIND, IFLA_INFO_DATA)
    return nest(IFLA_LINKINFO, attr(names[0], kind), nest(names[1], *data))


def ifinfo(index=0, family=socket.AF_UNSPEC, flags=0, change=0):
    return struct.pack("BxHiII", family, 0, index, flags, change)


def ndmsg(index, state=NUD_NOARP, flags=NTF_SELF):
    return struct.pack("BxxxiHBB", socket.AF_BRIDGE, index, state, flags, 0)


class Netlink:
    """A netlink socket in a namespace, or in this thread's own."""

    def __init__(self, ns=None):
        def make():
            return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.sock = inside(ns, make) if ns else make()
        # The kernel answers before a request returns.
        self.sock.setblocking(False)
        self.number = random.getrandbits(30)

    def ask(self, kind, flags, payload, length=None):
        """Return: 0, or the errno of the refusal; None if there is no answer"""
        # With a wrong length, the rest of a message may be taken for another request, with another number.
        self.number += 1
        message = struct.pack("IHHII", length or len(payload) + 16, kind, NLM_F_REQUEST | NLM_F_ACK | flags, self.number, 0) + payload
        self.sock.send(message)
        answer = None
        while True:
            try:
                data = self.sock.recv(1 << 20)
            except BlockingIOError:
                return answer
            _, said, _, number = struct.unpack_from("IHHI", data)
            if number != self.number:
                continue
            if said == NLMSG_ERROR and len(data) >= 20:
                answer = -struct.unpack_from("i", data, 16)[0]
            elif said not in (NLMSG_ERROR, NLMSG_DONE) or answer is None:
                answer = answer or 0

    def close(self):
        self.sock.close()


def index_of(ns, dev):
    return inside(ns, lambda: socket.if_nametoindex(dev))


def edge():
    """Numbers at boundaries, and others"""
    return random.choice((random.getrandbits(32), random.randrange(16), random.randrange(256), -random.randrange(1, 16) % 2**32,
                          random.choice((0, 1, 64 << 10, 256 << 10, 1 << 20, 4095, 4096, 1500, 0x7fffffff, 0x80000000, 2**32 - 1))))


def any_attr(last):
    """An attribute of any type up to one beyond the last, and of any length"""
    size = random.choice((1, 1, 2, 4, 4, 4, 8, 8, random.randrange(64)))
    value = b"".join(struct.pack("I", edge()) for _ in range(size // 4 + 1))[:size]
    return attr(random.randrange(last + 2) | random.choice((0, 0, 0, NLA_F_NESTED, 0x4000)), value)


def any_attrs(last, most=5):
    return b"".join(any_attr(last) for _ in range(random.randrange(most + 1)))


def broken(data, keep):
    """Half of the time the data as it is, else with some bytes behind the first @keep changed, or cut"""
    if random.getrandbits(1) or len(data) <= keep:
        return data
    data = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        data[random.randrange(keep, len(data))] = random.choice((random.randrange(32), edge() & 255))
    return bytes(data[:random.randrange(keep, len(data))] if random.randrange(8) == 0 else data)


def as_child(work):
    """Run work() in a process of its own.  Return: what it returns, a string."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(reading)
            os.write(writing, work().encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    return said if os.waitpid(child, 0)[1] == 0 else None
