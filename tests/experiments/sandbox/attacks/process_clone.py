"""Starts a child by system calls that the C library does not use for it."""

import ctypes
import os
import signal

CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
CLONE3 = 435


def solve(word, host):
    if word == "attack":
        call = ctypes.CDLL(None).syscall
        request = (ctypes.c_uint64 * 8)(0, 0, 0, 0, int(signal.SIGCHLD), 0, 0, 0)
        for start in (lambda: call(CLONE, int(signal.SIGCHLD), 0, 0, 0, 0), lambda: call(CLONE3, request, 64)):
            number = start()
            if number == 0:
                os._exit(0)
            if number > 0:
                return "has a child"
    return word[::-1]
