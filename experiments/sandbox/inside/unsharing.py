"""Namespaces without bubblewrap: a process tree, a network and a file system of the box's own, made by this process.

Root needs no user namespace for it and takes none; an ordinary user gets the right to mount from one.
"""

import os

from . import frames, kernel

TYPE_CHECKING = False  # importing `typing` would cost every test its milliseconds
if TYPE_CHECKING:
    from typing import Any

NEW_MOUNTS, NEW_CGROUP, NEW_NAMES, NEW_IPC, NEW_USER, NEW_PROCESSES, NEW_NETWORK = (
    *(0x00020000, 0x02000000, 0x04000000, 0x08000000),
    *(0x10000000, 0x20000000, 0x40000000),
)
EVERYTHING = NEW_MOUNTS | NEW_CGROUP | NEW_NAMES | NEW_IPC | NEW_PROCESSES | NEW_NETWORK
NOBODY = 65_534

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
READ_ONLY, NO_SETUID, NO_DEVICES = 1, 2, 4  # attributes of mount_setattr
HERE, RECURSIVE = -100, 0x8000
DETACH = 2
OLD, NEW = "/old", "/new"
TEMPORARY = "/tmp"  # noqa: S108 — the box's own
BASE = "/tmp"  # noqa: S108 — a folder that every machine has; what is mounted on it is seen by this process alone


def unshare(plan: "dict[str, Any]", told: int) -> None:
    """Returns in the box's first process. The one that was called stays outside, waits for it and never returns."""
    kernel.die_with_parent()
    user, group = os.geteuid(), os.getegid()
    kernel.call(kernel.UNSHARE[kernel.ARCHITECTURE], EVERYTHING | (NEW_USER if user else 0))
    if user:
        identity = (("setgroups", "deny"), ("uid_map", f"{NOBODY} {user} 1"), ("gid_map", f"{NOBODY} {group} 1"))
        for name, text in identity:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    first = os.fork()
    if first:
        # Says which process to kill, and keeps nothing open by which the parent would believe the box alive.
        frames.write_all(told, f'{{"child-pid": {first}}}'.encode())
        os.closerange(0, 256)
        os.waitpid(first, 0)
        os._exit(0)
    kernel.die_with_parent()
    os.close(told)
    kernel.call(kernel.SETHOSTNAME[kernel.ARCHITECTURE], b"box", 3)
    make_root(plan)


def make_root(plan: "dict[str, Any]") -> None:
    """A root of its own, read-only, on which lies what the plan names."""
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    mount("tmpfs", BASE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755")
    os.mkdir(BASE + OLD)
    os.mkdir(BASE + NEW)
    pivot(BASE, BASE + OLD)
    mount("tmpfs", NEW, "tmpfs", MS_NOSUID, "mode=0755")
    furnish(plan)
    os.chdir(NEW)
    pivot(".", ".")
    kernel.call(kernel.UMOUNT[kernel.ARCHITECTURE], b".\0", DETACH)
    set_attributes("/", READ_ONLY, 0)


def furnish(plan: "dict[str, Any]") -> None:
    os.umask(0o022)
    for path, target in plan["links"]:
        os.makedirs(os.path.dirname(NEW + path), exist_ok=True)
        os.symlink(target, NEW + path)
    for path in plan["readable"]:
        show(path, READ_ONLY | NO_SETUID | NO_DEVICES)
    for path in plan["devices"]:
        show(path, NO_SETUID)
    for path in plan["hidden"]:
        mount("tmpfs", NEW + path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555")
    os.mkdir(NEW + TEMPORARY)


def mount_temporary(disk: int, entries: int) -> None:
    """The one folder that can be written to, for so many bytes and so many files and folders."""
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("tmpfs", TEMPORARY, "tmpfs", flags, f"size={disk},nr_inodes={entries},mode=1777")
    os.chdir(TEMPORARY)


def show(path: str, attributes: int) -> None:
    """The machine's file or folder at the same place in the box."""
    if os.path.isdir(OLD + path):
        os.makedirs(NEW + path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(NEW + path), exist_ok=True)
        os.close(os.open(NEW + path, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(OLD + path, NEW + path, "", MS_BIND | MS_REC)
    set_attributes(NEW + path, attributes, RECURSIVE)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    words = [word.encode() + b"\0" for word in (source, target, kind)]
    kernel.call(kernel.MOUNT[kernel.ARCHITECTURE], *words, flags, options.encode() + b"\0")


def pivot(new: str, old: str) -> None:
    kernel.call(kernel.PIVOT_ROOT[kernel.ARCHITECTURE], new.encode() + b"\0", old.encode() + b"\0")
    if old != ".":
        os.chdir("/")


def set_attributes(path: str, attributes: int, flags: int) -> None:
    """Of a mount, and of those beneath it where asked; a user namespace may not loosen any, so none is loosened."""
    body = attributes.to_bytes(8, "little") + bytes(24)
    kernel.call(kernel.MOUNT_SETATTR, HERE, path.encode() + b"\0", flags, body, len(body))
