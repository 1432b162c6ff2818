"""The limited process that reads uploads: started with nothing of ours but its orders, watched, ended when need be."""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.conf import settings

from experiments.library.datasets.reasons import sentence
from experiments.tasks.waiting import Failed

START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from experiments.library.datasets.reader.program import main; main()"
)
LOOK_SECONDS = 0.5  # how often the parent looks up while the process says nothing
LONGEST_WORD = 16 << 20  # bytes that the process may say in one line
LAST_WORDS = 2000  # bytes of its standard error that are kept
Heard = Callable[[float], None]


class Refused(Failed):
    """What was uploaded cannot be taken. The message is a sentence for whoever uploaded it."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(sentence(code, facts))
        self.code = code


class Found(NamedTuple):
    """spool: where its records and pictures lie. said: what the process says of them; warnings: times by code."""

    spool: Path
    said: dict[str, Any]
    warnings: dict[str, int]


def unheard(share: float) -> None:
    """For those who do not want to know how far it is."""


@contextmanager
def spool_in(folder: Path) -> Iterator[Path]:
    """An empty folder of its own, gone afterwards."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    spool = Path(tempfile.mkdtemp(prefix="spool-", dir=folder))
    try:
        yield spool
    finally:
        shutil.rmtree(spool, ignore_errors=True)


def read(
    path: Path, spool: Path, *, what: str, heard: Heard = unheard, within: float | None = None, **orders: Any
) -> Found:
    """What is in the file or folder, put into the spool by a process of its own. Raises Refused.

    heard: called again and again with how far it is, 0 to 1; what it raises ends the process, too. within: seconds.
    """
    limits = {"memory": settings.DATASET_MEMORY, "unpacked": settings.DATASET_UNPACKED} | orders.pop("limits", {})
    told = {"what": what, "path": str(path.absolute()), "spool": str(spool), "limits": limits, **orders}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-X", "utf8", "-c", START, str(settings.BASE_DIR)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={},
            cwd=spool,
            close_fds=True,
            start_new_session=True,
        )
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process was started with pipes, and has none")
        try:
            with suppress(BrokenPipeError):  # it has died already; how, is said when it is waited for
                process.stdin.write(json.dumps(told).encode())
                process.stdin.close()
            last = _listen(process.stdout.fileno(), heard, within or settings.DATASET_SECONDS)
        finally:
            process.kill()
            code = process.wait()
            process.stdout.close()
        return _ended(last, code, errors, spool)


def _listen(pipe: int, heard: Heard, within: float) -> dict[str, object]:
    """The last thing that it says. Raises Refused when it says nothing for too long, or goes on for ever."""
    last: dict[str, Any] = {}
    share, began, spoke = 0.0, time.monotonic(), time.monotonic()
    for line in _lines(pipe):
        now = time.monotonic()
        if line:
            last, spoke = json.loads(line), now
            share = float(last.get("progress", share))
        if now - began > within or now - spoke > settings.DATASET_SILENT_SECONDS:
            raise Refused("took_too_long")
        heard(share)
    return last


def _lines(pipe: int) -> Iterator[bytes]:
    """Each line that it says, and an empty one whenever it says nothing for a while."""
    begun = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(LOOK_SECONDS):
                yield b""
                continue
            chunk = os.read(pipe, 1 << 16)
            if not chunk:
                return
            *lines, begun = (begun + chunk).split(b"\n")
            yield from (line for line in lines if line)
            if len(begun) > LONGEST_WORD:
                raise Refused("reader_died", said="too many words")


def _ended(last: dict[str, Any], code: int, errors: IO[bytes], spool: Path) -> Found:
    if "found" in last:
        return Found(spool, last["found"], last.get("warnings", {}))
    if "refused" in last:
        raise Refused(str(last["refused"]), **last.get("facts", {}))
    if code == -signal.SIGXCPU:
        raise Refused("took_too_long")
    if code == -signal.SIGKILL:  # by nobody of ours: the machine has run out of memory
        raise Refused("needs_memory")
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - LAST_WORDS))
    words = errors.read().decode(errors="replace").strip().splitlines()
    if any("MemoryError" in line or "bad_alloc" in line for line in words):
        raise Refused("needs_memory")
    raise Refused("reader_died", said=words[-1][:200] if words else f"exit code {code}")
