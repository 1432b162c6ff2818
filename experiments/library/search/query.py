"""What the search is asked: the words that somebody types, read, and what the index is asked for. Plain Python."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from experiments.library.search.words import folded, words

MARKED = ("seat", "model", "workflow", "flag", "by")  # filters that are found in the index itself
FURTHER = ("state", "from", "to", "project", "in")  # filters of rows beside it: `finding.CONDITIONS` has each
LONGEST = 500
QUOTES = str.maketrans("“”„«»「」『』", '"' * 9)
PART = re.compile(rf'(-?)(?:({"|".join((*MARKED, *FURTHER))})[:：])?(?:"([^"]*)"?|(\S+))', re.IGNORECASE)


def mark(name: str, value: str) -> str:
    """What says of a passage where it belongs. No word of a text looks like it."""
    return f"={name}:{'_'.join(folded(value).split())}"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand one after the other. is_open: the last one is only a beginning."""

    words: tuple[str, ...]
    is_open: bool = False


def phrase(text: str, *, is_open: bool = False) -> Phrase | None:
    """None where the text holds no word. The last letters of unspaced writing may go on in the text that is found."""
    found = list(words(text))
    if not found:
        return None
    is_pair = found[-1].is_rest and len(found) > 1 and found[-2].end == found[-1].end
    kept = found[:-1] if is_pair else found
    return Phrase(tuple(word.folded for word in kept), is_open or kept[-1].is_rest)


@dataclass(frozen=True, slots=True)
class Sought:
    """What the index is asked for: all of `phrases`, one of each of `marks`, none of `without`."""

    phrases: tuple[Phrase, ...] = ()
    marks: tuple[tuple[str, ...], ...] = ()
    without: tuple[Phrase, ...] = ()
    without_marks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.phrases or self.marks or self.without or self.without_marks)


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks for: words, "phrases", -not, beginnings* and filters such as seat:A.

    filters: name to the values asked for, one of which is to fit; excluded: to those none of which may.
    """

    text: str = ""
    phrases: tuple[Phrase, ...] = ()
    without: tuple[Phrase, ...] = ()
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    excluded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.phrases or self.without or self.filters or self.excluded)


def read(text: str, fields: Mapping[str, str] | None = None) -> Asked:
    """fields: filters that were asked for beside the text, by their names; empty ones are none."""
    typed = _clean(text[:LONGEST])
    found: dict[bool, list[Phrase]] = {False: [], True: []}
    filters: dict[bool, dict[str, tuple[str, ...]]] = {False: {}, True: {}}
    for minus, name, quoted, word in PART.findall(typed.translate(QUOTES)):
        value, is_excluded = quoted or word, bool(minus)
        if name:
            _add(filters[is_excluded], name.lower(), value)
        elif one := phrase(value, is_open=not quoted and word.endswith("*")):
            found[is_excluded].append(one)
    for name, value in (fields or {}).items():
        _add(filters[False], name, value)
    return Asked(typed, tuple(found[False]), tuple(found[True]), filters[False], filters[True])


def _add(filters: dict[str, tuple[str, ...]], name: str, value: str) -> None:
    value = _clean(value)[:200]
    if value and value not in filters.get(name, ()):
        filters[name] = (*filters.get(name, ()), value)


def _clean(text: str) -> str:
    return " ".join(text.replace("\0", "").split())
