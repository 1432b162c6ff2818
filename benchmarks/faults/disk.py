"""A small disk that can be filled: a tmpfs in a mount namespace of our own, which ends with us."""

import contextlib
import ctypes
import os
import resource
from collections.abc import Iterable
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
BLOCK = bytes(1 << 16)


def mount(folder: Path, megabytes: int) -> bool:
    """Whether `folder` is a disk of that size now, for this process and those it starts. False where the kernel
    allows neither root nor a user namespace to mount. Call it before any thread is started.
    """
    folder.mkdir(parents=True, exist_ok=True)
    library = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if library.unshare(CLONE_NEWNS | (CLONE_NEWUSER if user else 0)):
        return False
    if user:
        _map(user, group)
    private = library.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    options = f"size={megabytes}m,mode=0755".encode()
    return not private and not library.mount(b"tmpfs", str(folder).encode(), b"tmpfs", 0, options)


def _map(user: int, group: int) -> None:
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


class Disk:
    """is_mounted: it is filled by a file that takes all that is left; otherwise nobody may write a file any longer than
    a block, which fails in another way (EFBIG), and only for who asks for `limited` processes.
    """

    def __init__(self, folder: Path, *, is_mounted: bool) -> None:
        self.folder, self.is_mounted = folder, is_mounted

    def fill(self, limited: Iterable[int]) -> str:
        if not self.is_mounted:
            _limit(limited, len(BLOCK))
            return "RLIMIT_FSIZE"
        with (self.folder / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while filler.write(BLOCK):
                pass
        return "tmpfs"

    def empty(self, limited: Iterable[int]) -> None:
        if self.is_mounted:
            (self.folder / "filler").unlink(missing_ok=True)
        else:
            _limit(limited, resource.RLIM_INFINITY)


def _limit(processes: Iterable[int], size: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            hard = resource.prlimit(process, resource.RLIMIT_FSIZE)[1]
            resource.prlimit(process, resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))
