"""What reviewers say: rankings with ties, possibly of some of the candidates only."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Group = tuple[int, ...]
Groups = tuple[Group, ...]
Rule = Literal["leave_out", "mean_of_unused"]


@dataclass(frozen=True, slots=True)
class Ballots:
    """The reviewers' orders. A ballot is a tuple of tie groups, best first; a group is a tuple of candidate indices.

    A candidate that a ballot does not name was either not before the reviewer, and the ballot says nothing of it
    (`offered` empty: the rule "leave_out"), or it was offered and passed over (`offered` has one set per ballot: the
    rule "mean_of_unused"). Those passed over share the positions that are left, which is a tie group at the end: of
    five offered and two named, the other three stand at (3 + 4 + 5) / 3 = 4.

    A ballot that names nobody is an abstention. Raises ValueError for an index that is out of range, named twice or
    not offered, for an empty group, and when `offered` is not one set per ballot.
    """

    orders: tuple[Groups, ...]
    candidates: tuple[str, ...]
    offered: tuple[frozenset[int], ...] = ()

    def __post_init__(self) -> None:
        if self.offered and len(self.offered) != len(self.orders):
            raise ValueError(f"{len(self.offered)} sets of offered candidates for {len(self.orders)} ballots")
        for index, order in enumerate(self.orders):
            self._check(index, order)

    @property
    def rule(self) -> Rule:
        """What becomes of candidates that a ballot does not name."""
        return "mean_of_unused" if self.offered else "leave_out"

    def named(self, index: int) -> frozenset[int]:
        """The candidates that the ballot names."""
        return frozenset(candidate for group in self.orders[index] for candidate in group)

    def placed(self, index: int) -> Groups:
        """The ballot's groups, those passed over in a group at the end. Empty for an abstention."""
        order = self.orders[index]
        passed_over = self.offered[index] - self.named(index) if self.offered and order else frozenset()
        return (*order, tuple(sorted(passed_over))) if passed_over else order

    def without_own(self, authors: Iterable[int | None]) -> "Ballots":
        """The ballots without each reviewer's own answer; the positions below it move up.

        authors: per ballot the index of the candidate that the reviewer wrote, None for a reviewer who wrote none.
        """
        owns = tuple(authors)
        orders = tuple(_without(order, own) for order, own in zip(self.orders, owns, strict=True))
        offered = tuple(offer - {own} for offer, own in zip(self.offered, owns, strict=True)) if self.offered else ()
        return Ballots(orders, self.candidates, offered)

    def _check(self, index: int, order: Groups) -> None:
        names = [candidate for group in order for candidate in group]
        if not all(order):
            raise ValueError(f"ballot {index} has an empty group")
        if len(set(names)) != len(names):
            raise ValueError(f"ballot {index} names a candidate twice")
        offered = self.offered[index] if self.offered else frozenset()
        if not set(names) | offered <= set(range(len(self.candidates))):
            raise ValueError(f"ballot {index} names a candidate that does not exist")
        if self.offered and not set(names) <= offered:
            raise ValueError(f"ballot {index} names a candidate that was not offered")


def _without(order: Groups, own: int | None) -> Groups:
    kept = (tuple(candidate for candidate in group if candidate != own) for group in order)
    return tuple(group for group in kept if group)
