# SPDX-License-Identifier: GPL-2.0
#
# A stopped guest and its neighbour in the hypervisor bed (see vmbed.py), on two hosts that are
# only two switches in one kernel (D. Crisan's thesis, ETH Zurich 2014, figure 5.8):
#
#	guest 1 --.                                            .--> guest 4, which is stopped
#	           zsA -- wA, sch_cee -- cable -- sch_cee, wB -- zsB
#	guest 2 --'                                            '--> guest 3, its neighbour
#
# Without zFabric the frames that guest 4 does not take fill its switch, which pauses the cable.
# With zFabric they stay with guest 1.
#
# wire-wait and sch_cee's watchdog, which would end the pause by dropping frames, are off.
#
# This machine may not run the hypervisor for tenths of a second.  So pauses have the maximum
# length, 0.7 s, or they would end before they are renewed, and the headroom is large (ring 4m).

import time

from vm_switches import Switch, counter, link, run, tap_of
from vmbed import PATIENCE, mac, wait_for

# Numbers of the guests by role, and each guest's host
CULPRIT, VICTIM, NEIGHBOUR, STALLED = ALL = (1, 2, 3, 4)
HOST = {CULPRIT: "A", VICTIM: "A", NEIGHBOUR: "B", STALLED: "B"}
HOSTS = ("A", "B")
RXQ = 128
# Time without progress after which a receiver counts as stopped, in tenths of a second, and a
# sender as waiting, in seconds
STANDS = 50
WAITS = 2


class Pair(Switch):
    guests = ALL

    def build(self):
        for module in ("sch_cee", "netwire", "zvtap"):
            run("modprobe " + module)
        for h in HOSTS:
            run("ip link add zs%s type zswitch rxq %d wire-wait 0 virtual-wait 0" % (h, RXQ))
            run("ip link set zs%s up" % h)
        run("ip link add wA type netwire rate 50mbit delay 10us peer name wB")
        for h in HOSTS:
            run("ip link set w%s master zs%s up" % (h, h))
            run("tc qdisc replace dev w%s root cee dscp 0-63:3 ring 4m quanta 65535 watchdog off" % h)
        for i in ALL:
            run("ip link add h%d type zvtap" % i)
            run("ip link set h%d master zs%s up" % (i, HOST[i]))
            for h in HOSTS:
                run("bridge fdb replace %s dev zs%s via %s static" % (
                    mac(i, self.net), h, "h%d" % i if HOST[i] == h else "w" + h))

    @staticmethod
    def fabric(state):
        # Turn credit on at the receivers first, and off at the senders first.
        for h in reversed(HOSTS) if state == "on" else HOSTS:
            run("ip link set zs%s type zswitch fabric %s" % (h, state))
            run("ip link set w%s type zswitch_slave fabric %s" % (h, state))

    @staticmethod
    def nic(i):
        return "fd=%d,vhost=on", (tap_of("h%d" % i),)

    @staticmethod
    def taken(i):
        """Number of frames taken from a guest"""
        return counter("h%d" % i, "tx_packets")

    @staticmethod
    def passed(i):
        """Number of frames handed over to a guest"""
        return counter("h%d" % i, "rx_packets")

    @staticmethod
    def ports():
        return {dev: link(dev)["linkinfo"]["info_slave_data"] for dev in ("wA", "wB", *("h%d" % i for i in ALL))}

    def dropped(self):
        """Number of frames dropped by both switches"""
        return sum(v for p in self.ports().values() for k, v in p.items() if k.startswith("drop_"))


def counters(guests, pair):
    nic = "eth%d" % pair.net
    return {"dropped": pair.dropped(),
            "nic_out": {i: guests[i].nic("tx_packets", nic) for i in (CULPRIT, VICTIM)},
            "passed": {i: pair.passed(i) for i in (NEIGHBOUR, STALLED)},
            "nic_in": {i: guests[i].nic("rx_packets", nic) for i in (NEIGHBOUR, STALLED)},
            "socket": {i: guests[i].socket_losses() for i in (NEIGHBOUR, STALLED)},
            "refused": {i: guests[i].refused() for i in (CULPRIT, VICTIM)}}


def less(after, before):
    if isinstance(after, dict):
        return {k: less(after[k], before[k]) for k in after}
    return after - before


