"""One program, one test, one box: started, fed, listened to within the limits, and ended without a trace."""

import json
import marshal
import os
import secrets
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, cast

from experiments.sandbox.backends import INFO, Backend, Box
from experiments.sandbox.inside import frames
from experiments.sandbox.languages import FORMAT, Language
from experiments.sandbox.values import JSON, KIB, Ended, Limits, NotStarted, Result, Test
from experiments.sandbox.verdicts import Complaint, result_of

END_SECONDS = 30.0  # a machine under load may take long to take down a thousand threads
EXIT_SECONDS = 1.0

START_SECONDS = 60.0  # a machine under load may take long to make namespaces
GRACE_SECONDS = 5.0  # by which the box may be late in ending a candidate whose time is over
STEP_SECONDS = 0.1  # between two looks at whether the run was cancelled
COMPLAINT_LENGTH = 2_000
CHUNK = 1 << 16
RESULT_MARGIN = 4_096  # for the words around a value

WANTED = ("landlock", "seccomp")
STARTS = 2  # a box that did not come up is started once more: a machine may be short of something for a moment


class Ending:
    """Of the launched process and, once known, of the first process of its pid namespace, which takes all others with
    it: the kernel reports its death only after theirs."""

    def __init__(self, process: "subprocess.Popen[bytes]", command: tuple[str, ...]) -> None:
        self.process, self.command = process, command
        self.first: int | None = None

    def learn(self, told: bytes) -> None:
        """Takes `{"child-pid": …}`; the process is held by a descriptor, which no successor of its number inherits."""
        with suppress(ValueError, KeyError, OSError):
            self.first = os.pidfd_open(json.loads(told)["child-pid"])

    def end(self) -> None:
        if self.command:
            with suppress(subprocess.TimeoutExpired):  # most end of themselves within a moment
                self.process.wait(EXIT_SECONDS)
            if self.process.returncode is None:
                with suppress(OSError, subprocess.TimeoutExpired):
                    subprocess.run(self.command, capture_output=True, timeout=END_SECONDS, check=False)  # noqa: S603 — a command of our own words
        if self.first is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.first, signal.SIGKILL)
            gone = select.poll()
            gone.register(self.first, select.POLLIN)
            gone.poll(END_SECONDS * 1000)
            os.close(self.first)
            self.first = None
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Launch:
    """One box from its start to its certain end. It comes up without knowing what it will run, is given one request,
    and ends at the latest with the thread in which it was started.
    """

    def __init__(self, box: Box) -> None:
        """Raises NotStarted."""
        self.box, self.limits, self.unsent = box, Limits(), memoryview(box.prefix)
        self.ended, self.received, self.complaint, self.told = Ended(), bytearray(), bytearray(), bytearray()
        self.is_up, self.is_given = False, False
        self.ready_at: float | None = None
        self.selector = selectors.DefaultSelector()
        self.folder = None if box.has_own_files else TemporaryDirectory(prefix="unsafe-")
        self.info, info = os.pipe()
        try:
            self.process = started(box, info, self.folder.name if self.folder else "/")
        except OSError as error:
            os.close(self.info)
            raise NotStarted(f"{box.command[0]} could not be started: {error.strerror}") from error
        finally:
            os.close(info)
        self.ending = Ending(self.process, box.ending)
        channels = self.process.stdin, self.process.stdout, self.process.stderr
        self.stdin, self.stdout, self.stderr = cast("tuple[IO[bytes], IO[bytes], IO[bytes]]", channels)
        os.set_blocking(self.stdin.fileno(), False)
        self.selector.register(self.stdin, selectors.EVENT_WRITE, self.feed)
        self.selector.register(self.stdout, selectors.EVENT_READ, self.hear)
        self.selector.register(self.stderr, selectors.EVENT_READ, self.hear_launcher)
        self.selector.register(self.info, selectors.EVENT_READ, self.learn_process)

    def __enter__(self) -> "Launch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for key, _ in self.selector.select(0):
            if key.fileobj == self.info:
                self.learn_process()
        self.ending.end()
        self.selector.close()
        if self.folder:
            self.folder.cleanup()
        os.close(self.info)
        for channel in (self.stdin, self.stdout, self.stderr):
            channel.close()

    def come_up(self, is_cancelled: Callable[[], bool]) -> bool:
        """Wait until the box needs nothing but its request; False when it was cancelled. Raises NotStarted when it does
        not come up.
        """
        until = time.monotonic() + START_SECONDS
        while not self.is_up and not is_cancelled():
            left = until - time.monotonic()
            if left <= 0 or self.stdout not in self.selector.get_map():
                raise NotStarted(self.said())
            for key, _ in self.selector.select(min(left, STEP_SECONDS)):
                key.data()
        return self.is_up

    def is_waiting(self) -> bool:
        """Whether it is up, and has said nothing since."""
        return self.is_up and not any(key.fileobj == self.stdout for key, _ in self.selector.select(0))

    def listened(self, request: bytes, limits: Limits, seconds: float, is_cancelled: Callable[[], bool]) -> Ended:
        """Give it the request. The candidate runs for `seconds` of the clock at most from the moment that it is let go,
        however long the box has waited. Raises NotStarted when the box did not come up.
        """
        begun = time.monotonic()
        self.limits, self.unsent, self.is_given = limits, memoryview(bytes(self.unsent) + request), True
        if self.stdin not in self.selector.get_map():
            self.selector.register(self.stdin, selectors.EVENT_WRITE, self.feed)
        while self.stdout in self.selector.get_map() and not self.ended.stopped:
            since, allowed = (
                (begun, START_SECONDS) if self.ready_at is None else (self.ready_at, seconds + GRACE_SECONDS)
            )
            left = since + allowed - time.monotonic()
            if left <= 0 or is_cancelled():
                self.ended.stopped = "timeout" if left <= 0 else "cancelled"
                break
            for key, _ in self.selector.select(min(left, STEP_SECONDS)):
                key.data()
        if self.ready_at is None and self.ended.stopped != "cancelled":
            raise NotStarted(self.said())
        self.ended.seconds = time.monotonic() - (self.ready_at or time.monotonic())
        return self.ended

    def said(self) -> str:
        """Of a box that did not come up."""
        texts = (bytes(text).decode(errors="replace").strip() for text in (self.complaint, self.ended.result))
        return next(filter(None, texts), "the box ended before it was ready")

    def feed(self) -> None:
        try:
            sent = os.write(self.stdin.fileno(), self.unsent[:CHUNK])
        except BrokenPipeError:
            sent = len(self.unsent)
        self.unsent = self.unsent[sent:]
        if not self.unsent:
            self.selector.unregister(self.stdin)
            if self.is_given:
                self.stdin.close()

    def hear(self) -> None:
        body = os.read(self.stdout.fileno(), CHUNK)
        if not body:
            self.selector.unregister(self.stdout)
        self.received += body
        while len(self.received) >= frames.HEADER:
            end = frames.HEADER + int.from_bytes(self.received[1 : frames.HEADER], "little")
            if len(self.received) < end:
                return
            self.take(bytes(self.received[:1]), bytes(self.received[frames.HEADER : end]))
            del self.received[:end]

    def take(self, channel: bytes, body: bytes) -> None:
        if channel == frames.STATUS:
            # The candidate has ended: wait status, most memory in KiB, processor seconds, whether it was late.
            status, peak, seconds, is_late = body.decode().split()
            self.ended.status, self.ended.peak_memory = int(status), int(peak) * KIB
            self.ended.processor_seconds = float(seconds)
            if is_late == "1":
                self.ended.stopped = "timeout"
        elif channel == frames.RESULT:
            self.take_result(body)
        elif channel == frames.UP:
            self.is_up = True
        else:
            (self.ended.stdout if channel == frames.STDOUT else self.ended.stderr).extend(body)
            if len(self.ended.stdout) + len(self.ended.stderr) > self.limits.output:
                self.ended.stopped = "output_limit"

    def take_result(self, body: bytes) -> None:
        """The first line is the box's own, from before the candidate ran: which layers hold."""
        self.ended.result += body
        if self.ready_at is None and b"\n" in self.ended.result:
            line, _, rest = self.ended.result.partition(b"\n")
            if line.startswith(frames.REFUSED):
                raise NotStarted(line.decode(errors="replace"))
            self.ended.layers = (*self.box.layers, *line.decode().split(","))
            self.ended.result, self.ready_at = bytearray(rest), time.monotonic()
        if len(self.ended.result) > self.limits.result + RESULT_MARGIN:
            self.ended.stopped = "result_limit"

    def hear_launcher(self) -> None:
        body = os.read(self.stderr.fileno(), CHUNK)
        if not body:
            self.selector.unregister(self.stderr)
        self.complaint += body[: COMPLAINT_LENGTH - len(self.complaint)]

    def learn_process(self) -> None:
        """The launcher says which process is the box's first: bubblewrap's `--info-fd`, and ours alike."""
        body = os.read(self.info, CHUNK)
        self.told += body
        if not body or b"}" in self.told:
            self.selector.unregister(self.info)
            self.ending.learn(bytes(self.told))


