"""Where the models of a contest stand after its cycles, as solvers, setters and judges."""

from django.utils.translation import gettext as _

from experiments.runs import figures
from experiments.runs.reports.report import Block, Column, Fact, Facts, Section, Table, Text
from experiments.runs.reports.setup import Rows
from experiments.templatetags.arena import MISSING, figure, grouped, signed
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.rated import Figure, JudgeRow, RunRatings, SetterRow, Solver
from experiments.workflows.coding.pages.words import reason_words


def rated(rows: Rows) -> Section:
    """Of this run's cycles alone: the ladder counts those of all runs."""
    found = ratings.of_run(rows.run)
    return Section("ratings", _("Ratings"), tuple(_blocks(found)) if found else (Text(_("Nobody is rated yet.")),))


def _blocks(found: RunRatings) -> list[Block]:
    alone = _("Ratings of this run’s cycles alone: the ladder counts those of all runs.")
    order = _("With the order of the contestants reversed a rating of the compatible board moves by up to %(points)s.")
    agreement = (
        Fact(_("Agreement (Krippendorff’s alpha)"), _told(found.alpha)),
        Fact(_("Mean vote and tests passed"), _told(found.tests, is_signed=True)),
    )
    return [
        Text(alone, tone="muted"),
        _solvers(found),
        Text(order % {"points": figure(found.order_moves, 1)}, tone="muted"),
        *_unrated(found),
        _setters(found),
        _judges(found),
        Facts(agreement),
    ]


def _solvers(found: RunRatings) -> Table:
    columns = (
        Column(_("Model"), share=2.2),
        Column(_("Compatible Elo"), is_figure=True),
        Column(_("Batch Elo"), is_figure=True),
        Column("Bradley-Terry", is_figure=True, share=2.0),
        Column(_("Rank"), is_figure=True, share=0.8),
        Column(_("Mean score"), is_figure=True, share=1.8),
        Column(_("Tests passed"), is_figure=True, share=1.0),
    )
    return Table(_("Solvers"), columns, tuple(map(_solver, found.solvers)))


def _solver(one: Solver) -> tuple[str, ...]:
    rating = MISSING if one.rank is None else f"{figures.rating_or_bound(one)} ({figures.bounds(one)})"
    share = figures.in_percent(one.passed.value)
    return (
        one.shown,
        figures.elo(one.compatible),
        figures.elo(one.elo),
        rating,
        figures.rank_range(one),
        _told(one.mean, 1),
        share,
    )


def _unrated(found: RunRatings) -> list[Block]:
    """Why somebody has no rank."""
    said = _("%(model)s has no Bradley-Terry rating: %(reason)s.")
    return [
        Text(said % {"model": one.shown, "reason": figures.reason_words(one.reason)}, tone="muted")
        for one in found.solvers
        if one.rank is None
    ]


def _setters(found: RunRatings) -> Table:
    columns = (
        Column(_("Model"), share=2.2),
        Column(_("Problems"), is_figure=True, share=0.9),
        Column(_("Void"), is_figure=True, share=0.6),
        Column(_("Calibration"), is_figure=True, share=2.0),
        Column(_("Mean score"), is_figure=True, share=1.8),
        Column(_("Tests that others passed"), is_figure=True, share=1.2),
    )
    return Table(_("Setters"), columns, tuple(map(_setter, found.setters)))


def _setter(one: SetterRow) -> tuple[str, ...]:
    share = figures.in_percent(one.passed.value)
    return (one.shown, grouped(one.problems), grouped(one.void), _told(one.calibration), _told(one.overall, 1), share)


def _judges(found: RunRatings) -> Table:
    columns = (
        Column(_("Model"), share=2.2),
        Column(_("Votes"), is_figure=True, share=0.7),
        Column(_("Missing"), is_figure=True, share=0.8),
        Column(_("Severity"), is_figure=True, share=2.0),
        Column(_("Mean vote"), is_figure=True, share=1.8),
        Column(_("With the tests"), is_figure=True, share=2.0),
    )
    return Table(_("Judges"), columns, tuple(map(_judge, found.judges)))


def _judge(one: JudgeRow) -> tuple[str, ...]:
    told = (_told(one.severity, is_signed=True), _told(one.mean, 1), _told(one.passed, is_signed=True))
    return (one.shown, grouped(one.votes), grouped(one.missing), *told)


def _told(found: Figure, digits: int = 2, *, is_signed: bool = False) -> str:
    """A figure with its interval, or why there is none."""
    if found.value is None:
        return f"{MISSING} ({reason_words(found.reason)})"

    def written(value: float) -> str:
        return signed(value) if is_signed else figure(value, digits)

    if found.low is None or found.high is None:
        return written(found.value)
    return f"{written(found.value)} ({figures.span(written(found.low), written(found.high))})"
