"""The card of an instrument's version: how far it agrees with people, people with each other and its judges with each
other; the rates of its scans, corrected by labels; and what is missing to say more.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, cast
from uuid import UUID

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Max, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from experiments.models import Annotation, Experiment, InstrumentVersion, ReviewAnswer, ReviewSlot
from experiments.review.coefficients import FEW
from experiments.review.instruments.comparison import Agreement, Detection, Pair, agreement, detections, pairs_of_people
from experiments.review.instruments.correction import Corrected, corrections, said_of, stratum_of_unit
from experiments.review.instruments.labels import Labels, labels_of, readable_queues
from experiments.review.instruments.quantities import Quantity, quantities
from experiments.review.instruments.units import Unit, annotations_of, units_of
from experiments.workflows.base.instruments import Definition
from leaderboard.ratings.prevalence import standing_for
from leaderboard.ratings.values import Reason, Undefined

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

MOST_SCANS = 20
MOST_DISAGREEMENTS = 100
ENOUGH = 100  # labels below which the card says that there are few
KEPT_SECONDS = 600
SHAPE = 1  # of a Card and all in it; raise it with their fields: a release before may have left one in the cache


@dataclass(frozen=True, slots=True)
class WithPeople:
    """One judge of the instrument and people, on one quantity."""

    judge: str
    agreement: Agreement
    detections: tuple[Detection, ...]


@dataclass(frozen=True, slots=True)
class BetweenJudges:
    first: str
    second: str
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class OnQuantity:
    """labels: answers to it; units: that have one."""

    name: str
    title: str
    level: str
    words: tuple[str, ...]
    units: int
    labels: int
    judges: tuple[WithPeople, ...]
    people: Agreement
    between: tuple[BetweenJudges, ...]


@dataclass(frozen=True, slots=True)
class OfScan:
    """The rates of one scan. units: that were judged; labeled: that people labeled. rates: empty where nothing is
    scored.
    """

    scan: UUID
    title: str
    units: int
    labeled: int
    rates: tuple[Corrected, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One person's label that differs from a judge's value. distance: 0 to 1."""

    item: UUID
    number: int
    queue: UUID
    title: str
    judge: str
    said: str
    person: str
    label: str
    distance: float


@dataclass(frozen=True, slots=True)
class Card:
    """labels: answers that count, on so many units, by so many people."""

    labels: int
    units: int
    people: int
    quantities: tuple[OnQuantity, ...]
    scans: tuple[OfScan, ...]
    disagreements: tuple[Disagreement, ...]


def of(version: InstrumentVersion, user: "User | AnonymousUser") -> Card:
    """The card as somebody may know it: of scans and transcripts that they see, and queues whose agreement they may
    read. Made anew whenever an answer or an annotation came.
    """
    scans = scans_of(version, user)
    queues = [queue.pk for queue in readable_queues(version, user)]
    answered = ReviewSlot.objects.answered().filter(item__queue__in=queues)
    rows = Annotation.objects.filter(version=version, made_in__experiment__in=scans)
    state = {
        **answered.aggregate(answers=Count("pk"), last=Max("answered")),
        **rows.aggregate(annotations=Count("pk"), newest=Max("created")),
    }
    shown = hashlib.sha256(repr([*queues, *(scan.pk for scan in scans), state]).encode()).hexdigest()
    key = f"instrument-card:{SHAPE}:{version.pk}:{user.pk}:{shown}"
    return cast("Card", cache.get_or_set(key, partial(card, version, user, scans), KEPT_SECONDS))


def scans_of(version: InstrumentVersion, user: "User | AnonymousUser") -> list[Experiment]:
    """The experiments in which this version has judged, as far as somebody sees them, newest first; also scans whose
    units others had judged before.
    """
    made = Annotation.objects.filter(version=version).values("made_in__experiment")
    rows = Experiment.objects.visible_to(user).filter(Q(pk__in=made) | Q(config__version=str(version.pk)))
    return list(rows.order_by("-created", "-pk")[:MOST_SCANS])


def card(version: InstrumentVersion, user: "User | AnonymousUser", scans: Sequence[Experiment]) -> Card:
    definition, labels = version.parsed, labels_of(version, user)
    read = []
    for scan in scans:
        units = units_of(annotations_of(version, scan).visible_to(user))
        read.append(ReadScan(definition, scan, units, labels.get(scan.pk)))
    answers = [answer for scan in read for of_unit in scan.answers.values() for answer in of_unit.values()]
    return Card(
        labels=len(answers),
        units=sum(len(scan.answers) for scan in read),
        people=len({answer.author_id for answer in answers}),
        quantities=tuple(_on_quantity(quantity, read) for quantity in quantities(definition)),
        scans=tuple(_of_scan(scan) for scan in read),
        disagreements=tuple(_disagreements(definition, read)[:MOST_DISAGREEMENTS]),
    )


