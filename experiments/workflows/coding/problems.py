"""What a setter's answer says: a problem with its tests, or every reason for which it cannot be taken.

And whether the problem is new, by the fingerprint of its statement. That is a MinHash of the statement's runs of three
words: the share of equal numbers in two of them estimates the share of runs that the statements have in common (Broder,
1997).
"""

import hashlib
import json
import keyword
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.json_reader import code_of, read_json
from experiments.workflows.base.parsing import Unreadable, plain
from experiments.workflows.coding.config import LEAST_HIDDEN, MOST_HIDDEN, SHOWN_TESTS, Earlier

NAMES = ("title", "description", "test_cases", "hidden_test_cases", "reference_solution", "function_name")
COMPARISONS = ("exact", "tolerance", "unordered")
LONGEST_TITLE = 200
LONGEST_STATEMENT = 20_000
LONGEST_CODE = 60_000
LONGEST_VALUE = 20_000  # characters of JSON
LONGEST_TESTS = 100_000  # characters of JSON in all: every execution of the cycle holds them
MOST_CRITERIA = 20
DEEPEST_VALUE = 40
FUNCTION = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
DEFAULT_CRITERIA = ("It gives the right result for every input that the problem allows.",)


@dataclass(frozen=True, slots=True)
class Test:
    """arguments: what the function is called with. Plain JSON, as is what is expected."""

    name: str
    arguments: list[Any]
    expected: Any

    @property
    def data(self) -> JsonObject:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Problem:
    """entry: the name of the function. shown: tests that solvers see; hidden: that they do not see."""

    title: str
    description: str
    entry: str
    comparison: str
    shown: tuple[Test, ...]
    hidden: tuple[Test, ...]
    criteria: tuple[str, ...]
    reference: str

    @property
    def tests(self) -> tuple[Test, ...]:
        return (*self.shown, *self.hidden)

    @property
    def data(self) -> JsonObject:
        """As it is recorded."""
        lists = {"shown": [test.data for test in self.shown], "hidden": [test.data for test in self.hidden]}
        return {**asdict(self), **lists, "criteria": list(self.criteria), "kind": "problem"}

    @property
    def text(self) -> str:
        """As solvers and judges read it; the hidden tests and the reference are not in it."""
        shown = "\n".join(
            f"{self.entry}({', '.join(map(as_json, test.arguments))}) → {as_json(test.expected)}" for test in self.shown
        )
        contract = f"Function: {self.entry}\nComparison: {self.comparison}"
        return f"{self.title}\n\n{self.description}\n\n{contract}\n\nTests:\n{shown}"


def read_problem(text: str) -> Problem:
    """Raises Unreadable with all that is wrong, one sentence a line."""
    given = read_json(text, NAMES)
    wrong: list[str] = []

    def words(name: str, longest: int) -> str:
        found = plain(given.get(name))
        if not found:
            wrong.append(f"{name} is missing, or is no text")
        elif len(found) > longest:
            wrong.append(f"{name} is longer than {longest} characters")
        return found

    shown = _tests(given, "test_cases", "", (SHOWN_TESTS, SHOWN_TESTS), wrong)
    hidden = _tests(given, "hidden_test_cases", "h", (LEAST_HIDDEN, MOST_HIDDEN), wrong)
    seen: dict[str, str] = {}
    for test in (*shown, *hidden):
        first = seen.setdefault(json.dumps(test.arguments, sort_keys=True), test.name)
        if first != test.name:
            wrong.append(f"tests {first} and {test.name} have the same input")
    if sum(len(as_json(test.data)) for test in (*shown, *hidden)) > LONGEST_TESTS:
        wrong.append(f"the tests are longer than {LONGEST_TESTS} characters in all: smaller inputs say as much")
    title, description = words("title", LONGEST_TITLE).replace("\n", " "), words("description", LONGEST_STATEMENT)
    entry = plain(given.get("function_name"))
    if not FUNCTION.fullmatch(entry) or keyword.iskeyword(entry):
        wrong.append("function_name is no name of a function")
    comparison = given.get("comparison", COMPARISONS[0])
    if comparison not in COMPARISONS:
        wrong.append(f"comparison is none of {', '.join(COMPARISONS)}")
    # A list of sentences, or one text; what is neither is left out, and the obvious one stands in for none.
    listed = given.get("evaluation_criteria")
    criteria = [plain(one)[: LONGEST_TITLE * 5] for one in (listed if isinstance(listed, list) else [listed])]
    reference = code_of(given.get("reference_solution"))
    if not reference:
        wrong.append("reference_solution is missing, or is no text")
    elif len(reference) > LONGEST_CODE:
        wrong.append(f"reference_solution is longer than {LONGEST_CODE} characters")
    if wrong:
        raise Unreadable("\n".join(wrong))
    return Problem(
        title=title,
        description=description,
        entry=entry,
        comparison=str(comparison),
        shown=shown,
        hidden=hidden,
        criteria=tuple(one for one in criteria[:MOST_CRITERIA] if one) or DEFAULT_CRITERIA,
        reference=reference,
    )


