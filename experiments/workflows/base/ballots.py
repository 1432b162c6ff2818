"""Reading a reviewer's ballot: in which order it puts the answers that it was shown under labels.

A ballot is read from one JSON object, or from the list under the last "FINAL RANKING" header. Anything else is
Unreadable: what is said about an answer elsewhere is no vote.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.workflows.base.json_reader import Found, Missing, find_json
from experiments.workflows.base.labels import FENCE, Place, places_of_json, plain, ranking_in, read_list
from experiments.workflows.base.parsing import LONGEST_ANSWER, Unreadable

MOST_HEADERS = 5  # from the end: those that are quotations are passed over
HEADINGS = "final rankings?|final order(?:ing)?|最终排名|最终排序|最終排名|最終排序|最後排名|最后排名|最终名次|最終順位"
# Neither a quotation mark nor a ">" may stand before a header: that is how other people's words are given.
HEADER = re.compile(
    rf"(?:[#*_~|=.:\s–—-]|\d{{1,2}}[.)]){{0,16}}(?i:(?:(?:here|this) is )?(?:(?:my|the|our) )?(?:{HEADINGS}))"
    r"[*_~]{0,3}\s?(?:\([^()]{0,80}\)\s?)?[*_~]{0,3}\s?(?:[:–—-](?P<rest>.*)|[#*_~|=\s]{0,16})$"
)
AFTER_PROSE = re.compile(r"[.!?。！？]\s{1,4}[*_]{0,3}(?=FINAL RANKING[*_]{0,3}\s?:|最终排[名序][*_]{0,3}\s?:)")
QUOTE = re.compile(r"^\s*>\s?")


@dataclass(frozen=True, slots=True)
class Header:
    """line: where it stands. words: the header itself. rest: what stands behind it on its line."""

    line: int
    words: str
    rest: str


def places_in_text(text: str, shown: Iterable[str] = ()) -> list[Place]:
    """The letters of the labels, the best first, in groups of equals. shown: texts whose rankings are no votes.

    Raises Unreadable when there is no header, or no list under the last one.
    """
    lines = _lines(text)
    headers = _headers(lines)
    if not headers:
        raise Unreadable("it has no section headed FINAL RANKING")
    quotable = [_letters_and_digits(answer) for answer in shown]
    for header in reversed(headers[-MOST_HEADERS:]):
        places, used = read_list(_body(lines, header))
        words = [_letters_and_digits(line) for line in (header.words, *used)]
        if any(_holds(answer, words) for answer in quotable):
            continue
        if not places:
            raise Unreadable("no list of answers stands under its header FINAL RANKING")
        return places
    raise Unreadable("its only ranking is copied out of one of the answers")


def has_header(text: str) -> bool:
    return bool(_headers(_lines(text)))


def _lines(text: str) -> list[str]:
    return plain(text[-LONGEST_ANSWER:]).splitlines()


def _letters_and_digits(text: str) -> str:
    """Letters and digits only: emphasis and line breaks make no difference to what is a copy of what."""
    return "".join(filter(str.isalnum, plain(text).casefold()))


def _holds(answer: str, words: Sequence[str]) -> bool:
    """Whether all of them stand in an answer in this order, whatever stands between them."""
    end = 0
    for word in words:
        begin = answer.find(word, end)
        if begin < 0:
            return False
        end = begin + len(word)
    return True


def _headers(lines: Sequence[str]) -> list[Header]:
    """In order. Those in a code block count only where there are no others."""
    outside: list[Header] = []
    inside: list[Header] = []
    is_code = False
    for number, line in enumerate(lines):
        if FENCE.match(line):
            is_code = not is_code
        elif header := _header(number, line):
            (inside if is_code else outside).append(header)
    return outside or inside


def _header(number: int, line: str) -> Header | None:
    """A header has a line of its own, or follows upon a full stop."""
    begins = max((prose.end() for prose in AFTER_PROSE.finditer(line)), default=0)
    found = HEADER.match(line, begins)
    if not found:
        return None
    rest = found["rest"] or ""
    return Header(number, line[begins : len(line) - len(rest)], rest)


def _body(lines: Sequence[str], header: Header) -> list[str]:
    """What stands under a header, up to the next one."""
    body = [header.rest]
    for number in range(header.line + 1, len(lines)):
        if _header(number, lines[number]):
            break
        body.append(QUOTE.sub("", lines[number], count=1))
    return body


PARTIAL = "partial"
DUPLICATE = "duplicate"
UNKNOWN_LABEL = "unknown_label"
TIES = "ties"
FLAGS = (PARTIAL, DUPLICATE, UNKNOWN_LABEL, TIES)
NAMES = ("ranking",)


@dataclass(frozen=True, slots=True)
class Ranked:
    """order: labels, the best first, in groups of equals; each label at most once, those that were not ranked left out.

    flags: what was put right: `partial` (an answer is missing), `duplicate` (the first of two places holds),
    `unknown_label` (nobody was shown under it; the places after it move up); and `ties`, where some are equal.
    """

    order: tuple[Place, ...]
    flags: tuple[str, ...]
    reading: Literal["json", "text"]


def read_ballot(text: str, labels: Sequence[str], shown: Iterable[str] = ()) -> Ranked:
    """The ballot in a review. labels: those that the reviewer was shown, such as "Response A". shown: the answers, as
    the reviewer saw them: a ranking copied out of one of them is not the reviewer's. Raises Unreadable.
    """
    answers = tuple(shown)
    found = find_json(text, NAMES, or_list=True)
    if isinstance(found, Found) and (found.is_whole or _is_own(found.value, text, answers)):
        return _structured(found, labels)
    return _checked(places_in_text(text, answers), labels, "text")


def read_repaired(text: str, labels: Sequence[str]) -> Ranked:
    """The ballot in the answer to a request for nothing but the ranking. Raises Unreadable."""
    return _structured(find_json(text, NAMES, or_list=True), labels)


def _structured(found: Found | Missing, labels: Sequence[str]) -> Ranked:
    if isinstance(found, Missing):
        raise Unreadable(found.message)
    return _checked(places_of_json(ranking_in(found.value)), labels, "json")


def _is_own(answer: dict[str, Any] | list[Any], text: str, shown: Iterable[str]) -> bool:
    """Whether JSON among prose is the ballot: an object, without a list under a header, and copied from no answer."""
    if isinstance(answer, list) or has_header(text):
        return False
    ranking = _squeezed(answer["ranking"])
    return not any(ranking in _squeezed(answer) for answer in shown)


def _squeezed(value: Any) -> str:
    """Without blanks and marks: by this a copy is told."""
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "".join(sign for sign in written.casefold() if not sign.isspace() and sign not in "*`")


def _checked(places: Iterable[Place], labels: Sequence[str], reading: Literal["json", "text"]) -> Ranked:
    """Labels for letters, each once. Raises Unreadable when none of the answers is ranked."""
    known = {label.rpartition(" ")[2]: label for label in labels}
    order: list[Place] = []
    ranked: set[str] = set()
    flags: set[str] = set()
    for place in places:
        equals = []
        for letter in place:
            if letter not in known:
                flags.add(UNKNOWN_LABEL)
            elif letter in ranked:
                flags.add(DUPLICATE)
            else:
                ranked.add(letter)
                equals.append(known[letter])
        if equals:
            order.append(tuple(equals))
    if not order:
        raise Unreadable("it ranks none of the answers")
    if len(ranked) < len(known):
        flags.add(PARTIAL)
    if any(len(place) > 1 for place in order):
        flags.add(TIES)
    return Ranked(tuple(order), tuple(flag for flag in FLAGS if flag in flags), reading)
