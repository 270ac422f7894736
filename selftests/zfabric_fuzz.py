#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# zFabric and zBridge under random input from the wire: frames of control about credit, and packets
# of the tunnel.  The networks are those of zfabric_wire.py and zbridge.py with the box M between
# the hosts.  Prints TAP.
#
# Each round follows from one seed.  Each kind plays the seeds of fuzz_seeds, which have found
# bugs, then ROUNDS (environment) from SEED on; a round that fails prints its seed.
#
#   outsiders	M sees no traffic and sends random frames beside two flows: they lose nothing
#   liars	M sees all, changes some frames, with checksums that are right, and loses,
#		repeats and delays others: what it has changed may be lost
#
# After each round M is honest: all is accounted for, no memory is held, all credit is
# returned, and the same flows and others work as on a new network.

import random
import struct
import sys
import time

import zbridge
import zfabric_wire as wire
from sch_cee import VIRTUAL, run_parts, verdict
from sch_cee_fuzz import any_of, rounds
from sch_ndp import say, wait_until
from zbed import Sink, mac, names
from zbridge import ACK, ASK, CLOSE, CLOSED, DATA, NACK, RST, SYN, SYNACK, Seen
from zfabric_wire import ASK as CREDIT_ASK, GRANT, HELLO, Relay, control, flow_of

# Datagrams of each of two flows that are under attack, and of those that follow
TOTAL, AFTER = 300, 40
PACE = 0.0005
STRANGE = 400
# Seconds until credit that a liar holds has lapsed, and idle flows whose ends differ were found and have died.
SILENT = 4 + zbridge.CHECK + zbridge.DEAD


def number():
    """A random number, often at a boundary"""
    return any_of(0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, random.getrandbits(32), random.getrandbits(16))


def near(n):
    """A number close to n"""
    return (n + any_of(-65536, -1025, -256, -2, -1, 1, 2, 255, 1024, 70000)) & 0xffffffff


def any_mac():
    return any_of(mac(0), mac(1), mac(2), mac(3), mac(9), "00:00:00:00:00:00", "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff")


def raw(address):
    return bytes.fromhex(address.replace(":", ""))


class Wire:
    """Frames of control, on a wire whose other frames are data"""

    idle = 0

    def build(self):
        wire.pair((0, "A"), (1, "B"), (2, "A"), (3, "B"), middle=True)

    @staticmethod
    def strange():
        """A random frame of a sender that sees no traffic: from and to addresses that exist, or not"""
        f = bytearray(control(any_of(CREDIT_ASK, HELLO, GRANT, 3, 255), any_mac(), any_of(mac(0), mac(1), mac(9)), number(), number(),
                              number(), number(), version=any_of(1, 1, 1, 0, 2), flags=any_of(0, 1, 2, 65535)))
        if not random.randrange(8):
            f[14 + random.randrange(20)] = random.getrandbits(8)
        return bytes(f[:any_of(60, 60, 60, 14, 18, 33)])

    @staticmethod
    def changed(frame):
        """The frame as a liar changes it, or None to let it pass"""
        if not Relay.is_control(frame):
            return None
        dst, src, _, magic, version, kind, flags, epoch, peer, count, past = struct.unpack("!6s6sHIBBHIIII", frame[:38])
        what = random.randrange(8)
        if what == 0:
            kind = any_of(CREDIT_ASK, HELLO, GRANT, 7)
        elif what == 1:
            epoch = any_of(number(), near(epoch))
        elif what == 2:
            peer = any_of(number(), near(peer))
        elif what in (3, 4):
            count = any_of(number(), near(count))
        elif what in (5, 6):
            past = any_of(number(), near(past))
        else:
            flags, dst, src = any_of(0, 1, 4), raw(any_mac()), raw(any_mac())
        return struct.pack("!6s6sHIBBHIIII", dst, src, 0x88b5, magic, version, kind, flags, epoch, peer, count, past) + frame[38:]

    @staticmethod
    def wrong():
        return {**wire.home(), **wire.balanced()}


