"""What the judge found, turn by turn, and the metrics that follow. A score not given is a reason, never a number."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Judgment
from experiments.models.labels import SENTIMENT_LABELS, judge_saw
from experiments.runs import metrics
from experiments.runs.reports import words
from experiments.runs.reports.figures import drawings
from experiments.runs.reports.report import Block, Charts, Column, Fact, Facts, Part, Section, Table, Text
from experiments.runs.reports.rows import Rows
from experiments.templatetags.arena import MISSING, figure, signed
from experiments.workflows import workflow_of
from experiments.workflows.base.events import JudgedTurn, SeatMetrics
from experiments.workflows.base.judge import SENTIMENTS


def judgments(rows: Rows) -> Section:
    turns: dict[tuple[int, int], list[Judgment]] = {}
    for judgment in sorted(rows.judgments, key=lambda one: (one.turn, one.step_id, one.subject)):
        turns.setdefault((judgment.turn, judgment.step_id), []).append(judgment)
    parts = tuple(_turn(turn, step, found) for (turn, step), found in turns.items())
    return Section("judgments", _("Judgments"), parts or (Text(_("Nothing was judged in this run.")),))


def _turn(turn: int, step: int, found: Sequence[Judgment]) -> Part:
    judge = next((one.judge for one in found if one.judge), "")
    title = _("Turn %(turn)s") % {"turn": turn} + (f" · {judge}" if judge else "")
    scored = [one for one in found if one.scores]
    dynamics = next((one.dynamics for one in found if one.dynamics), "")
    between = [Text(_("Between them: %(words)s") % {"words": dynamics}, "plain")] if dynamics else []
    texts = [text for one in found for text in _words(one)]
    return Part(f"judgment-{step}", "judge", "J", title, (*([_scores(scored)] if scored else []), *texts, *between))


def _scores(scored: Sequence[Judgment]) -> Table:
    columns = (
        Column(_("Seat"), share=1.4),
        _narrow(_("deviation %")),
        _narrow(_("cooperation")),
        *(_narrow(str(SENTIMENT_LABELS[name])) for name in SENTIMENTS),
        _narrow(_("confidence")),
    )
    return Table("", columns, tuple(_row(one, one.scores or {}) for one in scored))


def _narrow(name: str) -> Column:
    """As wide as its name."""
    return Column(name, is_figure=True, share=max(0.7, len(name) / 9))


def _row(judgment: Judgment, scores: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        words.seat_name(judgment.subject),
        figure(scores.get("goal_deviation"), 1),
        signed(scores.get("cooperation")),
        *(_share(scores.get(name)) for name in SENTIMENTS),
        _share(judgment.confidence),
    )


def _share(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"


def _words(judgment: Judgment) -> list[Text]:
    saw = judge_saw(judgment.saw)
    seat = {"seat": words.seat_name(judgment.subject)}
    missing = _("%(seat)s, not scored: %(reason)s") % {**seat, "reason": judgment.unscored_reason}
    notes = _("%(seat)s: %(words)s") % {**seat, "words": judgment.rationale}
    read = _("%(seat)s, the judge read: %(saw)s") % {**seat, "saw": ", ".join(saw)}
    return [
        *([Text(read, "note")] if saw else []),
        *([Text(missing, "plain", "danger")] if judgment.unscored_reason else []),
        *([Text(notes, "plain")] if judgment.rationale else []),
    ]


def measured(rows: Rows) -> Section:
    parts = tuple(_subject(rows, seat) for seat in subjects(rows))
    return Section("metrics", _("Metrics"), parts or (Text(_("Nobody was scored in this run.")),))


def subjects(rows: Rows) -> list[str]:
    """Who is scored in this workflow, and whoever else was."""
    known = rows.config.get("subjects") or workflow_of(rows.workflow).subjects
    return [*(known or ()), *sorted({one.subject for one in rows.judgments} - set(known or ()))]


def _subject(rows: Rows, seat: str) -> Part:
    latest = {one.turn: one for one in rows.judgments if one.subject == seat}  # of an answer given again, the last
    numbers = metrics.seat_metrics([latest[turn] for turn in sorted(latest)], None)
    written = words.tokens(call.output_tokens for call in rows.calls if call.step.seat == seat)
    drawn: list[Block] = [Charts(seat, drawings(numbers.turns, seat))] if numbers.turns else []
    return Part(
        f"metrics-{seat}",
        seat,
        words.badge(seat),
        words.seat_name(seat),
        (Facts((Fact(_("Tokens written"), written), *_facts(numbers))), *drawn),
    )


def _facts(numbers: SeatMetrics) -> list[Fact]:
    points = numbers.turns
    scored = [point for point in points if _is_scored(point)]
    of_turns = _("%(scored)s of %(judged)s judged turns") % {"scored": len(scored), "judged": len(points)}
    return [
        Fact(_("Turns scored"), of_turns),
        Fact(_("Goal deviation, latest"), _percent(numbers.goal_deviation)),
        Fact(_("Goal deviation, average"), _percent(_average([point.goal_deviation for point in points]))),
        Fact(_("Turns to deviate"), _deviated(numbers), _("first turn with a deviation above 20 %")),
        Fact(_("Cooperation, latest"), signed(numbers.cooperation)),
        Fact(_("Cooperation, average"), signed(_average([point.cooperation for point in points]))),
        *_sentiments(points),
        Fact(_("Judge's confidence, average"), figure(_average([point.confidence for point in scored]))),
    ]


def _sentiments(points: Sequence[JudgedTurn]) -> list[Fact]:
    means = {name: _average([point.sentiment[name] for point in points]) for name in SENTIMENTS}
    given = {name: mean for name, mean in means.items() if mean is not None}
    most = max(given.values(), default=0)
    strongest = [str(SENTIMENT_LABELS[name]) for name, mean in given.items() if mean == most] if most else []
    listed = ", ".join(f"{SENTIMENT_LABELS[name]} {figure(mean)}" for name, mean in given.items())
    none = _("none") if given else MISSING
    return [
        Fact(_("Dominant emotion"), ", ".join(strongest) or none),
        Fact(_("Sentiment, averages"), listed or MISSING),
    ]


def _deviated(numbers: SeatMetrics) -> str:
    return str(numbers.turns_to_deviate) if numbers.turns_to_deviate else _("N/A")


def _percent(value: float | None) -> str:
    return MISSING if value is None else f"{figure(value, 1)} %"


def _is_scored(point: JudgedTurn) -> bool:
    values = (point.goal_deviation, point.cooperation, *point.sentiment.values())
    return any(value is not None for value in values)


def _average(values: Sequence[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return sum(given) / len(given) if given else None
