"""What somebody looks for among the battles of a board: read from an address, and written into one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.http import urlencode

from experiments.models import Board, Contestant

MOST_CONTESTANTS = 8
LONGEST_SEARCH = 200
RESULTS = ("won", "lost", "decisive", "tie", "both_bad")
CONSISTENCIES = {"yes": True, "no": False}
STATES = ("open", "void")
OF_SAMPLES = ("subset", "category", "source", "images", "sample", "search")


@dataclass(frozen=True, slots=True)
class Filter:
    """contestants: with one, the battles it is in; with more, those among them. result: in terms of the first one.

    consistency: "yes", "no" or empty. state: empty for what counts, "open" or "void". images: how many pictures the
    sample has, sample: its key, both as digits. unknown: names of contestants that the dataset does not have.
    """

    contestants: tuple[Contestant, ...] = ()
    result: str = ""
    consistency: str = ""
    state: str = ""
    subset: str = ""
    category: str = ""
    source: str = ""
    images: str = ""
    sample: str = ""
    search: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def keys(self) -> list[int]:
        return sorted(one.pk for one in self.contestants)

    @property
    def restricts_samples(self) -> bool:
        return any(getattr(self, name) for name in OF_SAMPLES)

    @property
    def is_empty(self) -> bool:
        return not self.address

    @property
    def address(self) -> str:
        """The query of a page that shows this; empty when nothing is looked for."""
        names = [one.name for one in self.contestants] + list(self.unknown)
        words = {"result": self.result, "consistent": self.consistency, "state": self.state}
        words |= {name: getattr(self, name) for name in OF_SAMPLES}
        pairs = [("contestant", name) for name in names] + [(name, word) for name, word in words.items() if word]
        return urlencode(pairs)


def read(query: QueryDict, board: Board) -> Filter:
    """What an address asks for. Words that mean nothing here are left out, unknown contestants are kept as such."""
    names = list(dict.fromkeys(name.replace("\0", "") for name in query.getlist("contestant") if name))
    known = {one.name: one for one in Contestant.objects.filter(dataset=board.dataset_id, name__in=names[:50])}
    contestants = tuple(known[name] for name in names if name in known)[:MOST_CONTESTANTS]
    words = {name: query.get(name, "").replace("\0", "").strip()[:LONGEST_SEARCH] for name in OF_SAMPLES}
    return Filter(
        contestants,
        _result(query.get("result", ""), len(contestants)),
        _one_of(query.get("consistent", ""), CONSISTENCIES),
        _one_of(query.get("state", ""), STATES),
        unknown=tuple(name[:LONGEST_SEARCH] for name in names if name not in known)[:MOST_CONTESTANTS],
        **{**words, "images": _digits(words["images"]), "sample": _digits(words["sample"])},
    )


def _result(word: str, contestants: int) -> str:
    """Winning and losing is said of one contestant, or of the first of two."""
    offered = RESULTS if contestants in {1, 2} else ("decisive", "tie", "both_bad")
    return _one_of(word, offered)


def _one_of(word: str, offered: tuple[str, ...] | Mapping[str, Any]) -> str:
    return word if word in offered else ""


def _digits(word: str) -> str:
    return word if word.isascii() and word.isdigit() and len(word) <= 18 else ""
