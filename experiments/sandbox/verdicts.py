"""What a test showed: from how the box ended and what it answered to a verdict."""

import os
import signal
from typing import Any

from experiments.sandbox.answers import Answer, Garbage, Value, presentable, read, read_printed, storable
from experiments.sandbox.comparing import TooLong, is_expected
from experiments.sandbox.inside.harness import ERROR_LENGTH
from experiments.sandbox.launching import Ended
from experiments.sandbox.limits import Limits
from experiments.sandbox.values import Result, Test, Verdict

SHOWN = 4_096  # bytes of each channel
GAP = b"\n[...]\n"
FULL = 0.9  # of the memory allowed: whoever dies there by a signal has died of it
SILENT = "it ended before it answered"


class Complaint(Exception):
    """The program cannot be run with any test; the message says why."""


def result_of(test: Test, ended: Ended, nonce: str, limits: Limits) -> Result:
    """Raises Complaint when the program does not even compile."""
    verdict, found = judged(test, ended, nonce, limits)
    return Result(
        name=test.name,
        verdict=verdict,
        **found,
        stdout=shown(ended.stdout, SHOWN // 2),
        stderr=shown(ended.stderr, SHOWN // 4),
        seconds=round(ended.seconds, 6),
        peak_memory=ended.peak_memory,
    )


def judged(test: Test, ended: Ended, nonce: str, limits: Limits) -> tuple[Verdict, dict[str, Any]]:
    if ended.stopped:
        return stopped(ended, limits)
    if ended.status is None:
        return "error", {"error": SILENT}
    if os.WIFSIGNALED(ended.status):
        return ended_by(os.WTERMSIG(ended.status), ended, limits)
    try:
        return answered(test, read(bytes(ended.result), nonce), ended, limits)
    except Garbage:
        code = os.waitstatus_to_exitcode(ended.status)
        said = "it wrote something else where its answer should be" if ended.result else f"{SILENT} (exit code {code})"
        return "error", {"error": said}


def stopped(ended: Ended, limits: Limits) -> tuple[Verdict, dict[str, Any]]:
    if ended.stopped == "timeout":
        return "timeout", {"error": f"no answer within {limits.seconds:g} seconds"}
    if ended.stopped == "output_limit":
        return "output_limit", {"error": f"more than {limits.output} bytes were printed"}
    if ended.stopped == "result_limit":
        return "error", {"error": f"the value is longer than {limits.result} bytes"}
    return "not_run", {"error": "the run was stopped"}


def ended_by(number: int, ended: Ended, limits: Limits) -> tuple[Verdict, dict[str, Any]]:
    """Whoever blocks the warning that the processor's time is up is killed a second later."""
    if number == signal.SIGXCPU or (number == signal.SIGKILL and ended.processor_seconds >= limits.seconds):
        return "timeout", {"error": f"more than {limits.seconds:g} seconds of the processor"}
    if (ended.peak_memory or 0) >= FULL * limits.memory:
        return "memory", {"error": f"more than {limits.memory} bytes of memory"}
    return "error", {"error": f"it was ended by signal {number} ({name_of(number)})"}


def name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "real time"


def answered(test: Test, answer: Answer, ended: Ended, limits: Limits) -> tuple[Verdict, dict[str, Any]]:
    if answer.kind == "complaint":
        raise Complaint(answer.said[:ERROR_LENGTH])
    if answer.kind == "memory":
        return "memory", {"error": "MemoryError"}
    if answer.kind == "error":
        return "error", {"error": answer.said[:ERROR_LENGTH]}
    if answer.kind == "value":
        return compared(test, answer.value, limits)
    try:
        printed = read_printed(bytes(ended.stdout))
    except Garbage as error:
        return "error", {"error": f"what it printed is not one JSON document: {error}"[:ERROR_LENGTH]}
    return compared(test, printed, limits)


def compared(test: Test, value: Value, limits: Limits) -> tuple[Verdict, dict[str, Any]]:
    try:
        found = presentable(value, limits.depth)
    except Garbage as error:
        return "error", {"error": str(error)}
    try:
        is_right = is_expected(value, test.expected, test.comparison, limits.seconds)
    except TooLong:
        said = f"comparing the value with the expected one took more than {limits.seconds:g} seconds"
        return "failed", {"value": found, "has_value": True, "error": said}
    return "passed" if is_right else "failed", {"value": found, "has_value": True}


def shown(printed: bytes | bytearray, head: int) -> str:
    """Its beginning and its end: of errors the last lines say most."""
    if len(printed) > SHOWN:
        tail = SHOWN - head - len(GAP)
        printed = bytes(printed[:head]) + GAP + bytes(printed[-tail:])
    return storable(printed.decode("utf-8", "replace"))
