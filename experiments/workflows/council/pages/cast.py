"""Who sits in a council, as its pages call them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from experiments.models.labels import short_name
from experiments.workflows.council.config import CHAIRS, MEMBERS


@dataclass(frozen=True, slots=True)
class Member:
    """number counts from 1, as in "Member 2". name: the model's short name, with the number where two share it."""

    seat: str
    number: int
    label: str
    name: str


def members(cast: Mapping[str, str]) -> list[Member]:
    """The members in the order of their seats. cast: seats to labels of models."""
    seated = [(number, seat, cast[seat]) for number, seat in enumerate(MEMBERS, 1) if seat in cast]
    shared = Counter(short_name(label) for _number, _seat, label in seated)
    return [Member(seat, number, label, _name(label, number, shared)) for number, seat, label in seated]


def chairs(cast: Mapping[str, str]) -> list[str]:
    """The labels of the chair and of those that stand in for it, in this order."""
    return [cast[seat] for seat in CHAIRS if seat in cast]


def names(cast: Mapping[str, str]) -> dict[str, str]:
    """What each seat's model is called on a page."""
    return {**{seat: short_name(label) for seat, label in cast.items()}, **{m.seat: m.name for m in members(cast)}}


def _name(label: str, number: int, shared: Counter[str]) -> str:
    name = short_name(label)
    return f"{name} #{number}" if shared[name] > 1 else name
