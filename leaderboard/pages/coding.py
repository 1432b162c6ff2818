"""The pages of the ladder of coding: its tables, their history, and the cycles that curators leave out or take in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from accounts.errors import Invalid, Refusal
from accounts.models import User
from accounts.people import person
from accounts.refusing import status_of
from experiments.models import Cycle, Run
from experiments.runs.drawings import charts
from experiments.workflows.coding.pages import voiding
from experiments.workflows.coding.pages.rated import RunRatings, Solver
from leaderboard.boards import coding
from leaderboard.boards.standings import Row, Standings
from leaderboard.pages.charts import scale_of

MOST_LINES = 8
MOST_CYCLES = 200  # that are drawn: the latest
BOARDS = {"compatible": "changes", "elo": "elo_changes"}  # and by how much a cycle moved it
MOST_VOID = 50  # that are listed: the latest
ROWS = 50
ACTIONS = ("void", "restore", "last", "all")


@dataclass(frozen=True, slots=True)
class Line:
    """A model on the order-free boards."""

    row: Row
    solver: Solver


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cycle of the chart. number: its place among those that count. values: ratings after it, None of who had none.

    cycle: for those who may see its run, None for others.
    """

    number: int
    ended: datetime | None
    values: tuple[float | None, ...]
    changes: tuple[float | None, ...]
    cycle: Cycle | None
    band: charts.Band


@dataclass(frozen=True, slots=True)
class History:
    """names, labels: of those who are drawn; everybody: who could be, with their labels. earlier: cycles not drawn."""

    chart: charts.Chart
    board: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    everybody: tuple[tuple[str, str], ...]
    cycles: tuple[Drawn, ...]
    earlier: int


def contest_boards(found: Standings) -> dict[str, object]:
    """Both kinds of boards, and whom they are of."""
    contest = found.contest
    if contest is None:
        return {"contest": None}
    solver = {one.name: one for one in contest.solvers}
    return {"contest": contest, "free": [Line(row, solver[row.name]) for row in found.rows]}


def void_cycles(user: "User | Any") -> dict[str, object]:
    """Cycles that were left out of the ratings, the latest first: when and why, but not what they were; and by whom,
    for people who have signed in. Why a whole run was left out is read by those who may see the run.
    """
    rated = Cycle.objects.filter(state=Cycle.State.RATED, run__origin=Run.Origin.LIVE)
    void = rated.filter(voided__isnull=False).select_related("voided_by", "run__review").order_by("-voided", "-pk")
    rows = list(void[:MOST_VOID])
    visible = set(Run.objects.visible_to(user).filter(pk__in={row.run_id for row in rows}).values_list("pk", flat=True))

    def shown(row: Cycle) -> dict[str, object]:
        by = row.voided_by.get_username() if user.is_authenticated and row.voided_by else ""
        review = getattr(row.run, "review", None)
        is_of_run = review is not None and review.excluded and review.reason == row.void_reason
        reason = row.void_reason if row.run_id in visible or not is_of_run else ""
        return {"setter": dict(row.contestants).get(row.setter, ""), "reason": reason, "at": row.voided, "by": by}

    return {"void": list(map(shown, rows)), "void_count": void.count()}


def cycle_history(contest: RunRatings, asked: QueryDict, user: "User | Any") -> History | None:
    """Of the models that `name` chooses, or else the highest; `board` is one of BOARDS. None without a cycle.

    Titles, times and addresses are those of the runs that the user may see.
    """
    moments = coding.history()
    if not moments:
        return None
    board = asked.get("board", "") if asked.get("board", "") in BOARDS else next(iter(BOARDS))
    latest = getattr(moments[-1], board)
    label = {one.name: one.shown for one in contest.solvers}
    ranked = sorted(latest, key=lambda name: (-latest[name], name))
    names = tuple(name for name in ranked if name in asked.getlist("name"))[:MOST_LINES] or tuple(ranked[:MOST_LINES])
    drawn = moments[-MOST_CYCLES:]
    ratings = {name: tuple(getattr(one, board).get(name) for one in drawn) for name in names}
    series = [
        charts.Series(f"nth-{place}", label.get(name, name)[:24], ratings[name]) for place, name in enumerate(names)
    ]
    rows = [Row(name, "", rating=value) for name, values in ratings.items() for value in values if value is not None]
    chart = charts.chart([one.number for one in drawn], series, scale_of(rows, (1100.0, 1300.0)), charts.OF_RATINGS)
    visible = Cycle.objects.visible_to(user).filter(state=Cycle.State.RATED).in_bulk([one.pk for one in drawn])
    cycles = tuple(
        Drawn(
            number=one.number,
            ended=one.ended if one.pk in visible else None,
            values=tuple(getattr(one, board).get(name) for name in names),
            changes=tuple(getattr(one, BOARDS[board]).get(name) for name in names),
            cycle=visible.get(one.pk),
            band=band,
        )
        for one, band in zip(drawn, chart.bands, strict=True)
    )
    return History(
        chart=chart,
        board=board,
        names=names,
        labels=tuple(label.get(name, name) for name in names),
        everybody=tuple((name, label.get(name, name)) for name in ranked),
        cycles=cycles,
        earlier=len(moments) - len(drawn),
    )


