# SPDX-License-Identifier: GPL-2.0
#
# Virtual switches side by side in the hypervisor bed, each with a NIC of its own in every
# guest (see vmbed.py), and the fate of datagrams that two guests send to a third (D. Crisan's
# thesis, ETH Zurich 2014, figure 4.1):
#
#	guest 1 --.                  tap ---- bridge br0
#	guest 2 --+-> guest 3   by   zvtap -- zswitch zs0
#	                             tap ---- datapath ovs0 of Open vSwitch
#	                             macvtap, all above one dummy
#
# Datagrams are counted at the thesis' six points: by the sending program (1), by its NIC (2),
# where the switch takes them in (3), where it has handed them over (4), by the sink's NIC (5)
# and by the receiving program (6).

import json
import re
import subprocess
import time

from vmbed import Guest, mac, wait_for

SINK = 3
SOURCES = (1, 2)
ALL = (*SOURCES, SINK)


def run(command):
    return subprocess.run(command.split(), check=True, stdout=subprocess.PIPE, text=True).stdout


def link(dev):
    return json.loads(run("ip -d -s -j link show dev " + dev))[0]


def tap_of(dev):
    with open("/sys/class/net/%s/ifindex" % dev, encoding="ascii") as file:
        return "/dev/tap" + file.read().strip()


def counter(dev, name):
    """A device's counter, read without starting a program, which would slow the guests."""
    with open("/sys/class/net/%s/statistics/%s" % (dev, name), encoding="ascii") as file:
        return int(file.read())


def without_ipv6():
    for path in ("all", "default"):
        with open("/proc/sys/net/ipv6/conf/%s/disable_ipv6" % path, "w", encoding="ascii") as file:
            file.write("1")


class Switch:
    """@net: number of the guests' NICs that are on this switch"""
    guests = ALL

    def __init__(self, net):
        self.net = net


class Taps(Switch):
    """A switch whose ports are taps, with names that begin with @tap."""
    tap = None

    def add_tap(self, i):
        dev = "%s%d" % (self.tap, i)
        run("ip tuntap add %s mode tap vnet_hdr" % dev)
        run("ip link set %s up" % dev)
        return dev

    def nic(self, i):
        """QEMU's options for the host's side of a guest's NIC, and paths of taps to open"""
        return "ifname=%s%d,script=no,downscript=no,vhost=on" % (self.tap, i), ()

    # Frames that the guest sends are received by the tap device.
    def taken(self):
        return sum(counter("%s%d" % (self.tap, i), "rx_packets") for i in SOURCES)

    def passed(self):
        return counter("%s%d" % (self.tap, SINK), "tx_packets")

    def dropped(self):
        return counter("%s%d" % (self.tap, SINK), "tx_dropped")


class Bridge(Taps):
    name = "bridge"
    title = "bridge, tap, vhost-net"
    tap = "t"

    def build(self):
        run("ip link add br0 type bridge")
        run("ip link set br0 up")
        for i in ALL:
            tap = self.add_tap(i)
            run("ip link set %s master br0" % tap)
            # The bridge also learns, but would flood the first frame.
            run("bridge fdb replace %s dev %s master static" % (mac(i, self.net), tap))


class Zswitch(Switch):
    name = "zswitch"
    title = "zswitch, vhost-net"

    def build(self):
        run("modprobe zvtap")
        run("ip link add zs0 type zswitch")
        run("ip link set zs0 up")
        for i in ALL:
            run("ip link add v%d type zvtap" % i)
            run("ip link set v%d master zs0 up" % i)
            run("bridge fdb replace %s dev zs0 via v%d static" % (mac(i, self.net), i))

    @staticmethod
    def nic(i):
        return "fd=%d,vhost=on", (tap_of("v%d" % i),)

    @staticmethod
    def ports():
        return [link("v%d" % i)["linkinfo"]["info_slave_data"] for i in SOURCES]

    def taken(self):
        return sum(p["in"] for p in self.ports())

    @staticmethod
    def passed():
        return counter("v%d" % SINK, "rx_packets")

    def dropped(self):
        return sum(v for p in self.ports() for k, v in p.items() if k.startswith("drop_"))


class OpenVswitch(Taps):
    """Open vSwitch's kernel datapath, with the flows that its daemon would set on first frames"""
    name = "openvswitch"
    title = "Open vSwitch, tap, vhost-net"
    tap = "o"

    def build(self):
        run("ovs-dpctl add-dp ovs0")
        for i in ALL:
            run("ovs-dpctl add-if ovs0 " + self.add_tap(i))
        number = {name: n for n, name in re.findall(r"port (\d+): (\w+)", run("ovs-dpctl show ovs0"))}
        for i in SOURCES:
            flow = "in_port(%s),eth(src=%s,dst=%s),eth_type(0x0800),ipv4(frag=no)" % (
                number["o%d" % i], mac(i, self.net), mac(SINK, self.net))
            run("ovs-dpctl add-flow ovs0 %s %s" % (flow, number["o%d" % SINK]))


