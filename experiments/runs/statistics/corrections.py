"""Judges' scores as people would have given them: beside the judges' own, never mixed with them."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from uuid import UUID

from experiments.models import ReviewCorrection
from experiments.models.review import QueueState


@dataclass(frozen=True, slots=True)
class Corrections:
    """scores: by judgment and measure what people put in the judge's place, the mean where several did."""

    scores: Mapping[UUID, Mapping[str, float]] = field(default_factory=dict)
    people: int = 0

    @property
    def count(self) -> int:
        return sum(map(len, self.scores.values()))


def corrections_in(runs: Collection[UUID]) -> Corrections:
    """Those of answers that stand, in queues that are closed: while people still review, nobody leans on what others
    said.
    """
    rows = ReviewCorrection.objects.filter(
        judgment__run__in=runs, answer__slot__isnull=False, answer__item__queue__state=QueueState.CLOSED
    )
    said: dict[UUID, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    people = set()
    for judgment, measure, score, author in rows.values_list("judgment_id", "measure", "score", "answer__author_id"):
        said[judgment][measure].append(score)
        people.add(author)
    means = {judgment: {name: fmean(scores) for name, scores in one.items()} for judgment, one in said.items()}
    return Corrections(means, len(people))
