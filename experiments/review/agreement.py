"""How far people agree on a queue's items, with each other and with the judge, and who deviates how.

Only what was said before the models and the judge's scores were shown counts.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from statistics import mean, median
from typing import TYPE_CHECKING, cast
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, Exists, Max, OuterRef
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from accounts.errors import Forbidden
from experiments.models import Judgment, ReviewAnswer, ReviewCorrection, ReviewQueue, ReviewSlot
from experiments.review import rubrics
from experiments.review.coefficients import FEW, Asked, Measure, Values
from experiments.review.queues import is_manager
from experiments.runs.metrics import by_beginning
from experiments.workflows.base.rubrics import Rubric, Scale

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

MOST_DISPUTED = 20
KEPT_SECONDS = 600
SHAPE = 1  # of a Report and all in it; raise it with their fields: a release before may have left one in the cache
JUDGED = ("pk", "run_id", "turn", "subject", "judge_seat", "scores")


@dataclass(frozen=True, slots=True)
class Reviewer:
    """deviation: the mean distance to the others' mean on the same items, as a share of each scale's range; leaning:
    the same with its sign, above 0 for who scores higher than the others.
    """

    name: str
    answers: int
    seconds: float | None
    deviation: float | None
    leaning: float | None
    compared: int


@dataclass(frozen=True, slots=True)
class Disputed:
    """distance: between the answers furthest apart, 0 to 1, the mean of what is asked."""

    item: UUID
    number: int
    answers: int
    distance: float


@dataclass(frozen=True, slots=True)
class Report:
    """The API shows all fields of it and of what is in it; the page and the CSV those that they name (`views`)."""

    answers: int
    people: int
    measures: tuple[Measure, ...]
    reviewers: tuple[Reviewer, ...]
    disputed: tuple[Disputed, ...]


def readable_queue(user: "User | AnonymousUser", pk: UUID) -> ReviewQueue:
    """A queue whose agreement somebody may read: not while they review blind in it. Raises Http404 and Forbidden."""
    queue = get_object_or_404(ReviewQueue.objects.visible_to(user).select_related("rubric"), pk=pk)
    if queue.is_blind and queue.is_open and not is_manager(queue, user):
        raise Forbidden(_("This queue is blind. Its agreement is shown once the queue is closed."))
    return queue


def of(queue: ReviewQueue) -> Report:
    """The report of a queue, made anew whenever an answer was sent, taken back or corrected."""
    rows = ReviewSlot.objects.filter(item__queue=queue).answered()
    state = rows.aggregate(count=Count("pk"), last=Max("answered"))
    last = state["last"].timestamp() if state["last"] else 0
    key = f"review-agreement:{SHAPE}:{queue.pk}:{state['count']}:{last}"
    return cast("Report", cache.get_or_set(key, partial(report, queue), KEPT_SECONDS))


def report(queue: ReviewQueue) -> Report:
    """Everything that the page says of a queue."""
    given = counted_answers(queue)
    names = {one.author_id: one.author.username for one in given}
    judged, corrected = judge_scores(queue), _corrections(queue)
    asked = _questions(rubrics.of(queue.rubric), given)
    measures = [one.measured(names, judged.get(one.judge, {}), corrected.get(one.judge, [])) for one in asked]
    reviewers, disputed = _reviewers(given, asked, names), _disputed(given, asked)
    return Report(len(given), len(names), tuple(measures), tuple(reviewers), tuple(disputed))


def counted_answers(queue: ReviewQueue) -> list[ReviewAnswer]:
    """The version that counts of each answer that stands: the last one that was said blind, where the queue is."""
    stands = ReviewSlot.objects.answered().filter(item=OuterRef("item"), holder=OuterRef("author"))
    rows = ReviewAnswer.objects.filter(Exists(stands), item__queue=queue, is_informed=False)
    rows = rows.select_related("author", "item").order_by("version")
    return list({(one.item_id, one.author_id): one for one in rows}.values())


def judge_scores(queue: ReviewQueue) -> dict[str, dict[int, float]]:
    """By measure, what judges gave the item: the judgment itself, those of the message's turn and side, or of a whole
    transcript; the mean where there are several. Of one judge's several of one turn and side, of an answer that was
    given again, that which began last counts, as on the page of its run; a message that was replaced has none.
    """
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    places = _places(queue)
    rows = list(by_beginning(Judgment.objects.filter(run__in={run for run, *_ in places})).values_list(*JUDGED))
    stands = set({row[1:5]: row[0] for row in rows}.values())
    for pk, run, turn, subject, _seat, scores in rows:
        for number, wanted in (*places.get((run, turn, subject), ()), *places.get((run, None, ""), ())):
            if wanted == pk or (wanted is None and pk in stands):
                for name, value in (scores or {}).items():
                    found[name][number].append(float(value))
    return {name: {number: mean(values) for number, values in of.items()} for name, of in found.items()}


def _places(queue: ReviewQueue) -> dict[tuple[UUID, int | None, str], list[tuple[int, UUID | None]]]:
    """Where judgments of the items are found: (run, turn, subject) to items' numbers, and the judgment if only that."""
    found: dict[tuple[UUID, int | None, str], list[tuple[int, UUID | None]]] = defaultdict(list)
    for item in queue.items.select_related("message", "judgment"):
        if item.judgment:
            found[item.run_id, item.judgment.turn, item.judgment.subject].append((item.number, item.judgment.pk))
        elif not item.message:
            found[item.run_id, None, ""].append((item.number, None))
        elif not item.message.superseded:
            found[item.run_id, item.message.turn, item.message.seat].append((item.number, None))
    return found


