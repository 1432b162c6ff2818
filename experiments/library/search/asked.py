"""What somebody types into the search, read: words, "phrases", -not, beginnings*, and filters such as seat:A."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from experiments.library.search.sought import Phrase, phrase

MARKED = ("seat", "model", "workflow", "flag", "by")  # filters that are found in the index itself
FURTHER = ("state", "from", "to", "project", "in")  # filters of rows beside it: `filters.CONDITIONS` has each
NAMES = (*MARKED, *FURTHER)
LONGEST = 500
QUOTES = str.maketrans("“”„«»「」『』", '"' * 9)
PART = re.compile(rf'(-?)(?:({"|".join(NAMES)})[:：])?(?:"([^"]*)"?|(\S+))', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """filters: name to the values asked for, one of which is to fit; excluded: to those none of which may."""

    text: str = ""
    phrases: tuple[Phrase, ...] = ()
    without: tuple[Phrase, ...] = ()
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    excluded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.phrases or self.without or self.filters or self.excluded)


def read(text: str, fields: Mapping[str, str] | None = None) -> Asked:
    """fields: filters that were asked for beside the text, by their names; empty ones are none."""
    typed = " ".join(text[:LONGEST].replace("\0", "").split())
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
    value = " ".join(value.replace("\0", "").split())[:200]
    if value and value not in filters.get(name, ()):
        filters[name] = (*filters.get(name, ()), value)
