"""How much the process may use, and what it raises for an upload that is too much or cannot be read."""

import ctypes
import resource
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from experiments.sandbox.inside import kernel, seccomp
from experiments.sandbox.inside.seccomp import EQUAL

ALLOWANCE = 3 << 30  # address space that is reserved but not used: code, threads, freed pieces
OPEN_FILES = 64
PR_SET_PDEATHSIG = 1
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SOCKET_CALLS = {"x86_64": (41, 425), "aarch64": (198, 425)}  # socket, and io_uring_setup, which makes sockets too


class CannotRead(Exception):
    """What was uploaded cannot be taken. code: of `reasons.REFUSALS`. facts: file, row and whatever else its sentence
    names.
    """

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code, self.facts = code, facts


@dataclass(frozen=True, slots=True)
class Limits:
    """memory: bytes that tables may take at once. seconds: of computing time. unpacked: bytes of an archive's content
    and of any file that is written. ratio: how many times an archive of more than `bulk` bytes may grow. pixels, side:
    of one picture; picture: its bytes. text: characters of one text. taken: bytes that may be taken out of
    any upload, and `ratio` times as many as were sent out of a larger one.
    """

    memory: int = 1500 << 20
    seconds: int = 3600
    unpacked: int = 8 << 30
    ratio: int = 100
    bulk: int = 64 << 20
    taken: int = 256 << 20
    entries: int = 300_000
    pixels: int = 50_000_000
    side: int = 16_384
    picture: int = 32 << 20
    columns: int = 2_000
    text: int = 200_000
    metadata: int = 20_000
    pictures_of_sample: int = 16
    samples: int = 1_000_000
    contestants: int = 1_000


def impose(limits: Limits) -> None:
    """From here on the process is ended rather than allowed more."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing too much is an error, which can be told
    _lower(resource.RLIMIT_AS, limits.memory + ALLOWANCE)
    _lower(resource.RLIMIT_CPU, limits.seconds, grace=5)
    _lower(resource.RLIMIT_FSIZE, limits.unpacked)
    _lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    _lower(resource.RLIMIT_CORE, 0)


def die_with_parent() -> None:
    """Where the kernel offers it. Elsewhere the process ends when it next says something."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def leave_network() -> None:
    """From here on there is no address that this process could reach. Every new socket is refused as well, on machines
    whose numbers are known: a container, or a service, may make no namespaces.
    """
    with suppress(OSError, AttributeError):
        unshare = ctypes.CDLL(None).unshare
        if unshare(CLONE_NEWNET) != 0:  # only root may do that by itself
            unshare(CLONE_NEWUSER | CLONE_NEWNET)
    if numbers := SOCKET_CALLS.get(kernel.ARCHITECTURE):
        refused = [step for number in numbers for step in ((EQUAL, 0, 1, number), seccomp.answer(seccomp.REFUSE))]
        steps = [*seccomp.beginning(), *refused, seccomp.answer(seccomp.ALLOW)]
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.install(b"".join(map(seccomp.encoded, steps)))


def _lower(which: int, most: int, grace: int = 0) -> None:
    """grace: between the signal and the end."""
    _soft, hard = resource.getrlimit(which)
    bounded = most + grace if hard == resource.RLIM_INFINITY else min(most + grace, hard)
    resource.setrlimit(which, (min(most, bounded), bounded))
