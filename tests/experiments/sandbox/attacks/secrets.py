"""They look for what is told to nobody, and for rights that they were not given."""

import glob
import os
import re


SECRET = re.compile(rb"(answer|secret)-[0-9a-f]{32}")
HARMLESS = {"LC_CTYPE", "PWD"}


def secrets_become_root(host):
    """Becomes root, or somebody else."""
    numbers = {0, 1, 1000, 65533} - {os.getuid(), os.getgid()}
    for become in (os.setuid, os.setgid, os.seteuid, os.setegid, lambda one: os.setresuid(one, one, one)):
        if found := any_of(become, *numbers):
            return found
    return any_of(os.setgroups, [0])


def secrets_command_lines(host):
    """Reads the command lines of all processes, where passwords and tests are sometimes handed over."""
    for path in glob.glob("/proc/[0-9]*/cmdline") + ["/proc/self/cmdline", "/proc/1/cmdline", "/proc/cmdline"]:
        try:
            with open(path, "rb") as line:
                if found := SECRET.search(line.read()):
                    return found.group().decode()
        except OSError:
            continue
    return "nothing found"


def secrets_environment(host):
    """Reads its environment, which may hold nothing but what the interpreter puts there itself."""
    if names := set(os.environ) - HARMLESS:
        return f"found {sorted(names)}"


def secrets_privileges(host):
    """Looks at who it is: it should be nobody, without a capability and without a way to get one."""
    if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), *os.getgroups()):
        return "is root"
    try:
        with open("/proc/self/status") as status:
            facts = dict(line.split(":", 1) for line in status)
    except OSError:
        return None
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(facts[name], 16)]
    if held or int(facts["NoNewPrivs"]) != 1:
        return f"may do more than it should: {held}, {facts['NoNewPrivs']}"
