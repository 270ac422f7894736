# SPDX-License-Identifier: GPL-2.0
"""Max-min fair rates of flows that are sprayed over a fabric some of whose links lose packets.

A flow is split evenly over all cores whose paths up and back down pass no link that loses
everything; a flow over a link that loses a part of its packets uses correspondingly more of that
link.  All flows grow at the same pace; when a link is full the flows that use it stop, and the
others continue, until all have stopped (water-filling).  So no flow's rate can grow without
taking from a flow that has no more.  Only the even split is considered.
"""
import argparse
import importlib.machinery
import importlib.util
import ipaddress
import os
import sys


def load_fabric():
    """The program beside this file, as a module."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fabric")
    loader = importlib.machinery.SourceFileLoader("fabric", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fabric", loader))
    write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = write
    sys.modules["fabric"] = module
    return module


def built(arguments):
    """The fabric that "fabric build" makes with these arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("topology")
    parser.add_argument("--ip6", action="store_true")
    parser.add_argument("--oversubscribe", type=int, default=1)
    return load_fabric().design(parser.parse_known_args(arguments)[0])


class Ways:
    """The links that packets take, by the fabric's own routes."""

    def __init__(self, fabric):
        self.fabric = fabric
        self.main = sys.modules["fabric"].MAIN
        self.beyond = {(node, device): other
                       for node, ports in fabric.ports.items() for device, other, _ in ports}
        self.routes = {node: sorted(((ipaddress.ip_network(prefix), device) for prefix, device in routes),
                                    key=lambda route: -route[0].prefixlen)
                       for node, routes in fabric.routes.items()}

    def way(self, src, dst, core):
        """Links as (node, next node), or None where there is no route."""
        node, end = self.fabric.hosts[src][0], self.fabric.hosts[dst][0]
        address = ipaddress.ip_address(self.fabric.address(dst, core))
        links = []
        while node != end:
            device = next((device for network, device in self.routes[node] if address in network), None)
            if device is None:
                return None
            links.append((node, self.beyond[node, device]))
            node = links[-1][1]
        return links

    def all(self, src, dst):
        """The paths by each core, or the only path."""
        ways = [self.way(src, dst, core) for core in range(self.fabric.cores)]
        return [way for way in ways if way] or [self.way(src, dst, self.main)]


def fill(uses):
    """Water-filling.  @uses: for each flow, the share of each link that it uses at a rate of 1; the
    capacity of a link is 1."""
    rates = [None] * len(uses)
    level = 0
    taken = {}
    while None in rates:
        growing = {}
        for use, rate in zip(uses, rates):
            if rate is None:
                for link, part in use.items():
                    growing[link] = growing.get(link, 0) + part
        step = min((1 - taken.get(link, 0)) / part for link, part in growing.items())
        level += step
        for link, part in growing.items():
            taken[link] = taken.get(link, 0) + step * part
        full = {link for link in growing if taken[link] > 1 - 1e-9}
        rates = [level if rate is None and full.intersection(use) else rate
                 for use, rate in zip(uses, rates)]
    return rates


def shares(ways, flows, loss):
    """Rates of flows (source, destination) as shares of a link's rate.  @loss: loss ratios by link
    (node, node)."""
    uses = []
    for src, dst in flows:
        every = ways.all(src, dst)
        left = [way for way in every if all(loss.get(link, 0) < 1 for link in way)] or every
        use = {}
        for way in left:
            for link in way:
                part = 1 / len(left) / max(1 - loss.get(link, 0), 1e-9)
                use[link] = use.get(link, 0) + part
        uses.append(use)
    return fill(uses)


def losses(changes, until):
    """Loss ratios by link after changes [[ms, "link", NAME, "loss=RATIO"], ...] up to a time."""
    loss = {}
    for when, what, name, value in changes:
        if when > until or what != "link" or not value.startswith("loss="):
            continue
        for mark in "->":
            one, found, other = name.partition(mark)
            if not found:
                continue
            loss[one, other] = float(value[5:])
            if mark == "-":
                loss[other, one] = float(value[5:])
    return loss
