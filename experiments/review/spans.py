"""Places in a text: sentences to choose from, and a comment's words found again, or not shown at a wrong place."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

END = re.compile(r"(?:(?<![.!?…])[.!?…]+[\"'”’)\]*_]*(?=\s)|[。！？]+[”’」』）]*|\n+)")
LONGEST_SENTENCE = 600


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a text, and the words between."""

    start: int
    end: int
    words: str


def digest(text: str) -> str:
    """By which a text is known to be the one that a comment was written on."""
    return hashlib.sha256(text.encode()).hexdigest()


def sentences(text: str) -> list[Span]:
    """The sentences and lines of a text, in order. What lies between them is white space."""
    found, start = [], 0
    ends = [match.end() for match in END.finditer(text)]
    for end in [*ends, len(text)]:
        found += list(_trimmed(text, start, end))
        start = end
    return found


def located(text: str, *, start: int, end: int, quote: str, known: str) -> Span | None:
    """Where the words stand in `text`: at their place in the text that `known` is the digest of, or in another one
    where they stand exactly once. None where they are gone, or stand twice.
    """
    if digest(text) == known and text[start:end] == quote:
        return Span(start, end, quote)
    if quote and text.count(quote) == 1:
        place = text.index(quote)
        return Span(place, place + len(quote), quote)
    return None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text as the page shows it. comments: the numbers of those that are about it. sentence: its number
    where one begins or goes on, 0 between them.
    """

    start: int
    words: str
    sentence: int
    comments: tuple[int, ...] = ()


def pieces(text: str, marked: Iterable[tuple[int, Span]] = ()) -> list[Piece]:
    """The whole text, cut where sentences and comments begin and end: joined, the pieces are the text again."""
    places = [(number, span) for number, span in marked]
    inside = sentences(text)
    edges = {0, len(text), *(edge for one in inside for edge in (one.start, one.end))}
    edges |= {edge for _number, span in places for edge in (span.start, span.end)}
    ordered = sorted(edge for edge in edges if 0 <= edge <= len(text))
    found, place = [], 0
    for start, end in pairwise(ordered):
        while place < len(inside) and inside[place].end <= start:
            place += 1
        is_inside = place < len(inside) and inside[place].start <= start
        about = tuple(number for number, span in places if span.start <= start and end <= span.end)
        found.append(Piece(start, text[start:end], place + 1 if is_inside else 0, about))
    return found


def _trimmed(text: str, start: int, end: int) -> Iterable[Span]:
    """The sentence without the white space around it; a very long one in parts that end at a space."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST_SENTENCE:
        cut = text.rfind(" ", start, start + LONGEST_SENTENCE)
        cut = cut if cut > start else start + LONGEST_SENTENCE
        yield Span(start, cut, text[start:cut])
        start = cut + (text[cut] == " ")
    if end > start:
        yield Span(start, end, text[start:end])
