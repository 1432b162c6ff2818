"""Mounts and remounts, by the old calls and by the new ones."""

import ctypes
import os

MOUNT = {"x86_64": 165, "aarch64": 40}[os.uname().machine]
UNMOUNT = {"x86_64": 166, "aarch64": 39}[os.uname().machine]
OPEN_TREE, OPEN_FILE_SYSTEM, HERE, CLONE = 428, 430, -100, 1
REMOUNT, BIND = 32, 4096


def solve(word, host):
    if word == "attack":
        call = ctypes.CDLL(None).syscall
        attempts = {
            "mounted": lambda: call(MOUNT, b"none", b"/tmp", b"tmpfs", 0, None),
            "bound": lambda: call(MOUNT, b"/", b"/tmp", None, BIND, None),
            "remounted": lambda: call(MOUNT, None, b"/", None, REMOUNT | BIND, None),
            "mounted proc": lambda: call(MOUNT, b"proc", b"/tmp", b"proc", 0, None),
            "unmounted": lambda: call(UNMOUNT, b"/tmp", 2),
            "copied the tree": lambda: call(OPEN_TREE, HERE, b"/", CLONE),
            "opened a file system": lambda: call(OPEN_FILE_SYSTEM, b"tmpfs", 0),
        }
        for name, attempt in attempts.items():
            if attempt() >= 0:
                return name
    return word[::-1]