def cycle_rows(rows: Sequence[Cycle]) -> list[dict[str, object]]:
    """Cycles as administrators choose among them, with what was done to each so far."""
    done = voiding.deeds(rows)
    return [
        {
            "cycle": row,
            "models": [slug for _seat, slug in row.contestants],
            "setter": dict(row.contestants).get(row.setter, ""),
            "overall": row.found.get("overall"),
            "deeds": done.get(row.pk, []),
        }
        for row in rows
    ]


@require_http_methods(["GET", "POST"])
def ladder_cycles(request: HttpRequest) -> HttpResponse:
    """Every cycle that was rated here, the latest first. POST does what `action` says: void, restore, last or all."""
    if not voiding.may_void(request.user):
        raise Http404
    problem, status = "", 200
    if request.method == "POST":
        try:
            messages.success(request, _change(request))
        except Refusal as error:
            problem, status = str(error), status_of(error)
        else:
            return redirect(request.get_full_path())
    rated = Cycle.objects.filter(state=Cycle.State.RATED, run__origin=Run.Origin.LIVE)
    shown = request.GET.get("show", "")
    chosen = rated.filter(voided__isnull=shown != "void") if shown in {"counted", "void"} else rated
    rows = chosen.select_related("run__experiment__owner", "voided_by").order_by("-ended", "-pk")
    page = Paginator(rows, ROWS).get_page(request.GET.get("page"))
    context = {
        "ladder": coding.ladder(),
        "page": page,
        "rows": cycle_rows(list(page.object_list)),
        "show": shown,
        "counts": {"counted": Cycle.objects.counted().count(), "void": rated.filter(voided__isnull=False).count()},
        "last": cycle_rows([row])[0] if (row := voiding.last()) else None,
        "typed": request.POST if request.method == "POST" else {},
        "problem": problem,
    }
    return render(request, "leaderboard/cycles.html", context, status=status)


def _change(request: HttpRequest) -> str:
    """What was done, in words. Of all, what is typed has to be the number of cycles that would be left out."""
    by, reason, action = person(request), request.POST.get("reason", ""), request.POST.get("action", "")
    if action not in ACTIONS:
        raise Invalid(action=_("There is no such action."))
    if action == "all":
        n = voiding.void_all(by=by, reason=reason, count=_number(request, "count"))
        said = ngettext("%(n)s cycle is left out of the ratings.", "%(n)s cycles are left out of the ratings.", n)
        return said % {"n": n}
    number = _number(request, "cycle")
    if action == "last":
        title = voiding.void_last(by=by, reason=reason, named=number).title
        return _("The last cycle, “%(title)s”, is left out of the ratings.") % {"title": title}
    cycle = Cycle.objects.filter(pk=number).first()
    if cycle is None:
        raise Invalid(cycle=_("There is no such cycle."))
    if action == "restore":
        is_done = voiding.restore(cycle, by=by)
        return _("The cycle counts again.") if is_done else _("The cycle already counted.")
    is_done = voiding.void(cycle, by=by, reason=reason)
    return _("The cycle is left out of the ratings.") if is_done else _("The cycle was already left out.")


def _number(request: HttpRequest, name: str) -> int:
    typed: Any = request.POST.get(name, "").strip()
    if not typed.isascii() or not typed.isdigit() or len(typed) > 15:
        sentence = _("Type the number of cycles to leave out.") if name == "count" else _("Choose a cycle.")
        raise Invalid({name: [sentence]})
    return int(typed)
