"""What is kept of a passage to find it by, and how each database writes that down. Plain Python."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.library.search.sought import EVERYTHING
from experiments.library.search.words import words

MOST_WORDS = 16_000  # of one passage; PostgreSQL counts places up to 16,383
MOST_BYTES = 400_000  # of its different words; PostgreSQL holds one megabyte of them
MOST_PLACES = 255  # of one word, likewise
GAP = "="  # between two texts of a passage: no phrase reaches across it


@dataclass(frozen=True, slots=True)
class Content:
    """marks: where the passage belongs, as `sought.mark` writes it. words: in their sequence."""

    marks: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def tsvector(self) -> str:
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words, 1):
            kept = places.setdefault(word, [])
            if len(kept) < MOST_PLACES:
                kept.append(place)
        found = [f"{_quoted(word)}:{','.join(map(str, at))}" for word, at in places.items()]
        return " ".join([*map(_quoted, self.marks), *found])

    @property
    def line(self) -> str:
        return " ".join([*self.marks, GAP, *self.words])


def content(marks: Iterable[str], texts: Sequence[str]) -> Content:
    """Of several texts of one passage: each different one once."""
    return Content((EVERYTHING, *dict.fromkeys(marks)), tuple(_words(dict.fromkeys(text for text in texts if text))))


def _words(texts: Iterable[str]) -> Iterable[str]:
    seen: set[str] = set()
    count = size = 0
    for number, text in enumerate(texts):
        if number:
            yield GAP
            count += 1
        for word in words(text):
            if word.folded not in seen:
                seen.add(word.folded)
                size += len(word.folded.encode()) + 8
            count += 1
            if count > MOST_WORDS or size > MOST_BYTES:
                return
            yield word.folded


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