def started(box: Box, info: int, folder: str) -> "subprocess.Popen[bytes]":
    """The launched process, in a session of its own, with an empty environment."""
    return subprocess.Popen(  # noqa: S603 — the command is made of our own words and paths
        [str(info) if word == INFO else word for word in box.command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(box.environment),
        cwd=folder,
        start_new_session=True,
        pass_fds=(info,) if INFO in box.command else (),
        bufsize=0,
    )


# --- one test ---


@dataclass(frozen=True, slots=True)
class Program:
    """What one solution is run as; the same for all its tests. `required` are layers without which it is not run."""

    code: str
    entry: str
    limits: Limits
    required: tuple[str, ...] = ()

    def request(self, arguments: Sequence[JSON], box: Box, nonce: str, seconds: float) -> bytes:
        """Raises ValueError for arguments that are not JSON."""
        told = {
            "wanted": list(WANTED),
            "has_temporary": False,
            **box.request,
            "code": self.code,
            "entry": self.entry,
            "arguments": list(arguments),
            "nonce": nonce,
            "limits": self.limits.for_box(),
            "required": [name for name in self.required if name not in box.layers],
            "seconds": seconds,
        }
        try:
            document = json.dumps(list(arguments), allow_nan=False).encode()
            return marshal.dumps(told | {"document": document}, FORMAT)
        except (TypeError, RecursionError) as error:
            raise ValueError(f"arguments that are not JSON: {error}") from error


@dataclass(frozen=True, slots=True)
class Trial:
    """With a `complaint`, the program did not even compile."""

    result: Result
    layers: tuple[str, ...]
    complaint: str = ""


StartedAhead = Callable[[Backend, Language], Launch | None]  # a box that waits, for one test; it is the caller's now


def never() -> bool:
    return False


def none_ahead(backend: Backend, language: Language) -> Launch | None:
    return None


def tried(
    program: Program,
    test: Test,
    *,
    backend: Backend,
    language: Language,
    seconds: float,
    is_cancelled: Callable[[], bool] = never,
    started_ahead: StartedAhead = none_ahead,
) -> Trial:
    """Raises NotStarted when no box comes up, ValueError for arguments that are not JSON."""
    nonce = secrets.token_hex(16)
    for attempt in range(1, STARTS + 1):
        launch = started_ahead(backend, language) if attempt == 1 else None
        try:
            with launch or Launch(backend.box(language, program.limits)) as running:
                request = program.request(test.arguments, running.box, nonce, seconds)
                ended = running.listened(request, program.limits, seconds, is_cancelled)
            break
        except NotStarted:
            if attempt == STARTS:
                raise
    try:
        return Trial(result_of(test, ended, nonce, program.limits), ended.layers)
    except Complaint as complaint:
        return Trial(Result(test.name, "not_run"), ended.layers, str(complaint))
