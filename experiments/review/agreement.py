"""How far people agree on a queue's items, with each other and with the judge, and who deviates how.

Only what was said before the models and the judge's scores were shown counts.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from statistics import mean, median
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, Exists, Max, OuterRef

from experiments.models import Judgment, ReviewAnswer, ReviewCorrection, ReviewItem, ReviewQueue, ReviewSlot
from experiments.review import rubrics
from experiments.review.coefficients import FEW, Asked, Measure, Values
from experiments.review.rubric import Label, Rubric, Scale
from experiments.runs.metrics import by_beginning

MOST_DISPUTED = 20
KEPT_SECONDS = 600
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
    answers: int
    people: int
    measures: tuple[Measure, ...]
    reviewers: tuple[Reviewer, ...]
    disputed: tuple[Disputed, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """What stands of one person's answers to one item, by the item's number."""

    item: int
    person: int
    answer: ReviewAnswer


def of(queue: ReviewQueue) -> Report:
    """The report of a queue, made anew whenever an answer was sent, taken back or corrected."""
    rows = ReviewSlot.objects.filter(item__queue=queue).answered()
    state = rows.aggregate(count=Count("pk"), last=Max("answered"))
    last = state["last"].timestamp() if state["last"] else 0
    key = f"review-agreement:{queue.pk}:{state['count']}:{last}"
    found: Report | None = cache.get(key)
    if found is None:
        found = report(queue)
        cache.set(key, found, KEPT_SECONDS)
    return found


def report(queue: ReviewQueue) -> Report:
    """Everything that the page says of a queue."""
    rubric = rubrics.of(queue.rubric)
    given = standing(queue)
    names = {one.person: one.answer.author.username for one in given}
    judged = judge_scores(queue)
    corrected = _corrections(queue)
    asked = [*_of_scales(rubric, given), *_of_labels(rubric, given)]
    measures = [one.measured(names, judged.get(one.judge, {}), corrected.get(one.judge, [])) for one in asked]
    return Report(
        answers=len(given),
        people=len(names),
        measures=tuple(measures),
        reviewers=tuple(_reviewers(given, asked, names)),
        disputed=tuple(_disputed(queue, given, asked)),
    )


def standing(queue: ReviewQueue) -> list[Given]:
    """The version that counts of each answer that stands: the last one that was said blind, where the queue is."""
    stands = ReviewSlot.objects.answered().filter(item=OuterRef("item"), holder=OuterRef("author"))
    rows = ReviewAnswer.objects.filter(Exists(stands), item__queue=queue, is_informed=False)
    rows = rows.select_related("author", "item").order_by("version")
    found = {(one.item_id, one.author_id): one for one in rows}
    return [Given(one.item.number, one.author_id, one) for one in found.values()]


def judge_scores(queue: ReviewQueue) -> dict[str, dict[int, float]]:
    """By measure, what judges gave the item: the judgment itself, those of the message's turn and side, or of a whole
    transcript; the mean where there are several. Of one judge's several of one turn and side, of an answer that was
    given again, that which began last counts, as on the page of its run; a message that was replaced has none.
    """
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    places = _places(queue)
    runs = {run for run, _turn, _subject in places}
    rows = list(by_beginning(Judgment.objects.filter(run__in=runs)).values_list(*JUDGED))
    stands = set({row[1:5]: row[0] for row in rows}.values())
    for pk, run, turn, subject, _seat, scores in rows:
        for number, wanted in (*places.get((run, turn, subject), ()), *places.get((run, None, ""), ())):
            if wanted == pk or (wanted is None and pk in stands):
                for name, value in (scores or {}).items():
                    found[name][number].append(float(value))
    return {name: {number: mean(values) for number, values in of.items()} for name, of in found.items()}


def _of_scales(rubric: Rubric, given: Sequence[Given]) -> list[Asked]:
    return [_of_scale(scale, given) for scale in rubric.scales]


def _of_scale(scale: Scale, given: Sequence[Given]) -> Asked:
    unsaid = sum(scale.name in one.answer.unsaid for one in given)
    values = _values(given, partial(_score, scale))
    judge = scale.judged_by
    return Asked(scale.name, scale.title, scale.level, values, scale.values, unsaid, judge, is_scale=True)


def _score(scale: Scale, answer: ReviewAnswer) -> float | None:
    """The scale's own value, without what arithmetic has added to it."""
    given = answer.scores.get(scale.name)
    return None if given is None else min(scale.values, key=lambda one: abs(one - given))