@dataclass(frozen=True, slots=True)
class ReadScan:
    """What a scan has judged, with its labels."""

    definition: Definition
    experiment: Experiment
    units: Mapping[str, Unit]
    labels: Labels | None

    @property
    def answers(self) -> dict[str, Mapping[int, ReviewAnswer]]:
        """By the unit's key, of those that somebody may know of."""
        given = self.labels.answers if self.labels else {}
        return {key: of_unit for key, of_unit in given.items() if key in self.units}

    @property
    def judges(self) -> list[str]:
        return sorted({judge for unit in self.units.values() for judge, _dimension in unit.values})

    def labeled(self, quantity: Quantity) -> list[tuple[Unit, dict[int, float], float]]:
        """The units that people labeled, what they said by person, and how many units each stands for."""
        if self.labels is None:
            return []
        strata = {key: stratum_of_unit(self.definition, self.labels, unit) for key, unit in self.units.items()}
        keys = [key for key, stratum in strata.items() if stratum]
        said = [said_of(quantity, self.labels, key) for key in keys]
        weights = standing_for([strata[key] for key in keys], np.array([bool(one) for one in said], dtype=bool))
        rows = zip(keys, said, weights.tolist(), strict=True)
        return [(self.units[key], by_person, weight) for key, by_person, weight in rows if by_person]


def _on_quantity(quantity: Quantity, scans: Sequence[ReadScan]) -> OnQuantity:
    labeled = [row for scan in scans for row in scan.labeled(quantity)]
    judges = sorted({judge for scan in scans for judge in scan.judges})
    with_people = []
    for judge in judges:
        pairs = [
            Pair(quantity.of_instrument(value), said, weight / len(by_person), unit.run)
            for unit, by_person, weight in labeled
            if (value := unit.values.get((judge, quantity.dimension.name))) is not None
            for said in by_person.values()
        ]
        with_people.append(WithPeople(judge, agreement(quantity, pairs), tuple(detections(quantity, pairs))))
    between = [_between(quantity, scans, *two) for two in combinations(judges, 2)]
    several = [(by_person, weight, unit.run) for unit, by_person, weight in labeled if len(by_person) > 1]
    return OnQuantity(
        name=quantity.name,
        title=quantity.title,
        level=quantity.level,
        words=quantity.words,
        units=len(labeled),
        labels=sum(len(by_person) for _unit, by_person, _weight in labeled),
        judges=tuple(with_people),
        people=agreement(quantity, pairs_of_people(several)),
        between=tuple(between),
    )


def _between(quantity: Quantity, scans: Sequence[ReadScan], first: str, second: str) -> BetweenJudges:
    """Of two judges of one scan: on all units that both scored."""
    pairs = []
    for unit in (unit for scan in scans for unit in scan.units.values()):
        one, other = (unit.values.get((judge, quantity.dimension.name)) for judge in (first, second))
        if one is not None and other is not None:
            pairs.append(Pair(quantity.of_instrument(one), quantity.of_instrument(other), 1.0, unit.run))
    return BetweenJudges(first, second, agreement(quantity, pairs))


def _of_scan(scan: ReadScan) -> OfScan:
    rates = [
        rate
        for quantity in quantities(scan.definition)
        for judge in scan.judges
        for rate in corrections(scan.definition, quantity, judge, scan.units, scan.labels)
    ]
    return OfScan(scan.experiment.pk, scan.experiment.title, len(scan.units), len(scan.answers), tuple(rates))


def _disagreements(definition: Definition, scans: Sequence[ReadScan]) -> list[Disagreement]:
    """The largest first."""
    found = []
    for quantity, scan in ((quantity, scan) for quantity in quantities(definition) for scan in scans):
        span = quantity.values[-1] - quantity.values[0]
        for key, by_person in scan.answers.items():
            for judge, answer in ((judge, answer) for judge in scan.judges for answer in by_person.values()):
                value = scan.units[key].values.get((judge, quantity.dimension.name))
                label = quantity.of_person(answer)
                if value is None or label is None or (said := quantity.of_instrument(value)) == label:
                    continue
                distance = 1.0 if quantity.level == "nominal" else abs(said - label) / span
                about = (answer.item_id, answer.item.number, answer.item.queue_id, quantity.title, judge)
                words = (quantity.word(said), answer.author.username, quantity.word(label))
                found.append(Disagreement(*about, *words, distance))
    return sorted(found, key=lambda one: (-one.distance, one.title, one.number))


def missing(found: Card) -> list[str]:
    """What keeps the card from saying more, in sentences of the reader's language."""
    if not found.labels:
        return [_("No labels yet. Send a sample of a scan to reviewers.")]
    sentences = []
    if max((one.people.pairs for one in found.quantities), default=0) < FEW:
        sentences.append(_("Too few units have labels by two people, so agreement between people is unknown."))
    if found.labels < ENOUGH:
        said = ngettext(
            "%(n)s label is few: intervals get half as wide with four times as many.",
            "%(n)s labels are few: intervals get half as wide with four times as many.",
            found.labels,
        )
        sentences.append(said % {"n": found.labels})
    for scan in found.scans:
        reasons = {one.by_labels.value for one in scan.rates if isinstance(one.by_labels.value, Undefined)}
        if not scan.labeled:
            sentences.append(_("The scan “%(title)s” has no labels.") % {"title": scan.title})
        elif Undefined(Reason.UNLABELED) in reasons:
            said = _("In the scan “%(title)s” a value has no label yet, so its rates cannot be corrected.")
            sentences.append(said % {"title": scan.title})
    return sentences
