# SPDX-License-Identifier: GPL-2.0
#
# Virtual machines of the hypervisor bed (see hypervisor): QEMU with an emulated x86 processor,
# virtio NICs backed by vhost-net or QEMU itself, a serial line with a shell (vm-init), and a
# monitor.
#
# The processor's features and the kernel's parameters are as in run, which gives the reasons.
# noreplace-smp is this bed's own: a kernel with one processor removes 10,000 lock prefixes
# during boot, and for each of them QEMU flushes its TLB and asks for the time.
#
# The kernel of a guest prints nothing on its serial line, where its messages would mix with
# the shell's output: virtio_net, for one, complains of a transmit queue that waits for 5 s.
#
# The limits of all waits are long enough that only something that hangs exceeds them.  A guest
# boots within 20 s, and within 7 min where its hypervisor has a quarter of a processor.

import json
import os
import re
import socket
import subprocess
import tempfile
import time

PATIENCE = int(os.environ.get("PATIENCE", 2400))


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise RuntimeError("not in time: " + what)
        time.sleep(0.1)


def address(number, net=0):
    return "10.0.%d.%d" % (net, number)


def mac(number, net=0):
    return "52:54:00:00:%02x:%02x" % (net, number)


class Line:
    """A connection to a Unix socket of QEMU's, from which lines are read."""

    def __init__(self, path):
        def connect():
            self.sock = socket.socket(socket.AF_UNIX)
            try:
                self.sock.connect(path)
                return True
            except OSError:
                self.sock.close()
                return False
        wait_for(connect, path)
        self.sock.settimeout(PATIENCE)
        self.rest = b""

    def until(self, pattern):
        """Read lines up to one that matches.  Return: the lines before it, and the match."""
        before = []
        while True:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                line = line.decode(errors="replace").strip("\r")
                found = re.fullmatch(pattern, line)
                if found:
                    return before, found
                before.append(line)
            try:
                data = self.sock.recv(4096)
            except ConnectionResetError:
                data = b""
            if not data:
                raise RuntimeError("it has ended: " + "\n".join(before[-5:]))
            self.rest += data

    def send(self, line):
        self.sock.sendall(line.encode() + b"\n")


