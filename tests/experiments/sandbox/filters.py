"""Runs a seccomp filter as the kernel would, for machines that the tests are not on."""

import struct

from experiments.sandbox.inside.seccomp import ALLOW, AND, AT_LEAST, END, EQUAL, LOAD, REFUSE, RETURN, UNKNOWN

NAMES = {ALLOW: "allowed", REFUSE: "refused", UNKNOWN: "unknown", END: "ended"}


def verdict(program: bytes, machine: int, number: int, *arguments: int) -> str:
    """What becomes of a system call with these arguments (64 bits each)."""
    seen = struct.pack("<IIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("<HBBI", program))
    held, at = 0, 0
    while True:
        code, when_true, when_false, value = steps[at]
        at += 1
        if code == RETURN:
            return NAMES[value]
        if code == LOAD:
            held = struct.unpack_from("<I", seen, value)[0]
        elif code == AND:
            held &= value
        else:
            holds = {EQUAL: held == value, AT_LEAST: held >= value}[code]
            at += when_true if holds else when_false
