"""Reading what models write. A parser returns a value or raises Unreadable with the reason, never a default."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any

LONGEST_ANSWER = 200_000
DEEPEST_ANSWER = 40
LARGEST_SHOWN = 10**15
MOST_FENCES = 5
MOST_LOOKED_AT = 3 * LONGEST_ANSWER  # characters in all, however many brackets are tried
MOST_BRACKETS = 5_000
FENCE = re.compile(r"```[a-zA-Z]*[ \t\r]*\n[ \t]*\{")
THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
THOUGHT_ENDS = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
OPENS = re.compile(r"[{\[]")
SIGN = re.compile(r'["{}\[\]]')
STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
# A quotation mark that is never closed takes the rest of the text with it: those that come after it are not closed
# either, and to look for the end of each of them would take the square of the time.
OPEN_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
LAST_COMMA = re.compile(rf"({OPEN_STRING})|,(?=\s*[}}\]])", re.DOTALL)
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# What JavaScript and Python write differently: 'text', names without quotation marks, comments, a last comma.
LOOSE = re.compile(
    rf"""({OPEN_STRING})|'((?:[^'\\\n]|\\.)*+)'|(?P<open>'(?:[^'\\\n]|\\.)*+)|//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*)){{0,500}}+\*/"""
    r"""|\b(?P<name>[^\W\d]\w{0,80})\b(?=\s*:)|,(?=\s*[}\]])""",
    re.DOTALL,
)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)

Decode = Callable[[str], Any]  # the value of a bracketed text, None when it is none
Found = tuple[Any, int, int]  # a JSON value, where it begins, and where the text goes on after it


