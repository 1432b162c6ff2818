"""What a test showed: what came out of its box, read without believing it and compared with what was expected."""

import itertools
import json
import math
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypedDict, cast

from experiments.sandbox.inside.encoding import LONG_BITS
from experiments.sandbox.inside.harness import ERROR_LENGTH
from experiments.sandbox.values import JSON, Comparison, Ended, Limits, Result, Set, Test, Value, Verdict

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # neither PostgreSQL nor UTF-8 holds them
Kind = Literal["value", "printed", "memory", "error", "complaint"]

SHOWN = 4_096  # bytes of each channel
GAP = b"\n[...]\n"
FULL = 0.9  # of the memory allowed: a signal beyond it means too much memory
SILENT = "it ended before it answered"

EXACT = 1e-9  # so that 0.1 + 0.2 is 0.3; relative, and absolute near zero
TOLERANT = 1e-6
MOST_TRIED = 500_000  # pairs tried against each other in one comparison, under a second; then only neighbours are
STEPS_BETWEEN_LOOKS = 1_000  # at the clock
NOWHERE = itertools.count()
Clock = Callable[[], float]
Place = tuple[Any, ...]


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
        found = json.loads(line.decode("ascii"), parse_constant=refuse)
        if found.pop("nonce") != nonce or len(found) != 1:
            raise Garbage("no answer of this test")
        kind, body = found.popitem()
        if kind == "value":
            return Answer("value", decoded(body))
        if kind in ("error", "complaint"):
            return Answer(kind, said=storable(str(body)))
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise Garbage(str(error)) from error
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
    if isinstance(part, dict):
        raise Garbage("an object that is not ours")
    if not isinstance(part, list):
        return cast(JSON, part)
    tag, *rest = part
    if tag == "l":
        return [decoded(item) for item in rest]
    if tag == "s":
        return Set([decoded(item) for item in rest])
    if tag == "d":
        keys = rest[::2]
        if len(rest) % 2 or not all(isinstance(key, str) for key in keys):
            raise Garbage("keys without values")
        if len(set(keys)) != len(keys):
            raise Garbage("an object has the same key twice once its keys are text")
        return {key: decoded(value) for key, value in zip(keys, rest[1::2], strict=True)}
    [text] = rest
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


class Findings(TypedDict, total=False):
    """Fields of a Result, as far as a verdict has them."""

    value: JSON
    has_value: bool
    error: str


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


def judged(test: Test, ended: Ended, nonce: str, limits: Limits) -> tuple[Verdict, Findings]:
    if ended.stopped == "timeout":
        return "timeout", {"error": f"no answer within {limits.seconds:g} seconds"}
    if ended.stopped == "output_limit":
        return "output_limit", {"error": f"more than {limits.output} bytes were printed"}
    if ended.stopped == "result_limit":
        return "error", {"error": f"the value is longer than {limits.result} bytes"}
    if ended.stopped:
        return "not_run", {"error": "the run was stopped"}
    if ended.status is None:
        return "error", {"error": SILENT}
    if os.WIFSIGNALED(ended.status):
        return ended_by(os.WTERMSIG(ended.status), ended, limits)
    try:
        answer = read(bytes(ended.result), nonce)
    except Garbage:
        code = os.waitstatus_to_exitcode(ended.status)
        said = "it wrote something else where its answer should be" if ended.result else f"{SILENT} (exit code {code})"
        return "error", {"error": said}
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


def ended_by(number: int, ended: Ended, limits: Limits) -> tuple[Verdict, Findings]:
    """A program that blocks the warning that its processor time is up is killed a second later."""
    if number == signal.SIGXCPU or (number == signal.SIGKILL and ended.processor_seconds >= limits.seconds):
        return "timeout", {"error": f"more than {limits.seconds:g} seconds of the processor"}
    if (ended.peak_memory or 0) >= FULL * limits.memory:
        return "memory", {"error": f"more than {limits.memory} bytes of memory"}
    name = signal.Signals(number).name if number in set(signal.Signals) else "real time"
    return "error", {"error": f"it was ended by signal {number} ({name})"}


def compared(test: Test, value: Value, limits: Limits) -> tuple[Verdict, Findings]:
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


class TooLong(Exception):
    """The comparison took longer than it may."""


def is_expected(
    value: Value, expected: JSON, comparison: Comparison, seconds: float = 5.0, clock: Clock = time.monotonic
) -> bool:
    """True is not 1, 1 is 1.0, NaN is nothing, a set is a list only where order does not matter.

    seconds: how long the comparison may take by `clock`. Raises TooLong.
    """
    work = Work(seconds, clock)
    try:
        if comparison != "unordered":
            return InOrder(work, EXACT if comparison == "exact" else TOLERANT).same(value, expected)
        try:
            return Pairing(work, EXACT).same(value, expected)
        except TooManyTried:
            return Neighbours(work, EXACT).same(value, expected)
    except RecursionError:
        return False


