#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Run test cases in the format of the kernel's tdc (tc-testing), each in a
# network namespace of its own, and print TAP.
#
# Usage: tdc.py FILE.json...
#
# A case has: setup, cmdUnderTest, expExitCode, verifyCmd, matchPattern,
# matchCount, teardown; an entry of setup or teardown may be a list of a command
# and the exit codes that it may have.  $TC, $IP and $DUMMY are replaced.

import ctypes
import json
import os
import re
import subprocess
import sys

CLONE_NEWNET = 0x40000000
NAMES = {"$TC": "tc", "$IP": "ip", "$DUMMY": "dum0"}


def shell(command):
    for name, value in NAMES.items():
        command = command.replace(name, value)
    run = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         stdin=subprocess.DEVNULL, text=True)
    return run.returncode, run.stdout


def prepare(commands):
    """Run the commands.  Return: the first that fails, as text, or None."""
    for entry in commands:
        command, *codes = entry if isinstance(entry, list) else [entry]
        code, output = shell(command)
        if code not in (codes or [0]):
            return "%s: exit code %d: %s" % (command, code, output)
    return None


def run_case(case):
    """Return: what is wrong, as text, or None."""
    bad = prepare(case["setup"])
    if bad:
        return "setup: " + bad
    code, output = shell(case["cmdUnderTest"])
    if code != int(case["expExitCode"]):
        return "%s: exit code %d, wanted %s: %s" % (case["cmdUnderTest"], code, case["expExitCode"], output)
    _, output = shell(case["verifyCmd"])
    found = len(re.findall(case["matchPattern"], output, re.MULTILINE))
    if found != int(case["matchCount"]):
        return "%s: %d matches of '%s', wanted %s, in: %s" % (
            case["verifyCmd"], found, case["matchPattern"], case["matchCount"], output)
    bad = prepare(case["teardown"])
    return "teardown: " + bad if bad else None


def run_apart(case):
    """run_case() in a child process with a namespace of its own."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET):
            bad = "unshare: " + os.strerror(ctypes.get_errno())
        else:
            try:
                bad = run_case(case)
            except Exception as e:
                bad = repr(e)
        os.write(write, (bad or "").encode())
        os._exit(1 if bad else 0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return text or ("exit status %d" % status if status else None)


def main():
    cases = []
    for path in sys.argv[1:]:
        with open(path) as f:
            cases += json.load(f)
    ids = [c["id"] for c in cases]
    print("1..%d" % len(cases))
    failed = not cases or len(set(ids)) != len(ids)
    for n, case in enumerate(cases, 1):
        bad = run_apart(case)
        if bad:
            failed = True
            print("# " + bad.strip().replace("\n", "\n# "))
        print("%sok %d %s %s" % ("not " if bad else "", n, case["id"], case["name"]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