class Unreadable(ValueError):
    """The answer holds no value of the kind asked for; the message says why, in plain words."""


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer: bare, in a code fence, or after some prose.

    Raises Unreadable when there is none, when another one follows it, when it is cut short, nested deeper than 40
    levels or longer than 200 kB.
    """
    _refuse_longest(text)
    found = _objects(text)
    if any(other != found[0] for other in found):
        raise Unreadable("the answer holds two JSON objects that differ")
    if found:
        return found[0]
    if "{" in text:
        raise Unreadable("the answer is not valid JSON, or was cut short")
    raise Unreadable("the answer holds no JSON object")


def json_answer(text: str, names: Collection[str]) -> dict[str, Any] | list[Any]:
    """The JSON object in an answer that has one of the `names`, or the list that stands in its place.

    More is forgiven than in `json_object`: braces in the prose around it, thinking before it, another object around
    it, a comma after the last item. Raises Unreadable when there is none, or when two of them differ.
    """
    _refuse_longest(text)
    found = _after_thinking(text)
    objects = [inner for value, *_place in found if (inner := _unwrapped(value, names)) is not None]
    if any(other != objects[0] for other in objects):
        raise Unreadable("the answer holds two JSON objects that differ")
    if objects:
        return objects[0]
    if found and _is_list(found[0], text):
        return list(found[0][0])
    if found and "{" not in text[: found[0][1]]:
        raise Unreadable(f"the answer has none of the names {', '.join(names)}")
    if "{" in text:
        raise Unreadable("the answer is not valid JSON, or was cut short")
    raise Unreadable("the answer holds no JSON object")


def json_values(text: str) -> tuple[list[Any], str]:
    """The outermost JSON values of an answer, in order, and the text outside them; the thinking before is left out.

    As much is forgiven as can be without a guess: code fences and prose around them, comments, a last comma, single
    quotation marks, names without any. Raises Unreadable when the answer is longer than 200 kB.
    """
    _refuse_longest(text)
    found = _after_thinking(text, _loose)
    edges = [0, *(edge for _value, start, end in found for edge in (start, end)), len(text)]
    rest = "\n".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    ends = [end.end() for end in THOUGHT_ENDS.finditer(rest)]
    return [value for value, *_place in found], rest[ends[-1] if ends else 0 :]


def plain(value: Any) -> str:
    """A text without blanks around it and without characters that no database can hold; "" for what is no text."""
    return UNSTORABLE.sub("\ufffd", value).strip() if isinstance(value, str) else ""


def number(value: Any, low: float, high: float) -> float:
    """A number within [low, high]. Raises Unreadable for anything else, text and booleans included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable("is missing" if value is None else "is not a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise Unreadable("is not a finite number")
    if not low <= value <= high:
        shown = f"{value:g}" if abs(value) < LARGEST_SHOWN else "far"  # an integer may be too large for a float
        raise Unreadable(f"is {shown}, outside {low:g} to {high:g}")
    return float(value)


def _refuse_longest(text: str) -> None:
    if len(text) > LONGEST_ANSWER:
        raise Unreadable(f"the answer is longer than {LONGEST_ANSWER} characters")


# --- an answer for which a strict form was asked: nothing in it is taken for the answer that is not ---


def _objects(text: str) -> list[dict[str, Any]]:
    """The object that begins the answer or one of its code fences, and the one that follows it, if any does."""
    starts = [text.find("{"), *islice((fence.end() - 1 for fence in FENCE.finditer(text)), MOST_FENCES)]
    for start in starts:
        first, end = _decoded(text, start)
        if first is not None:
            second, _end = _decoded(text, text.find("{", end))
            return [first] if second is None else [first, second]
    return []


def _decoded(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    if start < 0 or _depth(text[start:]) > DEEPEST_ANSWER:
        return None, start
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except ValueError:
        return None, start
    return value, end


def _depth(text: str) -> int:
    """The deepest nesting of brackets, those inside strings included: an upper bound that costs one pass."""
    deepest = depth = 0
    for character in text:
        if character in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "}]":
            depth -= 1
    return deepest


# --- an answer that is known by its names ---


def _after_thinking(text: str, decode: Decode | None = None) -> list[Found]:
    """The outermost JSON values of the answer, not those of the thinking before it."""
    begin = 0
    while thought := THOUGHT.match(text, begin):
        begin = thought.end()
    found = list(_values(text, begin, decode or _lenient))
    starts = [start for _value, start, _end in found]
    for end in reversed([end.start() for end in THOUGHT_ENDS.finditer(text, begin)]):
        before = bisect_right(starts, end)
        if not before or found[before - 1][2] <= end:
            return found[before:]
    return found


def _values(text: str, begin: int, decode: Decode) -> Iterator[Found]:
    looked_at, brackets = 0, _Brackets(text)
    for _bracket in range(MOST_BRACKETS):
        opening = OPENS.search(text, begin)
        if opening is None or looked_at > MOST_LOOKED_AT:
            return
        start = opening.start()
        end, looked = brackets.closing(start)
        looked_at += looked - start
        value = None if end is None else decode(text[start:end])
        if value is None or end is None:
            begin = start + 1
        else:
            yield value, start, end
            begin = end


class _Brackets:
    """Where the brackets of a text are closed, those in strings left out of account."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._last_string = len(text)  # no quotation mark from here on begins a string: none of them is closed

    def closing(self, start: int) -> tuple[int | None, int]:
        """Where the bracket at `start` is closed, and how far was looked. None when it is not, or when more than 40 are
        open at once.
        """
        depth, place = 0, start
        while sign := SIGN.search(self._text, place):
            place = sign.end()
            if sign[0] == '"':
                place = self._string_end(place - 1) or place
                continue
            depth += 1 if sign[0] in "{[" else -1
            if depth == 0:
                return place, place
            if depth > DEEPEST_ANSWER:
                return None, place
        return None, len(self._text)

    def _string_end(self, start: int) -> int:
        """0 where no string begins."""
        if start >= self._last_string:
            return 0
        string = STRING.match(self._text, start)
        if string is None:
            self._last_string = start
        return string.end() if string else 0


def _lenient(text: str) -> Any:
    """The value of a bracketed text, None when it is no JSON."""
    for attempt in (text, LAST_COMMA.sub(lambda match: match[1] or "", text)):
        try:
            return json.JSONDecoder(strict=False).decode(attempt)
        except ValueError:
            continue
    return None


def _loose(text: str) -> Any:
    """Like `_lenient`, and what JavaScript and Python write differently is JSON too."""
    value = _lenient(text)
    return value if value is not None else _lenient(LOOSE.sub(_strict, text))


def _strict(match: "re.Match[str]") -> str:
    """A string as JSON writes it; nothing for a comment or a last comma. What is not closed stays, and is no JSON."""
    if (kept := match[1] or match["open"]) is not None:
        return kept
    said = match[2] if match[2] is not None else match["name"]
    return "" if said is None else json.dumps(ESCAPED.sub(_unescaped, said), ensure_ascii=False)


def _unescaped(match: "re.Match[str]") -> str:
    return match[1] if match[1] in "'\"" else match[0]


def _unwrapped(value: Any, names: Collection[str]) -> dict[str, Any] | None:
    """The object that has one of the names: the value itself, or the only thing in it."""
    inner = value
    if isinstance(value, list) and len(value) == 1:
        inner = value[0]
    elif isinstance(value, dict) and len(value) == 1 and not any(name in value for name in names):
        [inner] = value.values()
    return inner if isinstance(inner, dict) and any(name in inner for name in names) else None


def _is_list(found: Found, text: str) -> bool:
    """Whether a list stands where the object should: with nothing in braces before it, whose part it could be."""
    value, start, _end = found
    if not isinstance(value, list) or "{" in text[:start]:
        return False
    return bool(value) and all(isinstance(item, str | dict) for item in value)
