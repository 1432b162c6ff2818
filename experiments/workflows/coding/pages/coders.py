"""Who takes part in a contest, as its pages call them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from experiments.models.labels import short_name
from experiments.workflows.coding.config import CODERS


@dataclass(frozen=True, slots=True)
class Coder:
    """number counts from 1. name: the model's short name; the whole label where two would be called the same."""

    seat: str
    number: int
    label: str
    name: str


def coders(cast: Mapping[str, str], seats: Iterable[str] | None = None) -> list[Coder]:
    """In the order of the seats; of all who are seated, or of these. cast: seats to labels of models."""
    wanted = set(cast if seats is None else seats)
    called = names(cast)
    return [
        Coder(seat, number, cast.get(seat, seat), called.get(seat, seat))
        for number, seat in enumerate(CODERS, 1)
        if seat in wanted
    ]


def names(cast: Mapping[str, str]) -> dict[str, str]:
    """What each seat's model is called on a page."""
    short = {seat: short_name(label) for seat, label in cast.items()}
    shared = Counter(short.values())
    return {seat: name if shared[name] == 1 else cast[seat] for seat, name in short.items()}
