"""The ladder of the council: models as their peers rank their answers, question by question."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import NamedTuple
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet

from experiments.models import Ballot, Participant, ProviderModel, Run, RunReview, Step
from experiments.tasks import clock
from experiments.workflows.council import WORKFLOW as COUNCIL
from leaderboard.boards.ranking import ranking_of, rows_of
from leaderboard.boards.standings import Row, Standings
from leaderboard.models import Ladder
from leaderboard.ratings import Battles, Intervals, tally
from leaderboard.ratings.intervals import NO_SPREAD, Shared, by_items
from leaderboard.ratings.values import IntArray

WORKFLOW = COUNCIL.slug
TITLE = "Models in the council, by their peers"


class Pairing(NamedTuple):
    """One ballot's word on two models: score 1 the first is better, 0.5 equals, 0 the second is. question: whose."""

    first: str
    second: str
    score: float
    question: tuple[UUID, int]


def ladder() -> Ladder:
    """The council's ladder, made when it is new: public in a demonstration, elsewhere when an admin publishes it."""
    made = {"title": TITLE, "workflow": WORKFLOW, "is_public": settings.DEMO_MODE}
    return Ladder.objects.get_or_create(slug=WORKFLOW, defaults=made)[0]


def newest() -> str:
    """Changes with every ballot, whose keys rise with time, and with every council that is left out or counts again."""
    latest = Ballot.objects.order_by("-pk").values_list("pk", flat=True).first() or ""
    return f"{latest} {curated() or ''}".strip()


def is_anything_ranked() -> bool:
    """Whether there is anything to make a ladder of."""
    return Ballot.objects.filter(run__origin=Run.Origin.LIVE).exists()


def source() -> str:
    """What the ladder is made of: changes with every ballot, answered question, and council that is left out or counts
    again, whatever the clocks say.
    """
    ballots = Ballot.objects.aggregate(n=Count("pk"), superseded=Count("pk", filter=Q(superseded=True)))
    left_out = RunReview.objects.filter(excluded__isnull=False, run__experiment__workflow=WORKFLOW)
    runs = ",".join(map(str, left_out.order_by("run").values_list("run", flat=True)))
    return f"{ballots['n']} {ballots['superseded']} {_answered().count()} {runs}".strip()


def curated() -> datetime | None:
    """When a curator last decided something about a council."""
    rows = RunReview.objects.filter(run__experiment__workflow=WORKFLOW)
    last: datetime | None = rows.aggregate(last=Max("changed"))["last"]
    return last


def standings() -> Standings:
    """Ratings from all ballots that count. Ballots on one question are one observation, a cluster of the sandwich, and
    intervals are wider where there are few.
    """
    began, made_of = clock.now(), source()  # read first: what counts may only be newer
    found = list(pairings())
    slugs = sorted({slug for one in found for slug in (one.first, one.second)})
    number = {slug: index for index, slug in enumerate(slugs)}
    battles = Battles(
        np.array([number[one.first] for one in found], dtype=np.int64),
        np.array([number[one.second] for one in found], dtype=np.int64),
        [one.score for one in found],
        slugs,
    )
    questions = {question: index for index, question in enumerate(dict.fromkeys(one.question for one in found))}
    clusters = np.array([questions[one.question] for one in found], dtype=np.int64)
    table = tally(battles)
    placing = ranking_of(_by_questions(battles, clusters), table)
    rows = rows_of(table, placing, _described(slugs))
    return Standings(
        changes=int(began.timestamp() * 1000),
        battles=len(found),
        ties=sum(one.score == 0.5 for one in found),
        components=len(placing.intervals.ratings.components),
        rows=tuple(rows),
        source=made_of,
    )


def _by_questions(battles: Battles, clusters: IntArray) -> Intervals:
    """As wide as few questions ask for. Of one question, or several that all came out alike, nothing can be learned:
    the next one may bring anything.
    """
    table, shared = tally(battles), Shared(battles, clusters)
    found, bare = by_items(table, shared), by_items(table, shared, at_least=False)
    return replace(found, errors=np.where(bare.errors > NO_SPREAD, found.errors, np.nan))


def pairings() -> Iterator[Pairing]:
    """What each ballot says of each two models: of questions that were played here to their end, own answers left out,
    and councils that a curator has left out.

    Two answers of one model are not compared; answers that a ballot passes over stand last, as equals.
    """
    ballots = Ballot.objects.filter(run__origin=Run.Origin.LIVE, run__experiment__workflow=WORKFLOW)
    left_out = RunReview.objects.filter(excluded__isnull=False).values("run")
    counted = ballots.filter(superseded=False, order__isnull=False).exclude(run__in=left_out)
    seated = _seated()
    done = set(_answered().values_list("run_id", "turn"))
    fields = ("run_id", "turn", "run__experiment_id", "reviewer", "labels", "order")
    for run, turn, experiment, reviewer, labels, order in counted.order_by("pk").values_list(*fields).iterator():
        if (run, turn) in done:
            place = _places(reviewer, labels, order)
            yield from _compared(place, seated.get(experiment, {}), (run, turn))


def _answered() -> QuerySet[Step]:
    return Step.objects.filter(run__experiment__workflow=WORKFLOW, purpose="turn_completed")


def _places(reviewer: str, labels: Mapping[str, str], order: list[list[str]]) -> dict[str, int]:
    place = {seat: index for index, group in enumerate(order) for seat in group}
    return {seat: place.get(seat, len(order)) for seat in labels.values() if seat != reviewer}


def _compared(place: Mapping[str, int], seated: Mapping[str, str], question: tuple[UUID, int]) -> Iterator[Pairing]:
    for first, second in combinations(sorted(place), 2):
        models = seated.get(first), seated.get(second)
        if models[0] and models[1] and models[0] != models[1]:
            apart = place[second] - place[first]
            yield Pairing(models[0], models[1], 0.5 + 0.5 * ((apart > 0) - (apart < 0)), question)


def _seated() -> dict[UUID, dict[str, str]]:
    """The slug of each seat's model, by experiment."""
    found: dict[UUID, dict[str, str]] = {}
    rows = Participant.objects.filter(experiment__workflow=WORKFLOW).order_by()
    for experiment, seat, slug in rows.values_list("experiment_id", "seat", "model__slug"):
        found.setdefault(experiment, {})[seat] = slug
    return found


def _described(slugs: list[str]) -> dict[str, Row]:
    models = ProviderModel.objects.filter(slug__in=slugs).select_related("provider")
    return {one.slug: Row(one.slug, one.label, is_simulated=one.provider.is_simulated) for one in models}
