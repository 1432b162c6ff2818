"""What the candidate's process gives up for good before the candidate's first line runs."""

import os
import resource

from . import kernel, landlock, seccomp

IDENTITY, LIMITS, PRIVILEGES, LANDLOCK, SECCOMP = (
    "unprivileged user",
    "limits",
    "no new privileges",
    "landlock",
    "seccomp",
)
RLIMIT_SIGPENDING = 11  # which the module has no name for
BARE = 48 << 20  # bytes of address space that the interpreter itself is made of


def confine(request: "dict[str, object]") -> "list[str]":
    """The layers that hold from here on. The request says which are `wanted`; Landlock and seccomp may be lacking."""
    wanted: list[str] = request["wanted"]  # type: ignore[assignment]  # of the shape that the parent sends
    holds = [IDENTITY] if has_ordinary_identity(request["uid"]) else []  # type: ignore[arg-type]  # of the shape that the parent sends
    kernel.die_with_parent()
    kernel.one_memory_arena()
    limit_resources(request["limits"])  # type: ignore[arg-type]  # of the shape that the parent sends
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    holds += [LIMITS, PRIVILEGES]
    if LANDLOCK in wanted and landlock.restrict(request["readable"], request["writable"]):  # type: ignore[arg-type]  # of the shape that the parent sends
        holds.append(LANDLOCK)
    if SECCOMP in wanted and seccomp.restrict():
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
        limit(kind, soft, hard)


def limit(kind: int, soft: int, hard: int) -> None:
    """Sets it, or leaves what is stricter already."""
    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))
