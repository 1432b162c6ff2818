"""The ladder of the council: models as their peers rank their answers, question by question."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple
from uuid import UUID

import numpy as np
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
TITLE = "Models in the council, ranked by their peers"


class Pairing(NamedTuple):
    """One ballot's word on two models: score 1 the first is better, 0.5 equals, 0 the second is. question: whose."""

    first: str
    second: str
    score: float
    question: tuple[UUID, int]


def ladder() -> Ladder:
    return Ladder.objects.of_runs(WORKFLOW, TITLE)


def newest() -> str:
    """Changes with every ballot, whose keys rise with time, and with every council that is left out or counts again."""
    latest = Ballot.objects.order_by("-pk").values_list("pk", flat=True).first() or ""
    curated = RunReview.objects.filter(run__experiment__workflow=WORKFLOW).aggregate(last=Max("changed"))["last"]
    return f"{latest} {curated or ''}".strip()


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


def standings() -> Standings:
    """Ratings from all ballots that count. Ballots on one question are one observation, a cluster of the sandwich, and
    intervals are wider where there are few.
    """
    began, made_of = clock.now(), source()  # read first: what counts may only be newer
    found = list(pairings())
    slugs = sorted({slug for one in found for slug in (one.first, one.second)})
    number = {slug: index for index, slug in enumerate(slugs)}
    firsts, seconds = [number[one.first] for one in found], [number[one.second] for one in found]
    battles = Battles(firsts, seconds, [one.score for one in found], slugs)
    questions = {question: index for index, question in enumerate(dict.fromkeys(one.question for one in found))}
    clusters = np.array([questions[one.question] for one in found], dtype=np.int64)
    table = tally(battles)
    ranking = ranking_of(intervals_by_question(battles, clusters), table)
    models = ProviderModel.objects.filter(slug__in=slugs).select_related("provider")
    described = {one.slug: Row(one.slug, one.label, is_simulated=one.provider.is_simulated) for one in models}
    return Standings(
        changes=int(began.timestamp() * 1000),
        battles=len(found),
        ties=sum(one.score == 0.5 for one in found),
        components=len(ranking.intervals.ratings.components),
        rows=tuple(rows_of(table, ranking, described)),
        rests_on=made_of,
    )


def intervals_by_question(battles: Battles, clusters: IntArray) -> Intervals:
    """As wide as few questions ask for. Of one question, or several that all came out alike, nothing can be learned:
    the next one may bring anything.
    """
    table, shared = tally(battles), Shared(battles, clusters)
    found, bare = by_items(table, shared), by_items(table, shared, at_least=False)
    return replace(found, errors=np.where(bare.errors > NO_SPREAD, found.errors, np.nan))


def pairings() -> Iterator[Pairing]:
    """What each ballot of a model says of each two models: of questions that were played here to their end, own answers
    left out, and councils that a curator has left out. People in a council are no peers of models.

    Two answers of one model are not compared; answers that a ballot passes over stand last, as equals.
    """
    ballots = Ballot.objects.filter(run__origin=Run.Origin.LIVE, run__experiment__workflow=WORKFLOW)
    left_out = RunReview.objects.filter(excluded__isnull=False).values("run")
    counted = ballots.filter(superseded=False, order__isnull=False).exclude(run__in=left_out)
    model_of: dict[UUID, dict[str, str]] = {}
    seats = Participant.objects.filter(experiment__workflow=WORKFLOW).order_by()
    for experiment, seat, slug in seats.values_list("experiment_id", "seat", "model__slug"):
        model_of.setdefault(experiment, {})[seat] = slug
    done = set(_answered().values_list("run_id", "turn"))
    fields = ("run_id", "turn", "run__experiment_id", "reviewer", "labels", "order")
    for run, turn, experiment, reviewer, labels, order in counted.order_by("pk").values_list(*fields).iterator():
        models = model_of.get(experiment, {})
        if (run, turn) not in done or reviewer not in models:
            continue
        ranked = {seat: index for index, group in enumerate(order) for seat in group}
        place = {seat: ranked.get(seat, len(order)) for seat in labels.values() if seat != reviewer}
        for one, other in combinations(sorted(place), 2):
            first, second = models.get(one), models.get(other)
            if first and second and first != second:
                apart = place[other] - place[one]
                yield Pairing(first, second, 0.5 + 0.5 * ((apart > 0) - (apart < 0)), (run, turn))


def _answered() -> QuerySet[Step]:
    return Step.objects.filter(run__experiment__workflow=WORKFLOW, purpose="turn_completed")
