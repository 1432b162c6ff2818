"""Real attacks upon a box, harmless where they succeed: each tries for something made for it."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.sandbox.values import JSON, Result, Test, Verdict

# Every attack answers true when it has got what it was after, and fails or answers false otherwise.
PROGRAM = """
import os, socket

def solve(attack, *arguments):
    return globals()[attack](*arguments)

def honest(number):
    return number == 6

def read(path, secret):
    return secret in open(path).read()

def write(path):
    with open(path, "w") as file:
        file.write("written from the box")
    return os.path.exists(path)

def chmod(path):
    os.chmod(path, 0o777)
    return True

def environment(known):
    return any(os.environ.get(name) == value for name, value in known)

def connect(family, address):
    with socket.socket(getattr(socket, family)) as one:
        one.settimeout(2)
        one.connect(tuple(address) if isinstance(address, list) else address)
    return True

def fork():
    if os.fork() == 0:
        os._exit(0)
    return True

def signal(process):
    os.kill(process, 0)
    return True

def memory(size):
    return len(bytearray(size)) == size

def loop():
    while True:
        pass
"""
HARMLESS_NAMES = {"PATH", "HOME", "PWD", "LANG", "LC_CTYPE", "LC_ALL", "SHLVL", "_", "HOSTNAME", "TERM"}
GIBIBYTE = 1 << 30


@dataclass(frozen=True, slots=True)
class Attack:
    """`name` says what holds when it fails. `verdict`: how it must end; None: anything but the answer true. `seconds`
    are plenty, but for the one that is to be stopped at its time."""

    name: str
    test: Test
    verdict: Verdict | None = None
    seconds: float = 20.0

    def fails(self, result: Result) -> bool:
        return result.verdict == self.verdict if self.verdict else result.value is not True


@contextmanager
def attacks() -> Iterator[list[Attack]]:
    """The attacks, with what they are after, for as long as the context lasts; first the one honest call."""
    with TemporaryDirectory(prefix="sandbox-") as folder, listener(socket.AF_INET, ("127.0.0.1", 0)) as internet:
        os.chmod(folder, 0o755)  # noqa: S103 — only the box stands between the program and the secret
        secret = Path(folder, "secret")
        secret.write_text("canary", encoding="ascii")
        with listener(socket.AF_UNIX, str(Path(folder, "socket"))) as local:
            yield [
                attack("runs an honest program", "honest", 6, verdict="passed"),
                attack("reads no file of this machine", "read", str(secret), "canary"),
                attack("writes no file of this machine", "write", str(Path(folder, "written"))),
                attack("changes no rights of a file", "chmod", str(secret)),
                attack("sees no environment variable", "environment", environment()),
                attack("reads no other process's environment", "read", f"/proc/{os.getpid()}/environ", ""),
                attack("reaches no TCP server", "connect", "AF_INET", list(internet)),
                attack("reaches no Unix socket", "connect", "AF_UNIX", local),
                attack("starts no process", "fork"),
                attack("signals no other process", "signal", os.getpid()),
                attack("is stopped at its memory", "memory", GIBIBYTE, verdict="memory"),
                Attack("is stopped at its time", Test("loop", ["loop"], True), "timeout", seconds=0.5),
            ]


def attack(name: str, function: str, *arguments: Any, verdict: Verdict | None = None) -> Attack:
    return Attack(name, Test(function, [function, *arguments], True), verdict)


def environment() -> list[JSON]:
    return [[name, value] for name, value in os.environ.items() if name not in HARMLESS_NAMES and value]


@contextmanager
def listener(family: socket.AddressFamily, address: str | tuple[str, int]) -> Iterator[str | tuple[str, int]]:
    """Listens, and gives the address; whoever connects is never answered."""
    with socket.socket(family) as server:
        server.bind(address)
        if isinstance(address, str):
            with suppress(OSError):
                os.chmod(address, 0o777)  # noqa: S103 — only the box stands between the program and the socket
        server.listen()
        yield server.getsockname()
