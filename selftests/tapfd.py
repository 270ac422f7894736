# SPDX-License-Identifier: GPL-2.0
#
# A virtual machine as the host sees it: descriptors of a tap, frames with virtio's headers.

import collections
import fcntl
import os
import select
import struct

TUNSETIFF, TUNSETOFFLOAD, TUNSETSNDBUF, TUNSETQUEUE = 0x400454ca, 0x400454d0, 0x400454d4, 0x400454d9
IFF_TAP, IFF_NO_PI, IFF_MULTI_QUEUE, IFF_VNET_HDR = 0x2, 0x1000, 0x100, 0x4000
IFF_ATTACH_QUEUE, IFF_DETACH_QUEUE = 0x200, 0x400
F_CSUM, F_TSO4, F_TSO6, F_ECN, F_USO4, F_USO6 = 0x1, 0x2, 0x4, 0x8, 0x20, 0x40
NEEDS_CSUM = 1
GSO_NONE, GSO_TCPV4, GSO_UDP, GSO_TCPV6, GSO_UDP_L4 = 0, 1, 3, 4, 5
NO_LIMIT = 0x7fffffff
HEADER = struct.Struct("=BBHHHH")
Header = collections.namedtuple("Header", "flags gso hdr_len gso_size start offset")
PLAIN = Header(0, GSO_NONE, 0, 0, 0, 0)
ETH_TEST = 0x88b5


def ether(mac):
    return bytes.fromhex(mac.replace(":", ""))


def frame(to, src, number, size=1514, kind=ETH_TEST):
    """A numbered frame of random bytes."""
    return ether(to) + ether(src) + struct.pack("!HI", kind, number) + os.urandom(size - 18)


def number_of(data):
    return struct.unpack_from("!I", data, 14)[0]


class Tap:
    """One descriptor of a tap."""

    def __init__(self, path, vnet=True, offload=None, multi=False):
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.vnet = vnet
        flags = IFF_TAP | IFF_NO_PI | (IFF_VNET_HDR if vnet else 0) | (IFF_MULTI_QUEUE if multi else 0)
        try:
            self.set_flags(TUNSETIFF, flags)
            if offload is not None:
                fcntl.ioctl(self.fd, TUNSETOFFLOAD, offload)
        except OSError:
            # An open descriptor would hold the module.
            self.close()
            raise

    def set_flags(self, request, flags):
        fcntl.ioctl(self.fd, request, struct.pack("16sH14x", b"", flags))

    def sndbuf(self, size):
        fcntl.ioctl(self.fd, TUNSETSNDBUF, struct.pack("i", size))

    def write(self, data, header=PLAIN):
        """Return: whether there was room."""
        try:
            os.write(self.fd, (HEADER.pack(*header) if self.vnet else b"") + data)
        except BlockingIOError:
            return False
        return True

    def read(self):
        """Return: header and frame, or None if there is nothing."""
        try:
            data = os.read(self.fd, 70000)
        except BlockingIOError:
            return None
        if not self.vnet:
            return PLAIN, data
        return Header(*HEADER.unpack_from(data)), data[HEADER.size:]

    def read_all(self):
        got = []
        while True:
            one = self.read()
            if one is None:
                return got
            got.append(one)

    def can(self, what, seconds=0):
        poll = select.poll()
        poll.register(self.fd, what)
        return bool(poll.poll(seconds * 1000))

    def writable(self, seconds=0):
        return self.can(select.POLLOUT, seconds)

    def readable(self, seconds=0):
        return self.can(select.POLLIN, seconds)

    def close(self):
        os.close(self.fd)
