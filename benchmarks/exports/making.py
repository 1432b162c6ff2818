"""A process that makes what waits, as the worker does, and says in JSON how large it has grown."""

import contextlib
import json
import os
import resource
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import django

LOOK_SECONDS = 0.02


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    django.setup()
    from experiments.library.bulk import making  # noqa: PLC0415 - models exist after the set-up alone

    helper, began = _helpers(), time.monotonic()
    with watched() as own:
        making.make_all(threading.Event())
    told = {"seconds": time.monotonic() - began, "own": max(own), "before": own[0], "peak": peak("self")}
    print(json.dumps({**told, "helper": _helpers() if _helpers() > helper else None}))


@contextlib.contextmanager
def watched() -> Iterator[list[float]]:
    """What this process has of its own, look by look: without the pages of files, which SQLite maps and the kernel
    takes back.
    """
    seen, is_over = [_status("self", "RssAnon")], threading.Event()

    def look() -> None:
        while not is_over.wait(LOOK_SECONDS):
            seen.append(_status("self", "RssAnon"))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()


def peak(pid: int | str) -> float:
    """The most that the process ever had in memory, in MiB, with the pages of files."""
    return _status(pid, "VmHWM")


def held(pid: int) -> float:
    return _status(pid, "VmRSS")


def _helpers() -> float:
    """The largest process that was started from here and has ended, in MiB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def forget_peak(pid: int) -> None:
    """From now on the peak is counted anew: proc(5), clear_refs."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _status(pid: int | str, name: str) -> float:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(name)]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