class Tunnel:
    """Packets of the tunnel, which carry the frames of control"""

    # Seconds after which idle flows are closed
    idle = zbridge.IDLE + 5
    kinds = (SYN, SYNACK, DATA, ACK, NACK, ASK, CLOSE, CLOSED, RST, 9, 15)

    def build(self):
        zbridge.pair((0, "A"), (1, "B"), (2, "A"), (3, "B"), middle=True)

    def strange(self):
        body = any_of(raw(any_mac()) + raw(any_mac()) + struct.pack("!I", number()), random.randbytes(random.randrange(80)),
                      control(any_of(CREDIT_ASK, HELLO, GRANT), any_mac(), any_mac(), number(), number(), number(), number()))
        return self.packed(any_of("A", "B"), (any_of(*self.kinds), any_of(0, 1, 2, 255), any_of(0, 0, 3, 7, 9), number(), number(), number(),
                                              number()), body, version=any_of(1, 1, 1, 0, 2), vni=any_of(zbridge.ID, zbridge.ID, 0, 43),
                           good=random.randrange(8))

    @staticmethod
    def packed(to, fields, body, **how):
        kind, flags, prio, name, by, seq, ack = fields
        return zbridge.frame_to(to, zbridge.packet(kind, name, by, seq, ack, body, flags, prio, **how))

    def changed(self, frame):
        x = Seen(frame)
        if x.kind is None:
            return None
        fields = [x.kind, x.flags, x.prio, x.to, x.by, x.seq, x.ack]
        body = x.body
        what = random.randrange(10)
        if what == 0:
            fields[0] = any_of(*self.kinds)
        elif what == 1:
            fields[any_of(1, 2)] = random.getrandbits(8)
        elif what == 2:
            fields[any_of(3, 4)] = number()
        elif what in (3, 4):
            fields[5] = any_of(number(), near(x.seq))
        elif what in (5, 6):
            fields[6] = any_of(number(), near(x.ack))
        elif x.kind != DATA:
            body = any_of(body[:12] + struct.pack("!I", any_of(number(), near(1))), raw(any_mac()) + body[6:], body[:random.randrange(17)])
        elif what == 7:
            body = body[:random.randrange(len(body))]
        else:
            at = random.randrange(len(body))
            body = body[:at] + random.randbytes(1) + body[at + 1:]
        return self.packed("B" if frame[26:30] == zbridge.socket.inet_aton(zbridge.under("A")) else "A", fields, body)

    @staticmethod
    def wrong():
        wrong = zbridge.unsettled()
        for h in "AB":
            t = zbridge.zf(h)
            if t["flows"] or t["received"] != t["delivered"] + t["duplicate"] + t["drop_window"]:
                wrong[h + " received"] = t
        return wrong


def carry(sinks, what):
    """Flows of all pairs arrive as on a network that is new."""
    pairs = ((0, 1), (2, 3), (1, 0), (3, 2))
    flows = [flow_of(i, j, total=AFTER, pace=PACE).start() for i, j in pairs]
    for f in flows:
        f.finish()
    wait_until(lambda: all(sinks[j].of(f) == AFTER for f, (_, j) in zip(flows, pairs)), what + " arrive")
    return [] if all(sinks[j].whole(f) for f, (_, j) in zip(flows, pairs)) else [what + " are not whole"]


def play(kind, seed):
    """Play a round.  Return: what was wrong"""
    random.seed("%s %d" % (kind, seed))
    net = any_of(Wire, Tunnel)()
    honest, wrong, relay, sinks = [False], [], None, {}
    share = any_of(0.02, 0.1, 0.3)

    def judge(frame, _):
        if honest[0] or kind == "outsiders" or random.random() > share:
            return [(0, frame)]
        return any_of([], [(0, frame)] * 2, [(0.001, frame)], *[[(0, net.changed(frame) or frame)]] * 4)

    try:
        net.build()
        relay = Relay(judge)
        sinks.update((i, Sink("C%d" % i)) for i in range(4))
        flows = [flow_of(0, 1, total=TOTAL, pace=PACE).start(), flow_of(1, 0, total=TOTAL, pace=PACE).start()]
        for _ in range(STRANGE if kind == "outsiders" else 0):
            relay.send(any_of(0, 1), net.strange())
            time.sleep(PACE / 2)
        for f in flows:
            f.finish(now=kind == "liars" and not VIRTUAL)
        if kind == "outsiders":
            wait_until(lambda: all(sinks[i].of(f) == TOTAL for f, i in zip(flows, (1, 0))), "the flows arrive")
            if not all(sinks[i].whole(f) for f, i in zip(flows, (1, 0))):
                wrong.append("the flows are not whole")
        honest[0] = True
        time.sleep(SILENT)
        wrong += carry(sinks, "the next ones")
        time.sleep(net.idle)
        wait_until(lambda: not net.wrong(), "all is accounted for, and forgotten", 30)
    except RuntimeError as e:
        wrong += [str(e), str(net.wrong())]
    finally:
        if relay:
            relay.finish()
        for s in sinks.values():
            s.finish()
        zbridge.end()
        wire.end()
    return wrong


def outsiders():
    rounds("outsiders", play)


def liars():
    rounds("liars", play)


PARTS = (outsiders, liars)
PLAN = 2


def main():
    chosen = run_parts(PARTS, PLAN, zbridge.end, lambda: say("%s" % sorted(names)))
    return verdict(PARTS, chosen, PLAN)


if __name__ == "__main__":
    sys.exit(main())
