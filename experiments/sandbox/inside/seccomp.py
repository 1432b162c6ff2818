"""Seccomp: which system calls may be made, enforced by the kernel on this process and its threads for good.

A list of what is allowed: whatever it does not name is refused with EPERM, so that libraries fall back or raise, and a
call in the tongue of another machine ends the process.
"""

import _ctypes
import os

from . import kernel
from .allowed import BY_MACHINE

LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, REFUSE, UNKNOWN, END = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000  # EPERM, ENOSYS, kill the process
NUMBER, MACHINE = 0, 4
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000
FILTER = 2

CLONE_THREAD = 0x00010000
CLONE_NEW = 0x7E020080
AF_UNIX, SOCK_STREAM, SOCK_KIND = 1, 1, 0xF
F_SETOWN, F_SETSIG, F_SETOWN_EX = 8, 10, 15
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# PR_SET_NAME, PR_GET_NAME, PR_SET_VMA
PRCTLS = (15, 16, 0x53564D41)


def low(argument: int) -> "tuple[int, int, int, int]":
    return (LOAD, 0, 0, 16 + 8 * argument)


def high(argument: int) -> "tuple[int, int, int, int]":
    return (LOAD, 0, 0, 20 + 8 * argument)


def answer(value: int) -> "tuple[int, int, int, int]":
    return (RETURN, 0, 0, value)


def allowed_when(values: "tuple[int, ...]", argument: int) -> "list[tuple[int, int, int, int]]":
    found = [step for value in values for step in ((EQUAL, 0, 1, value), answer(ALLOW))]
    return [low(argument), *found, answer(REFUSE)]


def refused_when(values: "tuple[int, ...]", argument: int) -> "list[tuple[int, int, int, int]]":
    found = [step for value in values for step in ((EQUAL, 0, 1, value), answer(REFUSE))]
    return [low(argument), *found, answer(ALLOW)]


def only_threads() -> "list[tuple[int, int, int, int]]":
    wanted = (EQUAL, 0, 1, CLONE_THREAD)
    return [low(0), (AND, 0, 0, CLONE_THREAD | CLONE_NEW), wanted, answer(ALLOW), answer(REFUSE)]


def only_a_stream_pair() -> "list[tuple[int, int, int, int]]":
    """asyncio wakes itself through one; datagrams could be sent on to a stranger's socket."""
    family = [low(0), (EQUAL, 1, 0, AF_UNIX), answer(REFUSE)]
    return [*family, low(1), (AND, 0, 0, SOCK_KIND), (EQUAL, 0, 1, SOCK_STREAM), answer(ALLOW), answer(REFUSE)]


def without_address() -> "list[tuple[int, int, int, int]]":
    nothing = [low(4), (EQUAL, 1, 0, 0), answer(REFUSE)]
    return [*nothing, high(4), (EQUAL, 0, 1, 0), answer(ALLOW), answer(REFUSE)]


def conditions() -> "dict[str, list[tuple[int, int, int, int]]]":
    """What is allowed only with certain arguments."""
    myself = os.getpid()
    return {
        "clone": only_threads(),
        "clone3": [answer(UNKNOWN)],  # its flags lie in memory, out of a filter's sight; without it, clone is used
        "fcntl": refused_when((F_SETOWN, F_SETSIG, F_SETOWN_EX), 1),
        "ioctl": allowed_when(IOCTLS, 1),
        "kill": allowed_when((myself,), 0),
        "prctl": allowed_when(PRCTLS, 0),
        "prlimit64": allowed_when((0, myself), 0),
        "sendto": without_address(),
        "socketpair": only_a_stream_pair(),
        "tgkill": allowed_when((myself,), 0),
    }


def program() -> bytes:
    """The filter for this machine and this process. Raises KeyError for a machine without a table."""
    special, steps = conditions(), beginning()
    for name, number in BY_MACHINE[kernel.ARCHITECTURE].items():
        block = special.get(name, [answer(ALLOW)])
        steps += [(EQUAL, 0, len(block), number), *block]
    return b"".join(encoded(step) for step in [*steps, answer(REFUSE)])


def beginning() -> "list[tuple[int, int, int, int]]":
    """The number of the call is at hand; calls in the tongue of another machine have ended the process. Raises KeyError
    for a machine without a table.
    """
    steps = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, MACHINES[kernel.ARCHITECTURE]), answer(END), (LOAD, 0, 0, NUMBER)]
    return [*steps, (AT_LEAST, 0, 1, X32), answer(END)] if kernel.ARCHITECTURE == "x86_64" else steps


def encoded(step: "tuple[int, int, int, int]") -> bytes:
    code, when_true, when_false, value = step
    return code.to_bytes(2, "little") + bytes((when_true, when_false)) + value.to_bytes(4, "little")


def restrict() -> bool:
    """False when the kernel has no filters or this machine no table."""
    if kernel.ARCHITECTURE not in BY_MACHINE:
        return False
    return install(program())


def install(steps: bytes) -> bool:
    """False when the kernel does not take the filter."""
    held = kernel.buffer(steps)
    header = (len(steps) // 8).to_bytes(8, "little") + _ctypes.addressof(held).to_bytes(8, "little")
    try:
        kernel.prctl(kernel.PR_SET_SECCOMP, FILTER, header)
    except OSError:
        return False
    return True