class Guest:
    """A guest that has booted.  @number: identifies it; @nics: for each NIC, QEMU's options for
    the host's side, in which %d stands for a descriptor of each of the taps whose paths follow;
    @nice: its niceness; @card: more options of each NIC device; @initrd: used in place of the
    bed's; @state: file of a saved guest that is to be resumed here, which does not boot

    Guests boot one after the other: the ticks of three that boot at once take most of the
    hypervisor's only processor, and that takes twice as long."""

    def __init__(self, number, nics, nice=0, card="", initrd=None, state=None):
        self.number = number
        self.where = tempfile.mkdtemp()
        fds, cards = [], []
        for net, (words, paths) in enumerate(nics):
            own = [os.open(path, os.O_RDWR) for path in paths]
            cards += ["-netdev", "tap,id=n%d,%s" % (net, words % tuple(own)),
                      "-device", "virtio-net-pci,netdev=n%d,romfile=,mac=%s%s" % (net, mac(number, net), card)]
            fds += own
        serial, monitor = (os.path.join(self.where, name) for name in ("serial", "monitor"))
        incoming = ["-incoming", "exec:cat " + state] if state else []
        self.log = open(os.path.join(self.where, "log"), "w+")
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-M", "pc", "-accel", "tcg,thread=single", "-m", "128", "-nodefaults",
             "-cpu", "max,la57=off,cx16=off,erms=off,fsrm=off,smap=off,smep=off",
             "-no-user-config", "-display", "none", "-no-reboot", "-kernel", os.environ["VM_KERNEL"],
             "-initrd", initrd or os.environ["VM_INITRD"], "-append",
             "console=ttyS0 loglevel=1 panic=-1 oops=panic norandmaps mitigations=off tsc=reliable no_timer_check "
             "acpi=noirq init_on_alloc=0 watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=300 "
             "noreplace-smp tsc_early_khz=%s net.ifnames=0 NUMBER=%d NICS=%d" %
             (os.environ["VM_CLOCK"], number, len(nics)),
             "-chardev", "socket,id=s,path=%s,server=on,wait=off" % serial, "-serial", "chardev:s",
             "-chardev", "socket,id=m,path=%s,server=on,wait=off" % monitor, "-mon", "chardev=m,mode=control", *cards,
             *incoming],
            pass_fds=fds, preexec_fn=lambda: os.nice(nice), stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=subprocess.STDOUT)
        for fd in fds:
            os.close(fd)
        try:
            self.serial = Line(serial)
            self.monitor = Line(monitor)
        except RuntimeError as error:
            raise RuntimeError("%s: %s" % (error, self.said())) from error
        self.command("qmp_capabilities")
        if not state:
            self.boot()

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def boot(self):
        try:
            self.serial.until("=ready")
        except TimeoutError as error:
            twice = [self.registers(), self.registers()]
            self.kill()
            raise RuntimeError("guest %d does not boot:\n%s" % (self.number, "\n".join(twice))) from error

    def registers(self):
        """The general ones and RIP: all of them are more than check shows of a failure."""
        said = self.command("human-monitor-command", **{"command-line": "info registers"})
        return "\n".join(line for line in said.splitlines() if line.startswith(("R", "E")))

    def run(self, line):
        """Run a shell command there.  Return: lines of its output"""
        self.serial.send(line)
        lines, found = self.serial.until(r"=done (\d+)")
        if found.group(1) != "0":
            raise RuntimeError("guest %d: %s: %s" % (self.number, line, "\n".join(lines)))
        return lines

    def clock_rate(self):
        """Rate of the time stamp counter in MHz, or None where the kernel does not use it"""
        found = re.search(r"tsc: Detected ([\d.]+) MHz", "\n".join(self.run("dmesg")))
        return float(found.group(1)) if found else None

    def command(self, what, **arguments):
        """Run a command of QEMU's monitor.  Return: its result"""
        self.monitor.send(json.dumps({"execute": what, "arguments": arguments}))
        return json.loads(self.monitor.until(r'\{"return":.*')[1].group())["return"]

    def stop(self):
        self.command("stop")

    def go_on(self):
        self.command("cont")

    def save(self, path):
        """Save the state as a migration does; the guest is stopped when the state is complete."""
        self.command("migrate", uri="exec:cat >" + path)

        def status():
            said = self.command("query-migrate")
            if said.get("status") == "failed":
                raise RuntimeError("guest %d: not saved: %s %s" % (self.number, said, self.said()))
            return said.get("status") == "completed"
        wait_for(status, "guest %d is saved" % self.number)

    def is_restored(self):
        """Has all of the saved state been loaded?"""
        return self.command("query-status")["status"] != "inmigrate"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def begin(self, to, flow, count, size=1472, net=0, rate=0, seconds=0):
        """Begin to send @count datagrams in the background, @rate a second (0: no limit), for
        @seconds at most (0: no limit); @size 1472 makes frames of 1514 bytes."""
        self.run("rm -f /run/sent%d; (vm_flow send %s %d %d %d %d %d >/run/new%d 2>&1; mv /run/new%d /run/sent%d) &" %
                 (flow, address(to, net), flow, count, size, rate, seconds, flow, flow, flow))

    def sent(self, flow):
        """Number of datagrams sent, or None while sending has not ended."""
        lines = self.run("cat /run/sent%d 2>/dev/null || true" % flow)
        return int(lines[0]) if lines else None

    def flows(self):
        """For each received flow: number of datagrams, late ones, corrupt ones"""
        return {int(a): tuple(map(int, rest)) for a, *rest in
                (line.split() for line in self.run("cat /run/flows 2>/dev/null || true"))}

    def got(self, flow):
        return self.flows().get(flow, (0, 0, 0))[0]

    def nic(self, counter, name="eth0"):
        return int(self.run("cat /sys/class/net/%s/statistics/%s" % (name, counter))[0])

    def udp(self, *counters):
        names, values = (line.split() for line in self.run("grep ^Udp: /proc/net/snmp"))
        return sum(int(values[names.index(what)]) for what in counters)

    def socket_losses(self):
        """Number of datagrams dropped because the receive buffer, or UDP's memory, was full"""
        return self.udp("RcvbufErrors", "MemErrors")

    def refused(self):
        """Number of datagrams that the guest itself dropped on sending"""
        return self.udp("SndbufErrors")
