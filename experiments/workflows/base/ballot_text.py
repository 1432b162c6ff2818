"""Finding the ranking in the prose of a review: the list under its last "FINAL RANKING" header."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.workflows.base.ballot_lists import FENCE, read_list
from experiments.workflows.base.labels import Place, plain
from experiments.workflows.base.parsing import LONGEST_ANSWER, Unreadable

MOST_HEADERS = 5  # from the end: those that are quotations are passed over
NAMES = "final rankings?|final order(?:ing)?|最终排名|最终排序|最終排名|最終排序|最後排名|最后排名|最终名次|最終順位"
# Neither a quotation mark nor a ">" may stand before a header: that is how other people's words are given.
HEADER = re.compile(
    rf"(?:[#*_~|=.:\s–—-]|\d{{1,2}}[.)]){{0,16}}(?i:(?:(?:here|this) is )?(?:(?:my|the|our) )?(?:{NAMES}))"
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
    quotable = [_squeezed(answer) for answer in shown]
    for header in reversed(headers[-MOST_HEADERS:]):
        places, used = read_list(_body(lines, header))
        words = [_squeezed(line) for line in (header.words, *used)]
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


def _squeezed(text: str) -> str:
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