def _of_labels(rubric: Rubric, given: Sequence[Given]) -> list[Asked]:
    """A label with one choice is a measure with so many categories; one with several is a measure for each choice."""
    found = []
    for label in rubric.labels:
        if label.multiple:
            found += [_of_choice(label, place, given) for place in range(len(label.choices))]
        else:
            numbers = tuple(float(place) for place in range(len(label.choices)))
            values = _values(given, partial(_chosen, label))
            found.append(Asked(label.name, label.title, "nominal", values, numbers))
    return found


def _of_choice(label: Label, place: int, given: Sequence[Given]) -> Asked:
    choice = label.choices[place]
    values = _values(given, partial(_is_chosen, label.name, choice.name))
    name, title = f"{label.name}.{choice.name}", f"{label.title}: {choice.title}"
    return Asked(name, title, "nominal", values, (0.0, 1.0))


def _chosen(label: Label, answer: ReviewAnswer) -> float | None:
    chosen = answer.labels.get(label.name)
    return float(label.names.index(chosen[0])) if chosen else None


def _is_chosen(label: str, choice: str, answer: ReviewAnswer) -> float:
    return float(choice in answer.labels.get(label, ()))


def _values(given: Sequence[Given], of: Callable[[ReviewAnswer], float | None]) -> Values:
    found: Values = defaultdict(dict)
    for one in given:
        value = of(one.answer)
        if value is not None:
            found[one.person][one.item] = value
    return dict(found)


def _reviewers(given: Sequence[Given], asked: Sequence[Asked], names: Mapping[int, str]) -> list[Reviewer]:
    apart: dict[int, list[float]] = defaultdict(list)
    for one in asked:
        for of_item in one.of_items().values():
            for person, value in of_item.items():
                others = [other for who, other in of_item.items() if who != person]
                if others and one.is_scale:
                    apart[person].append((value - mean(others)) / one.span)
    seconds: dict[int, list[float]] = defaultdict(list)
    for row in given:
        if row.answer.seconds is not None:
            seconds[row.person].append(row.answer.seconds)
    return [
        Reviewer(
            name=name,
            answers=sum(row.person == person for row in given),
            seconds=median(seconds[person]) if seconds[person] else None,
            deviation=mean(map(abs, apart[person])) if len(apart[person]) >= FEW else None,
            leaning=mean(apart[person]) if len(apart[person]) >= FEW else None,
            compared=len(apart[person]),
        )
        for person, name in sorted(names.items(), key=lambda pair: pair[1])
    ]


def _disputed(queue: ReviewQueue, given: Sequence[Given], asked: Sequence[Asked]) -> list[Disputed]:
    distances: dict[int, list[float]] = defaultdict(list)
    for one in asked:
        for item, of_item in one.of_items().items():
            if len(of_item) > 1:
                distances[item].append(max(one.distance(a, b) for a, b in combinations(of_item.values(), 2)))
    keys = dict(ReviewItem.objects.filter(queue=queue, number__in=distances).values_list("number", "pk"))
    rows = [
        Disputed(keys[item], item, sum(row.item == item for row in given), mean(values))
        for item, values in distances.items()
        if any(values)
    ]
    return sorted(rows, key=lambda row: (-row.distance, row.number))[:MOST_DISPUTED]


def _places(queue: ReviewQueue) -> dict[tuple[UUID, int | None, str], list[tuple[int, UUID | None]]]:
    """Where judgments of the items are found: (run, turn, subject) to items' numbers, and the judgment if only that."""
    found: dict[tuple[UUID, int | None, str], list[tuple[int, UUID | None]]] = defaultdict(list)
    for item in queue.items.select_related("message", "judgment"):
        if item.message:
            if item.message.superseded:
                continue
            found[item.run_id, item.message.turn, item.message.seat].append((item.number, None))
        elif item.judgment:
            found[item.run_id, item.judgment.turn, item.judgment.subject].append((item.number, item.judgment.pk))
        else:
            found[item.run_id, None, ""].append((item.number, None))
    return found


def _corrections(queue: ReviewQueue) -> dict[str, list[float]]:
    """What people put in the place of judges' scores, by measure: of the answers that stand."""
    found: dict[str, list[float]] = defaultdict(list)
    rows = ReviewCorrection.objects.filter(answer__item__queue=queue, answer__slot__isnull=False)
    for measure, score in rows.values_list("measure", "score"):
        found[measure].append(score)
    return found
