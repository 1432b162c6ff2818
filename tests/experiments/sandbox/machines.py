"""A machine full of traps: whatever gets out of the sandbox leaves a trace on it."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.sandbox.inside import kernel
from tests.fixtures import wait_until

PROJECT = Path(__file__).parents[3]
PUBLIC = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/etc", "/root", "/home")
INTO_THE_OPEN = (*PUBLIC, str(PROJECT), os.getcwd(), str(PROJECT.parent))


@dataclass
class Host:
    """What an attacker may hope for, with every permission that files can give: only walls keep it away."""

    folder: Path
    listeners: dict[str, socket.socket]
    marker: str = field(default_factory=lambda: f"marker-{secrets.token_hex(16)}")
    secret: str = field(default_factory=lambda: f"secret-{secrets.token_hex(16)}")
    answer: str = field(default_factory=lambda: f"answer-{secrets.token_hex(16)}")
    children: set[int] = field(default_factory=lambda: descendants())

    def __post_init__(self) -> None:
        self.canary.write_text(self.secret)
        self.canary.chmod(0o666)
        self.before, self.left_before = self.traces(), self.left()

    @property
    def canary(self) -> Path:
        return self.folder / "canary.txt"

    def told(self) -> dict[str, Any]:
        paths = {"file": self.canary, "folder": self.folder, "project": PROJECT, "socket": self.folder / "socket"}
        ports = {kind: self.listeners[kind].getsockname()[1] for kind in ("tcp", "udp")}
        own = {"cwd": os.getcwd(), "pid": os.getpid(), "address": own_address()}
        marks = {"marker": self.marker, "abstract": self.marker}
        return {name: str(path) for name, path in paths.items()} | ports | own | marks

    def traces(self) -> list[tuple[str, int, int, int, int, int]]:
        """Every file of the folder, with all that a program could change about it."""
        paths = [self.folder, *sorted(self.folder.rglob("*"))]
        facts = [(path, path.lstat()) for path in paths]
        return [
            (str(path), found.st_mode, found.st_uid, found.st_nlink, found.st_size, found.st_mtime_ns)
            for path, found in facts
        ]

    def harm(self) -> list[str]:
        """What the attack has done, in words; empty when nothing."""
        found = [f"{name} was reached" for name, listener in self.listeners.items() if was_reached(listener)]
        if self.traces() != self.before or self.canary.read_text() != self.secret:
            found.append("files outside were changed")
        return found + [f"{path} was left" for path in sorted(self.left() - self.left_before)]

    def left(self) -> set[str]:
        """Files in public places that bear the marker, and the memory of crashed programs."""
        found = {os.path.join(place, name) for place in INTO_THE_OPEN for name in names(place)}
        return {path for path in found if self.marker in path or os.path.basename(path).split(".")[0] == "core"}

    def wait_for_the_last(self) -> None:
        """Fails when a process lives on that the run has brought forth, wherever it went."""
        wait_until(lambda: not living(descendants() - self.children), "the processes of the sandbox to end", seconds=12)

    def bury(self) -> None:
        """Ends what an attack has left running after all, and removes what it has left lying about."""
        for number in descendants() - self.children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        for path in self.left() - self.left_before:
            if self.marker in path:
                os.remove(path)
        self.wait_for_the_last()


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Whoever outlives its parents becomes a child of this process, and not of the machine's first: none is lost."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 0)


@contextlib.contextmanager
def trapped() -> Iterator[Host]:
    folder = Path(tempfile.mkdtemp(prefix="host-", dir="/tmp"))
    folder.chmod(0o777)
    try:
        with adopting_orphans(), contextlib.ExitStack() as stack:
            listeners = {
                "tcp": listener(stack, socket.AF_INET, ("0.0.0.0", 0)),
                "udp": listener(stack, socket.AF_INET, ("0.0.0.0", 0), socket.SOCK_DGRAM),
                "unix": listener(stack, socket.AF_UNIX, str(folder / "socket")),
            }
            (folder / "socket").chmod(0o777)
            host = Host(folder, listeners)
            listeners["abstract"] = listener(stack, socket.AF_UNIX, f"\0{host.marker}")
            try:
                yield host
            finally:
                host.bury()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def listener(stack: contextlib.ExitStack, family: int, address: Any, kind: int = socket.SOCK_STREAM) -> socket.socket:
    """Takes whoever comes into its queue; nobody has to wait for them."""
    opened = stack.enter_context(socket.socket(family, kind))
    opened.bind(address)
    opened.setblocking(False)
    if kind == socket.SOCK_STREAM:
        opened.listen(16)
    return opened


def was_reached(opened: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        if opened.type == socket.SOCK_DGRAM:
            return bool(opened.recvfrom(100))
        opened.accept()[0].close()
        return True
    return False


def own_address() -> str:
    """An address of this machine that is not the loopback's, where it has one; nothing is sent."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def names(folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)
    return []


def descendants(process: int | None = None) -> set[int]:
    """The numbers of all processes that come from one; from this one unless another is named."""
    parents = dict(filter(None, map(number_and_parent, names("/proc"))))
    found: set[int] = set()
    rest = {process or os.getpid()}
    while rest:
        rest = {number for number, parent in parents.items() if parent in rest} - found
        found |= rest
    return found


def number_and_parent(name: str) -> tuple[int, int] | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(name), int(Path(f"/proc/{int(name)}/stat").read_text().rpartition(")")[2].split()[1])
    return None


def living(numbers: set[int]) -> set[int]:
    """Those that still run; orphans that have ended are buried."""
    for number in numbers:
        with contextlib.suppress(ChildProcessError):  # it is none of ours
            os.waitpid(number, os.WNOHANG)
    return {number for number in numbers if not has_ended(number)}


def has_ended(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
