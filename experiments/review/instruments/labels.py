"""What people said, blind, of a sample of what an instrument has judged."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q

from experiments.models import Experiment, InstrumentVersion, ReviewAnswer, ReviewQueue
from experiments.review import agreement
from experiments.review.filling import runs_of
from experiments.review.instruments.sampling import Sample

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


@dataclass(frozen=True, slots=True)
class Labels:
    """People's answers on a sample of one scan. sample: how it was drawn, of the transcripts of `runs`. answers: by the
    unit's key, by person. queues: which ones it went to.
    """

    scan: Experiment
    sample: Sample
    queues: tuple[ReviewQueue, ...]
    runs: frozenset[UUID]
    answers: Mapping[str, Mapping[int, ReviewAnswer]]


def readable_queues(version: InstrumentVersion, user: "User | AnonymousUser") -> list[ReviewQueue]:
    """The queues in which this version is held to people and whose agreement somebody may read, oldest first."""
    rows = ReviewQueue.objects.visible_to(user).filter(version=version, scan__isnull=False)
    managed = ReviewQueue.objects.manageable_by(user).values("pk")
    open_to_read = Q(pk__in=managed) | Q(is_blind=False) | ~Q(state=ReviewQueue.State.OPEN)
    visible = Q(scan__in=Experiment.objects.visible_to(user).values("pk"))
    return list(rows.filter(open_to_read & visible).select_related("scan").order_by("created", "pk"))


def labels_of(version: InstrumentVersion, user: "User | AnonymousUser") -> dict[UUID, Labels]:
    """By scan, the answers that count. Queues that were drawn in the same way from one scan are one sample of it; of
    samples drawn by different dimensions or judges the one with the most labels counts, because only then the chances
    are known.
    """
    samples: dict[tuple[UUID, str, str], list[ReviewQueue]] = defaultdict(list)
    for queue in readable_queues(version, user):
        sample = Sample.model_validate(queue.sample)
        samples[queue.scan_id, sample.dimension, sample.judge].append(queue)  # type: ignore[index]  # filtered
    found: dict[UUID, Labels] = {}
    for (scan, _dimension, _judge), queues in samples.items():
        answers: dict[str, dict[int, ReviewAnswer]] = defaultdict(dict)
        for answer in (one for queue in queues for one in agreement.counted_answers(queue)):
            answers[answer.item.subject][answer.author_id] = answer
        first = queues[0]
        if first.scan and (scan not in found or len(answers) > len(found[scan].answers)):
            runs = frozenset(runs_of(first).values_list("pk", flat=True))
            found[scan] = Labels(first.scan, Sample.model_validate(first.sample), tuple(queues), runs, answers)
    return found
