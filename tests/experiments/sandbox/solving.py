"""What stands before every program of attacks: how they are called, and how they try."""

import ctypes
import os


def solve(word, attacks, host):
    for attack in attacks:
        try:
            gained = globals()[attack](host)
        except OSError:
            continue
        if gained is not None:
            return gained
    return word[::-1]


def any_of(attempt, *targets):
    """What comes of the first target for which the attempt is not refused."""
    for target in targets:
        try:
            return f"{target}: {attempt(target)}"
        except (OSError, ValueError):
            continue
    return None


def number_of(x86_64, aarch64):
    """The number of a system call on this processor."""
    return x86_64 if os.uname().machine == "x86_64" else aarch64


def granted(number, *ways):
    """What the kernel gives for the first way to make a system call that it does not refuse."""
    for words in ways:
        if (found := ctypes.CDLL(None).syscall(number, *words)) >= 0:
            return f"{number}{words}: {found}"
    return None