def as_json(value: Any) -> str:
    """A value as it is shown, on one line."""
    return json.dumps(value, ensure_ascii=False)


def is_plain(value: Any, deepest: int = DEEPEST_VALUE) -> bool:
    """Whether JSON can hold the value and a database can keep it: no NaN, no infinity, no NUL, no half surrogates."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, float):
        return math.isfinite(value)
    if value is None or isinstance(value, bool | int):
        return True
    if deepest and isinstance(value, list):
        return all(is_plain(item, deepest - 1) for item in value)
    if deepest and isinstance(value, dict):
        return all(isinstance(k, str) and plain_text(k) and is_plain(v, deepest - 1) for k, v in value.items())
    return False


def plain_text(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _tests(
    given: Mapping[str, Any], name: str, prefix: str, count: tuple[int, int], wrong: list[str]
) -> tuple[Test, ...]:
    listed = given.get(name)
    if not isinstance(listed, list):
        wrong.append(f"{name} is missing, or is no list")
        return ()
    least, most = count
    if not least <= len(listed) <= most:
        needed = f"exactly {least}" if least == most else f"{least} to {most}"
        wrong.append(f"{name} holds {len(listed)} tests, and {needed} are needed")
    found = []
    for number, item in enumerate(listed[:most], 1):
        try:
            found.append(_test(item, f"{prefix}{number}"))
        except Unreadable as error:
            wrong.append(f"{name}, test {number}: {error}")
    return tuple(found)


def _test(item: Any, name: str) -> Test:
    if not isinstance(item, dict):
        raise Unreadable("is no object with input and expected_output")
    missing = [field for field in ("input", "expected_output") if field not in item]
    if missing:
        raise Unreadable(f"{' and '.join(missing)} is missing")
    arguments, expected = _value(item["input"], "input"), _value(item["expected_output"], "expected_output")
    if not isinstance(arguments, list):
        raise Unreadable("input is not the JSON list of all arguments")
    return Test(name, arguments, expected)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _value(given: Any, what: str) -> Any:
    """A text is JSON text; anything else is the value itself."""
    too_long = Unreadable(f"{what} is longer than {LONGEST_VALUE} characters")
    value = given
    if isinstance(given, str):
        if len(given) > LONGEST_VALUE:
            raise too_long
        try:
            value = json.loads(given, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"{what} is not valid JSON text (a text stands in quotation marks)") from error
    if not is_plain(value):
        raise Unreadable(f"{what} holds what JSON or a database cannot: NaN, infinity, NUL, or nesting without end")
    if len(as_json(value)) > LONGEST_VALUE:
        raise too_long
    return value


# --- whether it is new ---

SIZE = 32  # numbers; the estimate's standard error is at most 0.09
NEAR = 0.6
RUN = 3  # words
MOST_WORDS = 3_000
WORD = re.compile(r"[^\W_]+")


def fingerprint(problem: Problem) -> list[int]:
    words = _words(f"{problem.title} {problem.description}")[:MOST_WORDS]
    runs = {" ".join(words[start : start + RUN]) for start in range(max(1, len(words) - RUN + 1))}
    hashes = [hashlib.blake2b(run.encode(), digest_size=4 * SIZE // 2).digest() for run in runs]
    hashes_too = [hashlib.blake2b(run.encode(), digest_size=4 * SIZE // 2, key=b"2").digest() for run in runs]
    pairs = zip(hashes, hashes_too, strict=True)
    columns = [[int.from_bytes((a + b)[4 * i : 4 * i + 4]) for i in range(SIZE)] for a, b in pairs]
    return [min(column) for column in zip(*columns, strict=True)]


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """The estimated share of what two statements have in common, 0 to 1."""
    same = sum(a == b for a, b in zip(one, other, strict=False))
    return same / SIZE if len(one) == len(other) == SIZE else 0.0


def nearest(problem: Problem, earlier: Iterable[Earlier]) -> Earlier | None:
    """The earlier problem that this one repeats: of the same title, or nearly the same words. None when it is new."""
    mine, title = fingerprint(problem), _words(problem.title)
    for other in earlier:
        if (title and title == _words(other.title)) or likeness(mine, other.fingerprint) >= NEAR:
            return other
    return None


def as_earlier(problem: Problem) -> Earlier:
    return Earlier(title=problem.title, fingerprint=fingerprint(problem))


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())