class Work:
    """What a comparison has done so far: its steps against a deadline, and the place of each list that was ordered."""

    def __init__(self, seconds: float, clock: Clock) -> None:
        self.clock, self.end, self.steps = clock, clock() + seconds, 0
        self.places: dict[int, OrderedPlace] = {}  # by the id of the list: both values outlive the comparison
        self.equal: dict[OrderedPlace, OrderedPlace] = {}  # one object for all that are equal, compared at a glance

    def step(self) -> None:
        self.steps += 1
        if self.steps % STEPS_BETWEEN_LOOKS == 0 and self.clock() > self.end:
            raise TooLong

    def place(self, value: Any) -> Place:
        """Its place in an order of all values. Equal for what is certainly equal: 1 and 1.0, lists in any order."""
        self.step()
        if isinstance(value, Set | list | dict):
            if id(value) not in self.places:
                found = OrderedPlace(self._place_of_many(value))
                self.places[id(value)] = self.equal.setdefault(found, found)
            return self.places[id(value)]
        if isinstance(value, str):
            return (2, value)
        if not is_number(value):
            return (0, repr(value))
        return (1, value) if value == value else (5, next(NOWHERE))  # NaN is not even where itself is

    def _place_of_many(self, value: Any) -> Place:
        if isinstance(value, dict):
            return (4, *((key, self.place(value[key])) for key in sorted(value)))
        return (3, *sorted(self.place(item) for item in (value.items if isinstance(value, Set) else value)))


class OrderedPlace(tuple[Any, ...]):
    """The place of a list or an object. Its hash is computed once: a tuple would walk through all of it each time."""

    def __hash__(self) -> int:
        found: int | None = self.__dict__.get("hash")
        if found is None:
            found = self.__dict__["hash"] = super().__hash__()
        return found


class InOrder:
    """Compares lists item by item."""

    def __init__(self, work: Work, tolerance: float) -> None:
        self.work, self.tolerance = work, tolerance

    def same(self, value: Any, expected: Any) -> bool:
        self.count()
        if is_number(value) and is_number(expected):
            return are_close(value, expected, self.tolerance)
        if isinstance(expected, list):
            return self.same_lists(value, expected)
        if isinstance(expected, dict):
            return isinstance(value, dict) and value.keys() == expected.keys() and all(
                self.same(value[key], expected[key]) for key in expected
            )  # fmt: skip
        return type(value) is type(expected) and bool(value == expected)

    def count(self) -> None:
        self.work.step()

    def same_lists(self, value: Any, expected: list[Any]) -> bool:
        return isinstance(value, list) and len(value) == len(expected) and all(map(self.same, value, expected))


class Neighbours(InOrder):
    """Both sorted, and each compared with the one at its place: two near numbers may stand the wrong way round then."""

    def same_lists(self, value: Any, expected: list[Any]) -> bool:
        place = self.work.place
        items = items_of(value, expected)
        return items is not None and all(map(self.same, sorted(items, key=place), sorted(expected, key=place)))


class TooManyTried(Exception):
    """The values have so many near numbers that trying all pairs would not end."""


class Pairing(InOrder):
    """Lists and sets as multisets, at every depth: every item needs an expected one of its own."""

    def __init__(self, work: Work, tolerance: float) -> None:
        super().__init__(work, tolerance)
        self.tried = 0
        self.known: dict[tuple[int, int], bool] = {}  # by the ids of two lists

    def count(self) -> None:
        super().count()
        self.tried += 1
        if self.tried > MOST_TRIED:
            raise TooManyTried

    def same_lists(self, value: Any, expected: list[Any]) -> bool:
        items = items_of(value, expected)
        if items is None:
            return False
        pair = id(items), id(expected)
        if pair not in self.known:
            left, right = self.without_twins(items, expected)
            # A twin may have taken what only a near neighbour could have been paired with.
            self.known[pair] = self.can_be_paired(left, right) or (
                0 < len(left) < len(items) and self.can_be_paired(items, expected)
            )
        return self.known[pair]

    def without_twins(self, items: list[Any], expected: list[Any]) -> tuple[list[Any], list[Any]]:
        """What is left of both once everything has been taken away that is exactly alike."""
        places, wanted = [*map(self.work.place, items)], [*map(self.work.place, expected)]
        return beyond(items, places, Counter(wanted)), beyond(expected, wanted, Counter(places))

    def can_be_paired(self, left: list[Any], right: list[Any]) -> bool:
        """By augmenting paths (Kuhn 1955)."""
        if self.tried + len(left) * len(right) > MOST_TRIED:
            raise TooManyTried
        candidates: list[list[int]] = []
        for item in left:  # loops, because each comprehension would add a frame to each level of nested lists
            candidates.append([])
            for place, other in enumerate(right):
                if self.same(item, other):
                    candidates[-1].append(place)
        taken: dict[int, int] = {}

        def finds_a_place(item: int, visited: set[int]) -> bool:
            for place in candidates[item]:
                self.count()
                if place not in visited:
                    visited.add(place)
                    if place not in taken or finds_a_place(taken[place], visited):
                        taken[place] = item
                        return True
            return False

        return all(finds_a_place(item, set()) for item in range(len(left)))


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_close(value: float, expected: float, tolerance: float) -> bool:
    if isinstance(value, int) and isinstance(expected, int):
        return value == expected
    try:
        return math.isclose(value, expected, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:  # a whole number beyond every float
        return False


def items_of(value: Any, expected: list[Any]) -> list[Any] | None:
    """The items of a list or a set that is as long as what is expected."""
    items = value.items if isinstance(value, Set) else value
    return items if isinstance(items, list) and len(items) == len(expected) else None


def beyond(items: list[Any], places: list[Place], taken: Counter[Place]) -> list[Any]:
    left = []
    for item, at in zip(items, places, strict=True):
        if taken[at] > 0:
            taken[at] -= 1
        else:
            left.append(item)
    return left
