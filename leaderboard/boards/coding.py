"""The ladder of coding: models as setters, solvers and judges, over the cycles of all runs that count."""

from dataclasses import replace

from django.db.models import Count, Max

from experiments.models import Cycle
from experiments.runs import figures
from experiments.tasks import clock
from experiments.workflows.coding import WORKFLOW as CODING
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.rated import Moment, RunRatings, Solver
from leaderboard.boards.caching import memoize
from leaderboard.boards.standings import Row, Standings
from leaderboard.models import Ladder

WORKFLOW = CODING.slug
SHARED = (
    *("name", "label", "is_simulated", "component", "rating", "lower", "upper", "reason"),
    *("rank", "best", "worst", "group", "first", "battles", "wins", "losses", "ties"),
)
TITLE = "Models that set, solve and judge programming problems"


def ladder() -> Ladder:
    return Ladder.objects.of_runs(WORKFLOW, TITLE)


def is_anything_rated() -> bool:
    """Whether there is, or was, anything to make a ladder of."""
    return Cycle.objects.filter(state=Cycle.State.RATED).exists()


def newest() -> str:
    """Changes with every cycle that is rated, left out or taken in again."""
    counted = Cycle.objects.counted().order_by().aggregate(n=Count("pk"), last=Max("ended"), key=Max("pk"))
    void = Cycle.objects.filter(voided__isnull=False).order_by("pk").values_list("pk", flat=True)
    return f"{counted['n']} {counted['key']} {counted['last']} {','.join(map(str, void))}"


def standings() -> Standings:
    """The order-free ratings, by which the ladder is listed, and all other boards as `contest`."""
    began, made_of = clock.now(), newest()  # read first: what counts may only be newer
    found = ratings.of_all()
    same = Standings(changes=int(began.timestamp() * 1000), rests_on=made_of)
    if found is None:
        return same

    def row(solver: Solver) -> Row:
        games = solver.wins + solver.ties + solver.losses
        win_rate = (solver.wins + solver.ties / 2) / games if games else None
        return Row(**{name: getattr(solver, name) for name in SHARED}, win_rate=win_rate)

    return replace(
        same,
        battles=found.battles,
        ties=found.ties,
        components=found.components,
        rows=tuple(sorted(map(row, found.solvers), key=lambda row: (figures.sequence(row), row.name))),
        contest=replace(found, history=()),
    )


def history() -> tuple[Moment, ...]:
    """The boards after each cycle that counts; computed once per state."""
    return memoize("cycles", newest(), ratings.history)


def cycles_behind(contest: RunRatings | None, rests_on: str) -> int:
    """By how many cycles the ladder is behind, at least one when it rests on others than those that count now."""
    if rests_on == newest():
        return 0
    return max(1, Cycle.objects.counted().count() - (contest.cycles if contest else 0))
