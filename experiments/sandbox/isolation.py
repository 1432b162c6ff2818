"""probe() -> Probe: whether a sandbox here holds, found out by attacking it."""

import os
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.sandbox.backends import AUTOMATIC, Backend, backend_named
from experiments.sandbox.languages import PYTHON
from experiments.sandbox.trial import Program, Trial, tried
from experiments.sandbox.values import JSON, Layer, Limits, NotStarted, Probe, Test, Unavailable, Verdict

WALLS = {
    "mount namespace": "it sees a file system of its own",
    "pid namespace": "it sees no other process, and all of it dies together",
    "network namespace": "it has no network",
    "ipc namespace": "it shares no memory with others",
    "user namespace": "its user does not exist outside",
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

SWITCHES = {
    "proc/sys/kernel/unprivileged_userns_clone": (
        "0",
        "Ordinary users may not make namespaces here: sysctl -w kernel.unprivileged_userns_clone=1.",
    ),
    "proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "AppArmor keeps ordinary users from namespaces (Ubuntu 23.10 and later): allow bwrap by a profile in "
        "/etc/apparmor.d, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.",
    ),
    "proc/sys/user/max_user_namespaces": (
        "0",
        "The number of user namespaces is limited to none: sysctl -w user.max_user_namespaces=10000.",
    ),
}
CONTAINERS = (".dockerenv", "run/.containerenv")
IN_A_CONTAINER = (
    "This is a container, and its runtime forbids namespaces: start it with --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined, or let a Docker daemon run the programs (backend docker)."
)
OTHERWISE = "Where none of this can be had, let a Docker daemon run the programs (backend docker)."
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
NEVER_SUFFICIENT = "unsafe keeps nothing in: it is for programs that are trusted, and only when asked for by name."
known: dict[str | None, Probe] = {}
lock = threading.Lock()


def broken_promises(walls: Collection[str]) -> list[str]:
    """What these walls do not suffice for, in words."""
    return [
        promise
        for promise, alternatives in PROMISES.items()
        if not any(set(alternative) <= set(walls) for alternative in alternatives)
    ]


def hints(root: Path = Path("/")) -> list[str]:
    """Sentences that say what to do, at least one."""
    found = []
    for path, (bad, words) in SWITCHES.items():
        with suppress(OSError, ValueError):
            if (root / path).read_text(encoding="ascii").strip() == bad:
                found.append(words)
    if any((root / name).exists() for name in CONTAINERS):
        return [*found, IN_A_CONTAINER]
    if not found and os.uname().sysname == "Linux" and not Path("/usr/bin/bwrap").exists():
        found = ["Install bubblewrap: apt install bubblewrap."]
    return [*found, OTHERWISE]


@dataclass(frozen=True, slots=True)
class Attack:
    """`name` says what holds when it fails. `verdict`: how it must end; None: anything but the answer true. `seconds`
    are plenty, but for the one that is to be stopped at its time."""

    name: str
    test: Test
    verdict: Verdict | None = None
    seconds: float = 20.0


@contextmanager
def attacks() -> Iterator[list[Attack]]:
    """The attacks, with what they are after, for as long as the context lasts; first the one honest call."""
    with TemporaryDirectory(prefix="sandbox-") as folder, listener(socket.AF_INET, ("127.0.0.1", 0)) as internet:
        os.chmod(folder, 0o755)  # noqa: S103 — only the box stands between the program and the secret
        secret = Path(folder, "secret")
        secret.write_text("canary", encoding="ascii")
        known_words: list[JSON] = [[k, v] for k, v in os.environ.items() if k not in HARMLESS_NAMES and v]
        with listener(socket.AF_UNIX, str(Path(folder, "socket"))) as local:
            yield [
                attack("runs an honest program", "honest", 6, verdict="passed"),
                attack("reads no file of this machine", "read", str(secret), "canary"),
                attack("writes no file of this machine", "write", str(Path(folder, "written"))),
                attack("changes no rights of a file", "chmod", str(secret)),
                attack("sees no environment variable", "environment", known_words),
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


@contextmanager
def listener(family: socket.AddressFamily, address: str | tuple[str, int]) -> Iterator[str | tuple[str, int]]:
    """Listens, and gives the address; connections are never answered."""
    with socket.socket(family) as server:
        server.bind(address)
        if isinstance(address, str):
            with suppress(OSError):
                os.chmod(address, 0o777)  # noqa: S103 — only the box stands between the program and the socket
        server.listen()
        yield server.getsockname()


def probe(backend: str | None = None, *, fresh: bool = False) -> Probe:
    """Of one backend, or of the first that suffices. Known per process from the first time on, unless `fresh`.

    Raises Unavailable for the name of a backend that there is not.
    """
    with lock:
        if fresh or backend not in known:
            known[backend] = probed(backend_named(backend)) if backend else first_sufficient()
        return known[backend]


def sufficient(name: str | None) -> tuple[Backend, tuple[str, ...]]:
    """The backend to use, and the walls without which it must not run anything. Raises Unavailable."""
    if name == "unsafe":
        return backend_named(name), ()
    found = probe(name)
    if not found.is_sufficient or found.backend is None:
        raise Unavailable(found.refusal)
    required = tuple(layer.name for layer in found.layers if layer.name in WALLS and layer.holds)
    return backend_named(name or found.backend), required


def first_sufficient() -> Probe:
    found = []
    for backend in AUTOMATIC:
        found.append(probed(backend))
        if found[-1].is_sufficient:
            return found[-1]
    return Probe(
        backend=None,
        layers=tuple(layer for one in found for layer in one.layers),
        is_sufficient=False,
        refusal=" ".join(["No sandbox here keeps a program in.", *(one.refusal for one in found), *hints()]),
    )


def probed(backend: Backend) -> Probe:
    if missing := backend.missing():
        return Probe(backend.name, (), is_sufficient=False, refusal=missing)
    try:
        return attacked(backend)
    except (NotStarted, Unavailable) as error:
        return Probe(backend.name, (), is_sufficient=False, refusal=f"{backend.name} does not start: {error}.")


def attacked(backend: Backend) -> Probe:
    trials: list[Trial] = []
    verdicts: list[Layer] = []
    with attacks() as planned:
        for each in planned:
            program = Program(PROGRAM, "solve", Limits(seconds=each.seconds))
            trial = tried(program, each.test, backend=backend, language=PYTHON, seconds=each.seconds)
            result = trial.result
            holds = result.verdict == each.verdict if each.verdict else result.value is not True
            ended_in = f"{result.verdict}: {result.error}" if result.error else result.verdict
            trials.append(trial)
            verdicts.append(Layer(each.name, holds, ended_in))
    held = trials[0].layers
    # Root's boxes run as an unused user; a user namespace would add nothing to that.
    sought = [name for name in WALLS if name != "user namespace" or os.geteuid() != 0]
    walls = [Layer(name, name in held, WALLS[name]) for name in sought]
    lacking = [*broken_promises(held), *(f"pass the attack “{layer.name}”" for layer in verdicts if not layer.holds)]
    refusal = f"{backend.name} does not {', '.join(lacking)}." if lacking else ""
    if backend.name == "unsafe":
        refusal = NEVER_SUFFICIENT
    return Probe(backend.name, (*walls, *verdicts), is_sufficient=not refusal, refusal=refusal)
