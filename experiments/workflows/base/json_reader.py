"""The one reader of JSON in the answers of models: judges, filters, ballots, debates, coding contests, battles."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, cast

from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.parsing import LONGEST_ANSWER, UNSTORABLE, Unreadable

Reason = Literal["too_long", "no_json", "broken", "other_form", "contradictory"]
Fits = Callable[[Mapping[str, Any]], bool]

DEEPEST_ANSWER = 40  # brackets in brackets
DEEPEST_WRAPPING = 4  # levels that are searched for the object that fits
MOST_SIGNS = 5_000  # brackets and tags that are looked at
MOST_LOOKED_AT = 3 * LONGEST_ANSWER  # characters in all, however many brackets are tried

THINKING = r"<(?P<end>/?)(?:think|thinking|reasoning)>"
TAG = re.compile(THINKING, re.IGNORECASE)
END_TAG = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
SIGN = re.compile(rf"[{{\[]|{THINKING}", re.IGNORECASE)
OBJECT_BEGINS = re.compile(r"""\{\s*(?:["']|[^\W\d]\w*["']?\s*:|\Z)""")
FENCED_CODE = re.compile(r"\A\s*```[\w+-]*[ \t]*\r?\n(.*?)\r?\n?```\s*\Z", re.DOTALL)
CODE_FENCE = re.compile(r"(?:```|~~~)[a-zA-Z]*")
BRACKET = re.compile(r'["{}\[\]]')
STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
# A quotation mark that is never closed takes the rest of the text with it: those that come after it are not closed
# either, and searching for the end of each of them would take quadratic time.
OPEN_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
LAST_COMMA = re.compile(rf"({OPEN_STRING})|,(?=\s*[}}\]])", re.DOTALL)
# What JavaScript and Python write differently: 'text', names without quotation marks, comments, a last comma.
LOOSE = re.compile(
    rf"""({OPEN_STRING})|'((?:[^'\\\n]|\\.)*+)'|(?P<open>'(?:[^'\\\n]|\\.)*+)|//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*)){{0,500}}\*/"""
    r"""|\b(?P<name>[^\W\d]\w{0,80})\b(?=\s*:)|,(?=\s*[}\]])""",
    re.DOTALL,
)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    """value: the answer. around: what stands outside of JSON and of thinking."""

    value: JsonObject | list[Any]
    around: str

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing else in the answer but thinking and a code fence."""
        return not CODE_FENCE.sub("", self.around).strip("\ufeff \t\r\n")


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no value: `reason` for programs, `message` for people and for the request to answer again."""

    reason: Reason
    message: str
    around: str


def find_json(text: str, names: Collection[str], *, fits: Fits | None = None, or_list: bool = False) -> Found | Missing:
    """The JSON object in an answer that has one of the `names`, or that `fits`; with `or_list` also a list instead.

    Accepted in every workflow alike:
    * prose, code fences, and braces in prose before and after the object;
    * thinking in <think>, <thinking> or <reasoning>, which is left out; so is everything before a closing tag alone;
    * a trailing comma, comments, single quotation marks, names without any, line breaks in a text;
    * wrapping: in a list of one item, in other objects up to four levels, or as JSON in a text; the outermost counts;
    * the same object again, or a part of it: the fullest counts.

    Refused, because choosing would be a guess:
    * two objects that fit and contradict each other, be one of them a draft or a quotation;
    * whatever comes after an object that is broken or cut short: it could be a part of it;
    * more than 200,000 characters, or brackets nested deeper than 40.
    """
    if len(text) > LONGEST_ANSWER:
        return Missing("too_long", f"the answer is longer than {LONGEST_ANSWER} characters", text)
    scan = _scan(text)
    accepts = fits or (lambda one: any(name in one for name in names))
    fitting = [one for value, _start in scan.values for one in _fitting(value, accepts)]
    if fitting:
        fullest = max(fitting, key=_size)
        if all(_contains(fullest, one) for one in fitting):
            return Found(fullest, scan.around)
        return Missing("contradictory", "the answer holds two JSON objects that differ", scan.around)
    instead = _list_instead(scan, text)
    if instead and or_list:
        return Found(instead, scan.around)
    if instead:
        return Missing("other_form", "the answer is a list, and one JSON object is needed", scan.around)
    return _missing(scan, text, names)


def read_json(text: str, names: Collection[str]) -> JsonObject:
    """The object that `find_json` finds. Raises Unreadable."""
    found = find_json(text, names)
    if isinstance(found, Missing):
        raise Unreadable(found.message)
    return cast(dict[str, Any], found.value)


def read_json_or_list(text: str, names: Collection[str]) -> JsonObject | list[Any]:
    """Like `read_json`, and a list may stand in the object's place. Raises Unreadable."""
    found = find_json(text, names, or_list=True)
    if isinstance(found, Missing):
        raise Unreadable(found.message)
    return found.value


def holds_object(value: Any) -> bool:
    """Whether a value is an object, be it in a list of one item or written as a text."""
    return bool(_objects_in(value))


# --- which of the values is the answer ---


def _missing(scan: "_Scan", text: str, names: Collection[str]) -> Missing:
    if scan.is_broken:
        return Missing("broken", "the answer is not valid JSON, or was cut short", scan.around)
    if scan.values:
        return Missing("other_form", f"the answer has none of the names {', '.join(names)}", scan.around)
    if "{" in text:
        return Missing("no_json", "the answer holds no valid JSON object", scan.around)
    return Missing("no_json", "the answer holds no JSON object", scan.around)


def _fitting(value: Any, fits: Fits) -> list[dict[str, Any]]:
    """The outermost objects in a value that fit."""
    level = [value]
    for _depth in range(DEEPEST_WRAPPING):
        objects = [one for item in level for one in _objects_in(item)]
        if found := [one for one in objects if fits(one)]:
            return found
        level = [item for one in objects for item in one.values()]
    return []


def _objects_in(value: Any) -> list[dict[str, Any]]:
    """The object that a value is: itself, the only item of a list, or JSON that was written as a text."""
    inner = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(inner, str) and inner.lstrip().startswith(("{", "```")):
        return [one for one, _start in _scan(inner).values if isinstance(one, dict)]
    return [inner] if isinstance(inner, dict) else []


def _size(value: Any) -> int:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, items))


def _contains(fuller: Any, other: Any) -> bool:
    """Whether all that one value says is said by the other one as well."""
    if isinstance(fuller, dict) and isinstance(other, dict):
        return all(name in fuller and _contains(fuller[name], value) for name, value in other.items())
    return fuller is other or bool(fuller == other)  # NaN equals itself only as the same object


def _list_instead(scan: "_Scan", text: str) -> list[Any]:
    """The list that stands where the object should, unless braces come before it, of which it could be a part."""
    lists = [(value, start) for value, start in scan.values if isinstance(value, list)]
    if not lists or len(lists) < len(scan.values) or any(value != lists[0][0] for value, _start in lists):
        return []
    found, start = lists[0]
    is_list = "{" not in text[:start] and all(isinstance(item, str | dict | list) for item in found)
    return list(found) if is_list else []


# --- the values of a text ---


@dataclass(frozen=True, slots=True)
class _Scan:
    """values: the outermost JSON values, each with where it begins. is_broken: after them an object begins that is
    broken or cut short.
    """

    values: list[tuple[Any, int]]
    around: str
    is_broken: bool


def _scan(text: str) -> _Scan:
    values: list[tuple[Any, int]] = []
    around: list[str] = []
    brackets = _Brackets(text)
    is_broken = has_open_tag = False
    begin = place = 0  # the end of the last value or thought; where to go on
    for signs in count():
        sign = (TAG if is_broken else SIGN).search(text, place)
        if sign is None:
            break
        if signs == MOST_SIGNS:
            is_broken = True
            break
        start, place = sign.span()
        if sign["end"]:  # what came before was thinking
            values, around, is_broken, begin = [], [], False, place
        elif sign["end"] == "":
            if thought := brackets.thought_end(place):
                around.append(text[begin:start])
                begin = place = thought
            elif not has_open_tag and not values and not "".join([*around, text[begin:start]]).strip():
                return _Scan([], "", is_broken=True)  # cut short while thinking
            else:
                has_open_tag = True
        else:
            value, end = brackets.value(start)
            if value is not None:
                values.append((value, start))
                around.append(text[begin:start])
                begin = place = end
            else:
                is_broken = brackets.is_exhausted or OBJECT_BEGINS.match(text, start) is not None
    return _Scan(values, "\n".join([*around, text[begin:]]), is_broken)


class _Brackets:
    """The values that begin at the brackets of a text. Whatever the text, searching takes linear time in all."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._last_string = len(text)  # no quotation mark from here on begins a string: none of them is closed
        self._last_thought = len(text)  # no tag from here on is closed
        self._looked_at = 0

    @property
    def is_exhausted(self) -> bool:
        return self._looked_at > MOST_LOOKED_AT

    def thought_end(self, start: int) -> int:
        """Where the thinking ends that begins here; 0 where it does not."""
        if start >= self._last_thought:
            return 0
        end = END_TAG.search(self._text, start)
        if end is None:
            self._last_thought = start
        return end.end() if end else 0

    def value(self, start: int) -> tuple[Any, int]:
        """The value whose bracket is at `start`, and where it ends; None where there is none."""
        if self.is_exhausted:
            return None, start
        end, looked = self._closing(start)
        self._looked_at += looked - start
        return (None, start) if end is None else (_decoded(self._text[start:end]), end)

    def _closing(self, start: int) -> tuple[int | None, int]:
        """Where the bracket at `start` is closed, and how far was looked. None when it is not, or when more than 40 are
        open at once. Brackets in strings do not count.
        """
        depth, place = 0, start
        while sign := BRACKET.search(self._text, place):
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


def _decoded(text: str) -> Any:
    """The value of a bracketed text: as it stands, without its last comma, or as JavaScript or Python write it. None
    when it is no JSON.
    """
    for rewrite in (str, _without_last_commas, _as_json):
        try:
            return json.JSONDecoder(strict=False).decode(rewrite(text))
        except ValueError:
            continue
    return None


def _without_last_commas(text: str) -> str:
    return LAST_COMMA.sub(lambda match: match[1] or "", text)


def _as_json(text: str) -> str:
    return _without_last_commas(LOOSE.sub(_strict, text))


def _strict(match: "re.Match[str]") -> str:
    """A string as JSON writes it; nothing for a comment or a last comma. What is not closed stays, and is no JSON."""
    if (kept := match[1] or match["open"]) is not None:
        return kept
    said = match[2] if match[2] is not None else match["name"]
    return "" if said is None else json.dumps(ESCAPED.sub(_unescaped, said), ensure_ascii=False)


def _unescaped(match: "re.Match[str]") -> str:
    return match[1] if match[1] in "'\"" else match[0]


def code_of(value: Any) -> str:
    """Code without a fence and without what no database can hold; "" for what is no text or holds no code."""
    code = UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else ""
    fence = FENCED_CODE.match(code)
    return (fence[1] if fence else code).strip("\r\n").rstrip()
