"""What the candidate's process gives up for good before the candidate's first line runs."""

import os
import resource

from . import kernel, seccomp

TYPE_CHECKING = False  # importing `typing` would cost every test its milliseconds
if TYPE_CHECKING:
    from typing import Any

IDENTITY, LIMITS, PRIVILEGES = "unprivileged user", "limits", "no new privileges"
LANDLOCK, SECCOMP = "landlock", "seccomp"
RLIMIT_SIGPENDING = 11  # which the module has no name for
EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY = 1, 2, 4, 8
FILES_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
CONNECT_AND_BIND = 3
SIGNALS_AND_ABSTRACT_SOCKETS = 3
PATH_BENEATH = 1
VERSION_FLAG = 1
BARE = 48 << 20  # bytes of address space that the interpreter itself is made of


def confine(request: "dict[str, Any]", system_calls: bytes) -> "list[str]":
    """The layers that hold from here on. The request says which are `wanted`; Landlock and seccomp may be lacking.
    system_calls: the filter of those that may be made, of `seccomp.program`; empty where there is none.
    """
    wanted: list[str] = request["wanted"]
    holds = [IDENTITY] if has_ordinary_identity(request["uid"]) else []
    kernel.die_with_parent()
    kernel.one_memory_arena()
    limit_resources(request["limits"])
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    holds += [LIMITS, PRIVILEGES]
    if LANDLOCK in wanted and restrict_paths(request["readable"], request["writable"]):
        holds.append(LANDLOCK)
    if SECCOMP in wanted and system_calls and seccomp.install(system_calls):
        holds.append(SECCOMP)
    return holds


def has_ordinary_identity(uid: "int | None") -> bool:
    """Becomes that user where one is given; says whether this is a user without rights of its own."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.drop_capabilities()
    return os.geteuid() != 0


def limit_resources(limits: "dict[str, float]") -> None:
    """What is stricter already stays."""
    seconds = int(-(-limits["seconds"] // 1))
    processes = int(limits["processes"])
    for kind, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (RLIMIT_SIGPENDING, processes, processes),  # timers, too, are the kernel's memory
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, int(limits["file_size"]), int(limits["file_size"])),
        (resource.RLIMIT_NOFILE, int(limits["files"]), int(limits["files"])),
        (resource.RLIMIT_NPROC, processes, processes),
        (resource.RLIMIT_STACK, int(limits["stack"]), int(limits["stack"])),
        (resource.RLIMIT_AS, int(limits["memory"]) + BARE, int(limits["memory"]) + BARE),
    ):
        _, ceiling = resource.getrlimit(kind)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))


# --- Landlock: which paths may be touched, enforced by the kernel on this process for good ---


def restrict_paths(readable: "list[str]", writable: "list[str]") -> bool:
    """From here on only these may be opened, with all that is beneath them. False when the kernel has no Landlock."""
    try:
        version = kernel.call(kernel.LANDLOCK_CREATE, None, 0, VERSION_FLAG)
    except OSError:
        version = 0
    if not version:
        return False
    files = FILES_OF_VERSION[max(number for number in FILES_OF_VERSION if number <= version)]
    # What is forbidden unless a rule allows it: each version of the kernel takes as many words as it knows.
    words = [files]
    if version >= 4:
        words.append(CONNECT_AND_BIND)
    if version >= 6:
        words.append(SIGNALS_AND_ABSTRACT_SOCKETS)
    body = b"".join(word.to_bytes(8, "little") for word in words)
    rules = kernel.call(kernel.LANDLOCK_CREATE, body, len(body), 0)
    for path in readable:
        allow(rules, path, READ_FILE | READ_DIRECTORY)
    for path in writable:
        allow(rules, path, files & ~EXECUTE)
    kernel.call(kernel.LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    return True


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
