"""The first process in the box: trusted, and out of the candidate's reach.

It starts the candidate's process, says that it is up, and waits on stdin for the request, which may come much later and
is handed on to the candidate. It passes on what that prints and answers, and says at the end how it ended, from the
kernel's own figures. All of it goes to the parent on stdout, in frames.
"""

import marshal
import os
import select
import sys
import time

from . import confinement, frames, harness, kernel, seccomp, unsharing

TYPE_CHECKING = False  # importing `typing` would cost every test its milliseconds
if TYPE_CHECKING:
    from typing import Any

CHANNELS = (frames.STDOUT, frames.STDERR, frames.RESULT)
ASIDE, RESULT = 100, 3  # descriptors
OWN_MODULES = "inside"


def main() -> None:
    """Reads the plan of namespaces to be made by us, or None, and the request, a dict of plain values: see
    `Program.request` in `trial.py`. Both are marshalled. Never returns.
    """
    kernel.die_with_parent()
    plan: dict[str, Any] | None = marshal.loads(frames.read_counted(0))  # noqa: S302 — the parent's own words
    if plan is not None:
        unsharing.unshare(plan, int(sys.argv[1]))
    pipes = [os.pipe() for _ in CHANNELS]
    asked, asking = os.pipe()
    candidate = os.fork()
    if not candidate:
        os.close(asking)
        become_candidate(asked, [writing for _, writing in pipes])
    for descriptor in (asked, *(writing for _, writing in pipes)):
        os.close(descriptor)
    frames.send(1, frames.UP, b"")
    told = frames.read_all(0)
    if not told:
        os._exit(0)  # it is not needed, or whoever started it has ended
    request: dict[str, Any] = marshal.loads(told)  # noqa: S302 — the parent's own words
    if request["has_temporary"]:
        unsharing.mount_temporary(request["limits"]["disk"], request["limits"]["entries"])
    kernel.drop_capabilities(0 if request["uid"] is None else kernel.KILL_OTHERS)
    frames.write_all(asking, told)
    os.close(asking)
    supervise(candidate, [reading for reading, _ in pipes], float(request["seconds"]))


def become_candidate(asked: int, channels: "list[int]") -> None:
    """Prepares what depends on no program, and waits for the request, which is the supervisor's. Then it gives up
    everything, says on the result channel what holds, and runs the program. Never returns.
    """
    kernel.die_with_parent()
    document = os.memfd_create("stdin")
    for number, descriptor in enumerate((document, *channels, asked)):
        os.dup2(descriptor, ASIDE + number)  # first out of the way: some may lie where others belong
    for number in range(4):
        os.dup2(ASIDE + number, number)
    system_calls = seccomp.program()
    harness.rehearse()
    told = frames.read_all(ASIDE + 4)
    os.closerange(RESULT + 1, 256)
    if not told:
        os._exit(0)
    request: dict[str, Any] = marshal.loads(told)  # noqa: S302 — the parent's own words
    frames.write_all(0, request["document"])
    os.lseek(0, 0, os.SEEK_SET)
    try:
        if request["has_temporary"]:
            os.chdir(unsharing.TEMPORARY)
        # A program finds the standard library and nothing else.
        sys.argv[:] = [harness.FILENAME]
        for name in [name for name in sys.modules if name.partition(".")[0] == OWN_MODULES]:
            del sys.modules[name]
        holds = confinement.confine(request, system_calls)
    except OSError as error:
        frames.write_all(RESULT, frames.REFUSED + str(error).encode() + b"\n")
        os._exit(1)
    missing = [name for name in request["required"] if name not in holds]
    if missing:
        frames.write_all(RESULT, frames.REFUSED + f"no {', '.join(missing)}\n".encode())
        os._exit(1)
    frames.write_all(RESULT, ",".join(holds).encode() + b"\n")
    harness.run(request, RESULT)


def supervise(candidate: int, channels: "list[int]", seconds: float) -> None:
    """Passes on what is written until the candidate has ended, by itself or when its time is over. Never returns."""
    waiting = select.poll()
    names = dict(zip(channels, CHANNELS))  # noqa: B905 — Python 3.9 has no strict
    ended = os.pidfd_open(candidate)
    for descriptor in (*channels, ended):
        waiting.register(descriptor, select.POLLIN)
    until, is_late = time.monotonic() + seconds, False
    while True:
        left = until - time.monotonic()
        if left <= 0 and not is_late:
            is_late = True
            os.kill(candidate, kernel.SIGKILL)
        ready = [descriptor for descriptor, _ in waiting.poll(None if is_late else left * 1000)]
        for descriptor in ready:
            if descriptor in names:
                body = os.read(descriptor, frames.LARGEST)
                if body:
                    frames.send(1, names[descriptor], body)
                else:
                    waiting.unregister(descriptor)
        if ready == [ended]:
            _, status, usage = os.wait4(candidate, 0)
            figures = f"{status} {usage.ru_maxrss} {usage.ru_utime + usage.ru_stime} {int(is_late)}"
            frames.send(1, frames.STATUS, figures.encode())
            os._exit(0)