class Macvtap(Switch):
    """Frames between macvtaps of one device pass that device's receive path."""
    name = "macvtap"
    title = "macvtap, vhost-net"

    def build(self):
        run("ip link add md0 type dummy")
        run("ip link set md0 up")
        for i in ALL:
            run("ip link add link md0 name m%d address %s type macvtap mode bridge" % (i, mac(i, self.net)))
            run("ip link set m%d up" % i)

    @staticmethod
    def nic(i):
        return "fd=%d,vhost=on", (tap_of("m%d" % i),)

    @staticmethod
    def taken():
        return sum(counter("m%d" % i, "tx_packets") for i in SOURCES)

    # Frames dropped because the sink's ring is full are counted as received, too.
    @staticmethod
    def passed():
        return counter("m%d" % SINK, "rx_packets") - counter("m%d" % SINK, "rx_dropped")

    @staticmethod
    def dropped():
        return counter("m%d" % SINK, "rx_dropped") + counter("md0", "rx_dropped")


def boot(switches, nice):
    """Boot the guests, each with a NIC for each of its switches, in that order.

    @nice: niceness of the sink relative to the sources, by which it is overloaded like a receiver
    that is scheduled too late or has other work
    Return: the guests by number"""
    without_ipv6()
    for switch in switches:
        switch.build()
    return {i: Guest(i, [switch.nic(i) for switch in switches if i in switch.guests], nice * (i == SINK))
            for i in sorted({i for switch in switches for i in switch.guests})}


def nic(net):
    return "eth%d" % net


def counters(guests, switch):
    """Counters so far: points 2 to 5, and drops counted by the sources' sockets, the switch and the
    sink's sockets"""
    return {"refused": sum(guests[i].refused() for i in SOURCES),
            "nic_out": sum(guests[i].nic("tx_packets", nic(switch.net)) for i in SOURCES),
            "taken": switch.taken(), "passed": switch.passed(), "dropped": switch.dropped(),
            "nic_in": guests[SINK].nic("rx_packets", nic(switch.net)), "socket": guests[SINK].socket_losses()}


def scene(guests, switch, flows, count, rate=0, seconds=0):
    """Both sources send datagrams; @count, @rate and @seconds are those of Guest.begin().

    Return: "hops", the datagrams counted at each point, and "series", over time the number that
    the sink's port had handed over."""
    before = counters(guests, switch)
    base, begin = switch.passed(), time.monotonic()
    series, still = [], 0
    for source, flow in zip(SOURCES, flows):
        guests[source].begin(SINK, flow, count, net=switch.net, rate=rate, seconds=seconds)
    # Until the sources have ended, and nothing more has arrived for two seconds.
    while still < 20:
        time.sleep(0.1)
        series.append((time.monotonic() - begin, switch.passed() - base))
        moved = len(series) < 2 or series[-1][1] != series[-2][1]
        still = 0 if moved else still + 1
        if still == 20 and not all(guests[s].sent(f) for s, f in zip(SOURCES, flows)):
            still = 0
    after = counters(guests, switch)
    hops = {k: after[k] - before[k] for k in after}
    hops["sent"] = sum(guests[s].sent(f) for s, f in zip(SOURCES, flows))
    wait_for(lambda: sum(guests[SINK].got(f) for f in flows) + hops["socket"] == hops["nic_in"], "the program has all")
    found = [guests[SINK].flows().get(f, (0, 0, 0)) for f in flows]
    hops["got"] = sum(f[0] for f in found)
    hops["wrong"] = sum(f[1] + f[2] for f in found)
    return {"hops": hops, "series": series}


def losses(hops):
    """Number of datagrams lost at each place along the path; all others have arrived."""
    return [
        ("in the sources, before their NICs", hops["sent"] - hops["nic_out"]),
        ("between their NICs and the switch", hops["nic_out"] - hops["taken"]),
        ("in the switch, at the sink's port", hops["taken"] - hops["passed"]),
        ("between the port and the sink's NIC", hops["passed"] - hops["nic_in"]),
        ("in the sink's own socket, which was full", hops["socket"]),
    ]


def network_losses(hops):
    """Number of datagrams lost between the guests' NICs"""
    return hops["nic_out"] - hops["nic_in"]


def wrong(name, hops):
    """Messages about inconsistent counters and failures"""
    if (min(n for _, n in losses(hops)) < 0 or hops["dropped"] != hops["taken"] - hops["passed"] or
            hops["refused"] != hops["sent"] - hops["nic_out"]):
        yield "%s: counters do not add up: %s" % (name, hops)
    if hops["wrong"]:
        yield "%s: %d datagrams with other bytes, or late" % (name, hops["wrong"])
    if name == Zswitch.name and network_losses(hops):
        yield "zswitch has lost frames: %s" % hops