def follow(pair, series, begin, base, over):
    """Record over time the number of frames that the neighbour's port has handed over, until
    @over(tenths of a second without progress) is true."""
    stood = 0
    while not over(stood):
        if stood > 10 * PATIENCE:
            raise RuntimeError("nothing moves: %s" % pair.ports())
        time.sleep(0.1)
        now = pair.passed(NEIGHBOUR) - base
        stood = stood + 1 if series and series[-1][1] == now else 0
        series.append((time.monotonic() - begin, now))


def alone(guests, pair, flow, count):
    """The neighbour's frames with nothing beside them.  Return: series"""
    series, base, begin = [], pair.passed(NEIGHBOUR), time.monotonic()
    guests[VICTIM].begin(NEIGHBOUR, flow, count, net=pair.net)
    follow(pair, series, begin, base, lambda _: series and series[-1][1] >= count)
    return series


def stalled(guests, pair, flows, count):
    """Guest 4 is stopped, and guest 1 sends to it until guest 1 has to wait.  Then guest 2 sends
    to the neighbour, until the neighbour has all frames or gets no more.  Then guest 4 is resumed,
    and all frames must arrive.

    @flows: to guest 4, to its neighbour
    Return: "series", of the neighbour's frames; "during", their number while guest 4 was
    stopped; "went_on", the time when it was resumed; counters at the end"""
    before, taken = counters(guests, pair), pair.taken(CULPRIT)
    base = before["passed"][NEIGHBOUR]
    guests[STALLED].stop()
    guests[CULPRIT].begin(STALLED, flows[0], count, net=pair.net)
    wait_for(lambda: pair.taken(CULPRIT) > taken, "guest 1 begins")
    while taken != pair.taken(CULPRIT):
        taken = pair.taken(CULPRIT)
        time.sleep(WAITS)
    series, begin = [], time.monotonic()
    guests[VICTIM].begin(NEIGHBOUR, flows[1], count, net=pair.net)
    follow(pair, series, begin, base, lambda stood: stood == STANDS or series and series[-1][1] >= count)
    during = series[-1][1]
    waits = guests[CULPRIT].sent(flows[0]) is None
    went_on = time.monotonic() - begin
    guests[STALLED].go_on()
    follow(pair, series, begin, base, lambda _: series[-1][1] >= count and
           pair.passed(STALLED) - before["passed"][STALLED] >= count)
    sources = list(zip((CULPRIT, VICTIM), flows))
    wait_for(lambda: all(guests[i].sent(f) for i, f in sources), "all are sent")

    def all_there():
        """All frames reached the programs or were lost by their sockets, except one that QEMU may
        purge (see vms-guest)."""
        now = less(counters(guests, pair), before)
        for i, flow in zip((STALLED, NEIGHBOUR), flows):
            came = guests[i].got(flow) + now["socket"][i]
            if not came == now["nic_in"][i] >= count - (i == STALLED):
                return None
        return now
    hops = wait_for(all_there, "all are received")
    found = [guests[i].flows()[f] for i, f in zip((STALLED, NEIGHBOUR), flows)]
    return {"series": series, "during": during, "waits": waits, "went_on": went_on, "count": count,
            "sent": {i: guests[i].sent(f) for i, f in sources}, "wrong": sum(f[1] + f[2] for f in found),
            "purged": hops["passed"][STALLED] - hops["nic_in"][STALLED], **hops}


def wrong(result):
    """Messages about inconsistent counters and failures.  @result: by "off" and "on" """
    for state, r in result.items():
        sent = sum(r["sent"].values())
        if (r["dropped"] or sum(r["refused"].values()) or
                any(sum(r[hop].values()) != sent for hop in ("passed", "nic_out"))):
            yield "fabric %s: frames were lost: %s" % (state, r)
        if r["purged"] not in (0, 1) or r["wrong"]:
            yield "fabric %s: other bytes, late, or lost behind the switch: %s" % (state, r)
        if not r["waits"]:
            yield "fabric %s: guest 4 did not stand still" % state
    if result["on"]["during"] != result["on"]["count"]:
        yield "with zFabric the neighbour had not all: %s" % result["on"]
    if result["off"]["during"] == result["off"]["count"]:
        yield "without zFabric the neighbour was not stopped: %s" % result["off"]
