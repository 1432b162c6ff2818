"""Landlock: which paths may be touched, enforced by the kernel on this process for good."""

import os

from . import kernel

EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY = 1, 2, 4, 8
FILES_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
CONNECT_AND_BIND = 3
SIGNALS_AND_ABSTRACT_SOCKETS = 3
PATH_BENEATH = 1
VERSION_FLAG = 1


def version() -> int:
    """The kernel's version of Landlock; 0 when it has none."""
    try:
        return kernel.call(kernel.LANDLOCK_CREATE, None, 0, VERSION_FLAG)
    except OSError:
        return 0


def restrict(readable: "list[str]", writable: "list[str]") -> bool:
    """From here on only these may be opened, with all that is beneath them. False when the kernel has no Landlock."""
    known = version()
    if not known:
        return False
    files = FILES_OF_VERSION[max(number for number in FILES_OF_VERSION if number <= known)]
    rules = kernel.call(kernel.LANDLOCK_CREATE, *ruleset(known, files), 0)
    for path in readable:
        allow(rules, path, READ_FILE | READ_DIRECTORY)
    for path in writable:
        allow(rules, path, files & ~EXECUTE)
    kernel.call(kernel.LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    return True


def ruleset(known: int, files: int) -> "tuple[bytes, int]":
    """What is forbidden unless a rule allows it: each version of the kernel takes as many words as it knows."""
    words = [files]
    if known >= 4:
        words.append(CONNECT_AND_BIND)
    if known >= 6:
        words.append(SIGNALS_AND_ABSTRACT_SOCKETS)
    body = b"".join(word.to_bytes(8, "little") for word in words)
    return body, len(body)


def allow(rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):
        rights &= EXECUTE | WRITE_FILE | READ_FILE
    body = rights.to_bytes(8, "little") + descriptor.to_bytes(4, "little")
    try:
        kernel.call(kernel.LANDLOCK_ADD, rules, PATH_BENEATH, body, 0)
    finally:
        os.close(descriptor)