def _corrections(queue: ReviewQueue) -> dict[str, list[float]]:
    """What people put in the place of judges' scores, by measure: of the answers that stand."""
    found: dict[str, list[float]] = defaultdict(list)
    rows = ReviewCorrection.objects.filter(answer__item__queue=queue, answer__slot__isnull=False)
    for measure, score in rows.values_list("measure", "score"):
        found[measure].append(score)
    return found


def _questions(rubric: Rubric, given: Sequence[ReviewAnswer]) -> list[Asked]:
    """A scale is a measure; so is a label with one choice, with so many categories. A label with several choices is a
    measure for each of them.
    """
    found = []
    for scale in rubric.scales:
        unsaid = sum(scale.name in answer.unsaid for answer in given)
        values = _values(given, [_score(scale, answer) for answer in given])
        asked = Asked(
            scale.name, scale.title, scale.level, values, scale.values, unsaid, scale.judged_by, is_scale=True
        )
        found.append(asked)
    for label in rubric.labels:
        chosen = [answer.labels.get(label.name) or () for answer in given]
        if not label.multiple:
            numbers = tuple(float(place) for place in range(len(label.choices)))
            values = _values(given, [float(label.names.index(names[0])) if names else None for names in chosen])
            found.append(Asked(label.name, label.title, "nominal", values, numbers))
            continue
        for choice in label.choices:
            name, title = f"{label.name}.{choice.name}", f"{label.title}: {choice.title}"
            values = _values(given, [float(choice.name in names) for names in chosen])
            found.append(Asked(name, title, "nominal", values, (0.0, 1.0)))
    return found


def _values(given: Sequence[ReviewAnswer], said: Sequence[float | None]) -> Values:
    """said: with each of the answers, None for nothing."""
    found: Values = defaultdict(dict)
    for answer, value in zip(given, said, strict=True):
        if value is not None:
            found[answer.author_id][answer.item.number] = value
    return dict(found)


def _score(scale: Scale, answer: ReviewAnswer) -> float | None:
    """The scale's own value, without what arithmetic has added to it."""
    given = answer.scores.get(scale.name)
    return None if given is None else min(scale.values, key=lambda one: abs(one - given))


def _reviewers(given: Sequence[ReviewAnswer], asked: Sequence[Asked], names: Mapping[int, str]) -> list[Reviewer]:
    apart: dict[int, list[float]] = defaultdict(list)
    for scale in (one for one in asked if one.is_scale):
        for values in scale.of_items().values():
            for person, value in values.items():
                if others := [other for who, other in values.items() if who != person]:
                    apart[person].append((value - mean(others)) / scale.span)
    found = []
    for person, name in sorted(names.items(), key=lambda pair: pair[1]):
        own = [answer for answer in given if answer.author_id == person]
        seconds = [answer.seconds for answer in own if answer.seconds is not None]
        leaning = mean(apart[person]) if len(apart[person]) >= FEW else None
        deviation = mean(map(abs, apart[person])) if len(apart[person]) >= FEW else None
        pace = median(seconds) if seconds else None
        found.append(Reviewer(name, len(own), pace, deviation, leaning, len(apart[person])))
    return found


def _disputed(given: Sequence[ReviewAnswer], asked: Sequence[Asked]) -> list[Disputed]:
    answers: dict[int, list[UUID]] = defaultdict(list)  # by the item's number, its id for each of them
    for answer in given:
        answers[answer.item.number].append(answer.item_id)
    distances: dict[int, list[float]] = defaultdict(list)
    for one in asked:
        for number, values in one.of_items().items():
            if len(values) > 1:
                distances[number].append(max(one.distance(a, b) for a, b in combinations(values.values(), 2)))
    rows = [
        Disputed(answers[number][0], number, len(answers[number]), mean(values))
        for number, values in distances.items()
        if any(values)
    ]
    return sorted(rows, key=lambda row: (-row.distance, row.number))[:MOST_DISPUTED]
