"""What a test showed: what came out of a box is read without believing it, and becomes a verdict."""

import json
import math
import os
import re
import signal
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, cast

from experiments.sandbox.comparing import TooLong, is_expected
from experiments.sandbox.inside.encoding import LONG_BITS
from experiments.sandbox.inside.harness import ERROR_LENGTH
from experiments.sandbox.launching import Ended
from experiments.sandbox.values import JSON, Limits, Result, Set, Test, Value, Verdict

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # neither PostgreSQL nor UTF-8 holds them
Kind = Literal["value", "printed", "memory", "error", "complaint"]

SHOWN = 4_096  # bytes of each channel
GAP = b"\n[...]\n"
FULL = 0.9  # of the memory allowed: whoever dies there by a signal has died of it
SILENT = "it ended before it answered"


class Garbage(Exception):
    """What arrived is no answer of ours."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`value` for the kind value, `said` for errors and complaints."""

    kind: Kind
    value: "Value" = None
    said: str = ""


def read(line: bytes, nonce: str) -> Answer:
    """The one line of the result channel. Raises Garbage."""
    try:
        return answer(json.loads(line.decode("ascii"), parse_constant=refuse), nonce)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise Garbage(str(error)) from error


def answer(found: Any, nonce: str) -> Answer:
    if found.pop("nonce") != nonce or len(found) != 1:
        raise Garbage("no answer of this test")
    kind, body = found.popitem()
    if kind == "value":
        return Answer("value", decoded(body))
    if kind in ("error", "complaint"):
        return Answer(kind, said=storable(str(body)))
    if kind in ("printed", "memory"):
        return Answer(kind)
    raise Garbage(f"an answer of an unknown kind {kind}")


def read_printed(stdout: bytes) -> JSON:
    """The one JSON document that a script printed. Raises Garbage."""
    try:
        return cast(JSON, json.loads(stdout.decode("utf-8"), parse_constant=float))
    except (ValueError, RecursionError) as error:
        raise Garbage(str(error)) from error


def refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def decoded(part: Any) -> Value:
    """The value that `inside/encoding.py` wrote."""
    if not isinstance(part, list):
        return plain(part)
    tag, *rest = part
    if tag == "l":
        return [decoded(item) for item in rest]
    if tag == "s":
        return Set([decoded(item) for item in rest])
    if tag == "d":
        return pairs(rest)
    return number(tag, *rest)


def plain(part: Any) -> JSON:
    if isinstance(part, dict):
        raise Garbage("an object that is not ours")
    return cast(JSON, part)


def pairs(rest: list[Any]) -> dict[str, Value]:
    keys = rest[::2]
    if len(rest) % 2 or not all(isinstance(key, str) for key in keys):
        raise Garbage("keys without values")
    if len(set(keys)) != len(keys):
        raise Garbage("an object has the same key twice once its keys are text")
    return {key: decoded(value) for key, value in zip(keys, rest[1::2], strict=True)}


def number(tag: str, text: str) -> JSON:
    if tag == "f":
        return float(text)
    found = int(text, 16) if tag == "i" else refuse(tag)
    if found.bit_length() > LONG_BITS:
        raise Garbage("a whole number that is too long")
    return found


def presentable(value: Value, depth: int) -> JSON:
    """The value as JSON that every database holds: a set as a list in a fixed order, NaN and infinities as words.

    Raises Garbage when it has more than `depth` lists in lists, which others could not walk through.
    """
    return with_text(value, depth)[0]


def with_text(value: Value, depth: int) -> tuple[JSON, str]:
    """What `presentable` makes of a value, and its text, by which sets are ordered. The text of a list is made of those
    of its items, so that each item is written once however deep it lies.
    """
    if isinstance(value, Set | list | dict) and not depth:
        raise Garbage("the value is nested too deeply")
    if isinstance(value, dict):
        named = {storable(key): with_text(item, depth - 1) for key, item in value.items()}
        words = ", ".join(f"{key!r}: {text}" for key, (_item, text) in named.items())
        return {key: item for key, (item, _text) in named.items()}, f"{{{words}}}"
    if isinstance(value, Set | list):
        items = value.items if isinstance(value, Set) else value
        pairs = [with_text(item, depth - 1) for item in items]
        if isinstance(value, Set):
            pairs.sort(key=lambda pair: pair[1])
        return [item for item, _text in pairs], f"[{', '.join(text for _item, text in pairs)}]"
    if isinstance(value, float) and not math.isfinite(value):
        value = repr(value)
    found = storable(value) if isinstance(value, str) else value
    return found, repr(found)


def storable(text: str) -> str:
    return UNSTORABLE.sub("\ufffd", text)


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
