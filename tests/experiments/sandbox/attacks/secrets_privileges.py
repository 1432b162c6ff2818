"""Looks at who it is: it should be nobody, without a capability and without a way to get one."""

import os


def solve(word, host):
    if word == "attack":
        if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), *os.getgroups()):
            return "is root"
        try:
            with open("/proc/self/status") as status:
                facts = dict(line.split(":", 1) for line in status)
        except OSError:
            return word[::-1]
        held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(facts[name], 16)]
        if held or int(facts["NoNewPrivs"]) != 1:
            return f"may do more than it should: {held}, {facts['NoNewPrivs']}"
    return word[::-1]
