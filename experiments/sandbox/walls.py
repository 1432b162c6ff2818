"""What a box is made of, and which of it together suffices."""

from collections.abc import Collection

WALLS = {
    "mount namespace": "it sees a file system of its own",
    "pid namespace": "it sees no other process, and all of it dies together",
    "network namespace": "it has no network",
    "ipc namespace": "it shares no memory with others",
    "user namespace": "its user is nobody outside",
    "unprivileged user": "it does not run as root and has no capabilities",
    "limits": "memory, processor time, threads, open files and file sizes are limited",
    "no new privileges": "no program it starts could gain any",
    "landlock": "the kernel opens named folders for it and no others",
    "seccomp": "the kernel refuses it whatever an ordinary computation does not need",
}
# Each is held when all of one alternative are.
PROMISES: dict[str, tuple[tuple[str, ...], ...]] = {
    "hide the files": (("mount namespace",), ("landlock",)),
    "cut off the network": (("network namespace",), ("seccomp",)),
    "shield other processes": (("pid namespace",), ("landlock", "seccomp")),
    "limit what is used up": (("limits",),),
    "take away all rights": (("unprivileged user", "no new privileges"),),
    "end everything at the end": (("pid namespace",), ("seccomp",)),
}


def broken_promises(walls: Collection[str]) -> list[str]:
    """What these walls do not suffice for, in words."""
    return [
        promise
        for promise, alternatives in PROMISES.items()
        if not any(set(alternative) <= set(walls) for alternative in alternatives)
    ]
