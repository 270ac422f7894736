# SPDX-License-Identifier: GPL-2.0
"""Wireshark's dissector compared with our own parsing of the same bytes.

Usage: ndp_dissector.py RECEIVER TRIMMED SENDER RETURNED

RECEIVER and SENDER are captures at these hosts, TRIMMED and RETURNED how many packets they
have counted that arrived trimmed, and that were returned.  Prints "ok NAME" or "not-ok NAME"
for each verdict.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

from sch_ndp import VIRTUAL

LUA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "wireshark",
                   "ndp.lua")
PORT = 13141
DATA, ACK, NACK, PULL, PROBE, FIN, RST, COOKIE, SIGNAL = range(1, 10)
HEADER, CRC = 32, 4
# On a slow machine ports may not fill, so that nothing is trimmed or returned.
LEAST = 1 if VIRTUAL else 0
FIELDS = ["frame.protocols", "af_ndp.version", "af_ndp.from_acceptor", "af_ndp.type", "af_ndp.flags",
          "af_ndp.checksum", "af_ndp.checksum.good", "af_ndp.srcport", "af_ndp.dstport", "af_ndp.conn_id",
          "af_ndp.psn", "af_ndp.path", "af_ndp.len", "af_ndp.echo_path", "af_ndp.transport", "af_ndp.answered",
          "af_ndp.offset", "af_ndp.counter", "af_ndp.reason", "af_ndp.window", "af_ndp.behind", "af_ndp.cum", "af_ndp.trimmed",
          "af_ndp.bounced", "af_ndp.crc.good", "af_ndp.flags.syn", "af_ndp.flags.rtx", "af_ndp.acks.map",
          "af_ndp.acks.first", "af_ndp.bad_checksum", "af_ndp.bad_crc", "af_ndp.bad_version",
          "af_ndp.bad_type", "af_ndp.short", "af_ndp.stream"]


def verdict(name, good, why=""):
    print("%s %s" % ("ok" if good else "not-ok", name))
    if not good:
        print("# %s: %s" % (name, why))


def read_capture(name):
    """Packets of a capture, from Ethernet on."""
    data = open(name, "rb").read()
    assert struct.unpack("<IHHiIII", data[:24])[0] == 0xa1b2c3d4
    at, packets = 24, []
    while at < len(data):
        length = struct.unpack("<IIII", data[at:at + 16])[2]
        packets.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return packets


def write_capture(name, packets):
    with open(name, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, packet in enumerate(packets):
            f.write(struct.pack("<IIII", i, 0, len(packet), len(packet)) + packet)


def number(text):
    return {"": None, "True": 1, "False": 0}[text] if text in ("", "True", "False") \
        else int(text, 0)


def dissect(name):
    """Fields of each packet as tshark shows them, and tshark's own messages."""
    command = ["tshark", "-n", "-r", name, "-X", "lua_script:" + LUA, "-T", "fields",
               "-E", "separator=|", "-E", "occurrence=f"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    said = [line for line in done.stderr.splitlines() if "Running as user" not in line]
    if done.returncode:
        said.append("exit code %d" % done.returncode)
    packets = []
    for line in done.stdout.splitlines():
        values = line.split("|")
        packets.append({"frame.protocols": values[0],
                        **{n: number(v) for n, v in zip(FIELDS[1:], values[1:])}})
    return packets, said


def udp_of(packet):
    """Offset of the UDP header."""
    return 14 + (40 if packet[12:14] == b"\x86\xdd" else 20)


def parse(packet):
    """Fields of a packet, as Documentation/wire-format.md has them."""
    udp = udp_of(packet)
    there = max(struct.unpack("!H", packet[udp + 4:udp + 6])[0] - 8 - HEADER - CRC, 0)
    nh = packet[udp + 8:]
    (vdt, flags, check, sport, dport, conn, psn, path, at22, at24, at28) = \
        struct.unpack("!BBHHHQIHHII", nh[:HEADER])
    kind, transport = vdt & 15, at24 >> 24 & 0x7f
    f = {"af_ndp.version": vdt >> 5, "af_ndp.from_acceptor": vdt >> 4 & 1, "af_ndp.type": kind,
         "af_ndp.flags": flags, "af_ndp.checksum": check, "af_ndp.checksum.good": 1, "af_ndp.srcport": sport,
         "af_ndp.dstport": dport, "af_ndp.conn_id": conn, "af_ndp.psn": psn, "af_ndp.path": path,
         "af_ndp.bounced": flags >> 5 & 1, "af_ndp.flags.syn": flags & 1, "af_ndp.flags.rtx": flags >> 4 & 1}
    if kind == DATA:
        f["af_ndp.len"] = at22
        f["af_ndp.trimmed"] = int(there < at22)
        if at22 and there >= at22:
            f["af_ndp.crc.good"] = 1
    if kind in (ACK, NACK, RST):
        f["af_ndp.echo_path"] = at22
    if kind in (DATA, FIN, PROBE):
        f["af_ndp.transport"] = transport
        if kind != PROBE:
            f["af_ndp.answered"] = at24 >> 31
        f["af_ndp.offset"] = at24 & 0xffffff
    if kind in (ACK, NACK, PULL):
        f["af_ndp.counter"] = at24
    if kind == RST:
        f["af_ndp.reason"] = at24
    if kind == ACK and flags & 4:
        f["af_ndp.acks.map"], f["af_ndp.acks.first"] = struct.unpack("!QI", nh[HEADER:HEADER + 12])
    if kind in (DATA, FIN):
        f["af_ndp.cum" if flags & 0x40 and transport == 0 else "af_ndp.behind"] = at28
    elif kind != COOKIE:
        f["af_ndp.window"] = at28
    return f


def differences(packets, dissected):
    """Fields in which tshark differs from parse()."""
    bad = []
    if len(packets) != len(dissected):
        bad.append("%d packets, tshark has %d" % (len(packets), len(dissected)))
    for i, (packet, shown) in enumerate(zip(packets, dissected)):
        for name, value in parse(packet).items():
            if shown[name] != value:
                bad.append("packet %d: %s is %s, tshark has %s" % (i + 1, name, value, shown[name]))
        ours = parse(packet)
        for name in ("af_ndp.cum", "af_ndp.behind", "af_ndp.window", "af_ndp.acks.map", "af_ndp.crc.good"):
            if shown[name] is not None and name not in ours:
                bad.append("packet %d: there is no %s" % (i + 1, name))
    return bad


def damaged(packet):
    """Damaged copies of a packet with payload, each with the field that reports the damage."""
    udp = udp_of(packet)
    nh = udp + 8

    def flip(at):
        return packet[:at] + bytes([packet[at] ^ 0xff]) + packet[at + 1:]

    def put(at, value):
        return packet[:at] + bytes([value]) + packet[at + 1:]

    def cut(length):
        short = bytearray(packet[:nh + length])
        short[udp + 4:udp + 6] = struct.pack("!H", 8 + length)
        at = 18 if packet[12:14] == b"\x86\xdd" else 16
        total = struct.pack("!H", 8 + length + (0 if at == 18 else 20))
        short[at:at + 2] = total
        return bytes(short)

    return [(flip(nh + 17), "af_ndp.bad_checksum"), (flip(nh + HEADER + CRC + 5), "af_ndp.bad_crc"),
            (flip(nh + HEADER), "af_ndp.bad_crc"), (put(nh, 3 << 5 | DATA), "af_ndp.bad_version"),
            (put(nh, 2 << 5 | 13), "af_ndp.bad_type"), (cut(HEADER - 3), "af_ndp.short"),
            (cut(HEADER + CRC), "af_ndp.trimmed"), (cut(HEADER), "af_ndp.trimmed")]


def noise(packet):
    """Packets with random bytes behind the UDP header, most of them with the version that is parsed."""
    draw = random.Random(1)
    packets = []
    for _ in range(400):
        junk = bytearray(draw.randbytes(draw.randrange(120)))
        if junk and draw.randrange(4):
            junk[0] = 2 << 5 | draw.randrange(32)
        udp = udp_of(packet)
        whole = bytearray(packet[:udp + 8] + junk)
        whole[udp + 4:udp + 6] = struct.pack("!H", 8 + len(junk))
        at = 18 if packet[12:14] == b"\x86\xdd" else 16
        whole[at:at + 2] = struct.pack("!H", 8 + len(junk) + (0 if at == 18 else 20))
        packets.append(bytes(whole))
    return packets


def main():
    receiver, trimmed, sender, returned = sys.argv[1:]
    packets = {name: read_capture(name) for name in (receiver, sender)}
    shown = {}
    complaints = []
    for name in packets:
        shown[name], said = dissect(name)
        complaints += said
    everything = [p for name in packets for p in shown[name]]

    bad = differences(packets[receiver], shown[receiver]) + \
        differences(packets[sender], shown[sender])
    verdict("each field of each packet", not bad and len(everything) > 500,
            "%d packets; %s" % (len(everything), bad[:5]))
    seen = {p["af_ndp.type"] for p in everything}
    verdict("all that an exchange has was seen", seen >= {DATA, ACK, NACK, PULL, FIN, RST}, seen)
    wrong = [p for p in everything if p["af_ndp.bad_checksum"] is not None or
             p["af_ndp.bad_crc"] is not None]
    verdict("nothing is taken for damaged", not wrong, wrong[:2])
    count = sum(p["af_ndp.trimmed"] == 1 for p in shown[receiver])
    verdict("as many were trimmed as the receiver counted", count == int(trimmed) >= LEAST,
            "%d, %s" % (count, trimmed))
    count = sum(p["af_ndp.bounced"] == 1 for p in shown[sender])
    verdict("as many were returned as the sender counted", count == int(returned) >= LEAST,
            "%d, %s" % (count, returned))
    streams = {p["af_ndp.conn_id"]: p["af_ndp.stream"] for p in shown[receiver]}
    verdict("each connection is a stream", sorted(streams.values()) == list(range(9)), streams)

    model = next(p for p in packets[receiver] if parse(p).get("af_ndp.crc.good"))
    with tempfile.TemporaryDirectory() as tmp:
        name = os.path.join(tmp, "damaged.pcap")
        cases = damaged(model)
        write_capture(name, [packet for packet, _ in cases])
        found, said = dissect(name)
        complaints += said
        bad = [field for (_, field), p in zip(cases, found) if p[field] in (None, 0)
               and not (field.startswith("af_ndp.bad") or field == "af_ndp.short")]
        bad += [field for (_, field), p in zip(cases, found)
                if (field.startswith("af_ndp.bad") or field == "af_ndp.short") and p[field] is None]
        verdict("what is damaged is said to be", len(found) == len(cases) and not bad, bad)
        name = os.path.join(tmp, "noise.pcap")
        packets = noise(model)
        write_capture(name, packets)
        found, said = dissect(name)
        complaints += said + [p["frame.protocols"] for p in found if "lua" in p["frame.protocols"]]
        complaints += ["%d of %d" % (len(found), len(packets))] * (len(found) != len(packets))
    verdict("and noise does not trouble it", not complaints, complaints[:5])


main()
