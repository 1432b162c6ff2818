"""The part of a text in which something was found, with the found words marked. Plain Python: no HTML comes of it."""

import contextlib
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from experiments.library.search.query import Phrase
from experiments.library.search.words import Word, words

LENGTH = 300  # characters
BEFORE = 80  # of them before the first word that was found
MOST_READ = 200_000  # characters of one text
Span = tuple[int, int]
MARKUP = re.compile(
    r"^[ ]{0,3}(?:\#{1,6}[ ]+|>[ ]?|(?:```|~~~).*$)"  # headings, quotations, fences of code
    r"|(?<![\w*`~])(?:\*{1,3}|`+|~~)(?=\S)|(?<=\S)(?:\*{1,3}|`+|~~)(?![\w*`~])",  # emphasis and code, not within a word
    re.MULTILINE,
)


class Part(NamedTuple):
    text: str
    is_found: bool


def excerpt(texts: Iterable[str], phrases: Sequence[Phrase]) -> list[Part]:
    """Of the first text in which one of the phrases stands; of the first text where none does."""
    read = [plain(text[:MOST_READ]) for text in texts if text]
    for text in read:
        if spans := _spans(text, phrases):
            return _cut(text, spans)
    return _cut(read[0], []) if read else []


def holds(texts: Sequence[str], phrases: Iterable[Phrase]) -> bool:
    """Whether each phrase stands in one of the texts."""
    read = [text[:MOST_READ] for text in texts]
    return all(any(_spans(text, [one]) for text in read) for one in phrases)


def plain(text: str) -> str:
    """Without the marks of Markdown; of a JSON document its names and values."""
    if text.lstrip().startswith(("{", "[")):
        with contextlib.suppress(ValueError, RecursionError):
            text = ", ".join(_said(json.loads(text)))
    return " ".join(MARKUP.sub("", text).split())


def _said(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _said(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _said(one, name)
    else:
        yield f"{name}: {value}" if name else str(value)


def _spans(text: str, phrases: Sequence[Phrase]) -> list[Span]:
    """Where the phrases stand, without overlaps, in their sequence."""
    said = list(words(text)) if phrases else []
    line = "".join(f"\n{word.folded}" for word in said) + "\n"
    starts = list(accumulate((len(word.folded) + 1 for word in said), initial=0))
    found = sorted(_span(said, bisect_left(starts, at), one) for one in phrases for at in _places(line, one))
    merged: list[Span] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _places(line: str, sought: Phrase) -> Iterator[int]:
    """Where it begins in the line of all words: to look there costs the same however nearly a phrase fits."""
    wanted = "".join(f"\n{word}" for word in sought.words) + ("" if sought.is_open else "\n")
    at = line.find(wanted)
    while at >= 0:
        yield at
        at = line.find(wanted, at + 1)


def _span(said: Sequence[Word], first: int, sought: Phrase) -> Span:
    last = said[first + len(sought.words) - 1]
    return said[first].start, last.start + 1 if _is_letter(sought, last) else last.end


def _is_letter(sought: Phrase, last: Word) -> bool:
    """A single letter of unspaced writing, found as the beginning of a pair."""
    return sought.is_open and last.end - last.start == 2 and len(sought.words[-1]) == 1 and not last.folded.isascii()


def _cut(text: str, spans: Sequence[Span]) -> list[Part]:
    start = _word_start(text, max(0, spans[0][0] - BEFORE)) if spans else 0
    end = _word_end(text, start + LENGTH)
    parts, at = [Part("… ", False)] if start else [], start
    for first, last in spans:
        if first >= end:
            break
        parts += [Part(text[at:first], False), Part(text[first : min(last, end)], True)]
        at = min(last, end)
    parts.append(Part(text[at:end] + (" …" if end < len(text) else ""), False))
    return [part for part in parts if part.text]


def _word_start(text: str, at: int) -> int:
    """The next beginning of a word, so that none is cut; where none is near, the place itself."""
    space = text.find(" ", at, at + 20) if at else -1
    return space + 1 if space >= 0 else at


def _word_end(text: str, at: int) -> int:
    """The same before the place."""
    space = text.rfind(" ", at - 20, at + 1)
    return space if space >= 0 and at < len(text) else min(len(text), at)
