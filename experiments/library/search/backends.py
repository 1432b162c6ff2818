"""How each database keeps the words of a passage, and how it is asked for them. Plain Python.

PostgreSQL has them in a `tsvector`; SQLite in a line of text, which a table of FTS5 beside the passages indexes. What
counts as a word, and what is asked for, is the same on both.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from experiments.library.search.query import Phrase, Sought
from experiments.library.search.words import folded_words

EVERYTHING = "=all"  # a mark that every passage carries
MOST_WORDS = 16_000  # of one passage; PostgreSQL counts places up to 16,383
MOST_BYTES = 400_000  # of its different words; PostgreSQL holds one megabyte of them
MOST_PLACES = 255  # of one word, likewise
GAP = "="  # between two texts of a passage: no phrase reaches across it


@dataclass(frozen=True, slots=True)
class Content:
    """What a passage is found by. marks: where it belongs, as `query.mark` writes it. words: in their sequence."""

    marks: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def content(marks: Iterable[str], texts: Sequence[str]) -> Content:
    """Of several texts of one passage: each different one once."""
    found: list[str] = []
    for text in dict.fromkeys(text for text in texts if text):
        found += [GAP] if found else []
        found += folded_words(text, MOST_WORDS)
    is_small = len(found) <= MOST_WORDS and 4 * sum(map(len, found)) + 8 * len(found) <= MOST_BYTES
    return Content((EVERYTHING, *dict.fromkeys(marks)), tuple(found if is_small else _cut(found)))


def _cut(words: Iterable[str]) -> Iterator[str]:
    """As many of the first as a passage holds."""
    seen, size = {GAP}, 0
    for word in islice(words, MOST_WORDS):
        if word not in seen:
            seen.add(word)
            size += len(word.encode()) + 8
        if size > MOST_BYTES:
            return
        yield word


class Backend(Protocol):
    column_type: str
    placeholder: str

    def stored(self, content: Content) -> str:
        """What its column holds."""

    def query(self, sought: Sought) -> str:
        """In the language of its index."""

    def condition(self, column: str, table: str) -> str:
        """SQL that asks for such a query, which is its parameter."""


class PostgreSQL:
    column_type = "tsvector"
    placeholder = "%s::tsvector"

    def stored(self, content: Content) -> str:
        places: dict[str, list[int]] = {}
        for place, word in enumerate(content.words, 1):
            kept = places.setdefault(word, [])
            if len(kept) < MOST_PLACES:
                kept.append(place)
        found = [f"{self._lexeme(word)}:{','.join(map(str, at))}" for word, at in places.items()]
        return " ".join([*map(self._lexeme, content.marks), *found])

    def query(self, sought: Sought) -> str:
        wanted = [self._phrase(one) for one in sought.phrases]
        wanted += ["(" + " | ".join(map(self._lexeme, choice)) + ")" for choice in sought.marks]
        unwanted = [*map(self._phrase, sought.without), *map(self._lexeme, sought.without_marks)]
        return " & ".join([*(wanted or [self._lexeme(EVERYTHING)]), *(f"!{one}" for one in unwanted)])

    def condition(self, column: str, table: str) -> str:
        return f"{column} @@ %s::tsquery"

    def _phrase(self, phrase: Phrase) -> str:
        return "(" + " <-> ".join(map(self._lexeme, phrase.words)) + (":*)" if phrase.is_open else ")")

    def _lexeme(self, word: str) -> str:
        return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


class SQLite:
    column_type = "text"
    placeholder = "%s"

    def stored(self, content: Content) -> str:
        return " ".join([*content.marks, GAP, *content.words])

    def query(self, sought: Sought) -> str:
        wanted = [self._phrase(one) for one in sought.phrases]
        wanted += ["(" + " OR ".join(map(self._string, choice)) + ")" for choice in sought.marks]
        asked = "(" + " AND ".join(wanted or [self._string(EVERYTHING)]) + ")"
        unwanted = [*map(self._phrase, sought.without), *map(self._string, sought.without_marks)]
        return asked + (f" NOT ({' OR '.join(unwanted)})" if unwanted else "")

    def condition(self, column: str, table: str) -> str:
        found = "SELECT rowid FROM experiments_passage_words WHERE experiments_passage_words MATCH %s"
        return f"{table}.id IN ({found})"

    def _phrase(self, phrase: Phrase) -> str:
        return self._string(" ".join(phrase.words)) + (" *" if phrase.is_open else "")

    def _string(self, word: str) -> str:
        return '"' + word.replace('"', '""') + '"'


def backend_of(vendor: str) -> Backend:
    """vendor: as Django names it."""
    return PostgreSQL() if vendor == "postgresql" else SQLite()
