"""What the judge found, turn by turn, and the metrics that follow. A score not given is a reason, never a number."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Judgment
from experiments.models.labels import SENTIMENT_LABELS, judge_saw
from experiments.runs import metrics
from experiments.runs.drawings import charts
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Charts, Column, Fact, Facts, Part, Section, Table, Text
from experiments.runs.reports.setup import Rows
from experiments.templatetags.arena import MISSING, figure, signed
from experiments.templatetags.drawing import Drawing, drawing
from experiments.workflows import workflow_of
from experiments.workflows.base.events import JudgedTurn, SeatMetrics
from experiments.workflows.base.judge import SENTIMENTS

MANY_TURNS = 20
BESIDE = (330.0, 230.0)  # widths of the large chart and of the small ones at its side
BELOW = (560.0, 560.0)  # of charts below each other, which have more room for turns


def judgments(rows: Rows) -> Section:
    turns: dict[tuple[int, int], list[Judgment]] = {}
    for judgment in sorted(rows.judgments, key=lambda one: (one.turn, one.step_id, one.subject)):
        turns.setdefault((judgment.turn, judgment.step_id), []).append(judgment)
    parts = []
    for (turn, step), found in turns.items():
        judge = next((one.judge for one in found if one.judge), "")
        scored = [one for one in found if one.scores]
        blocks: list[Block] = [_scores(scored)] if scored else []
        blocks += [text for one in found for text in _words(one)]
        if dynamics := next((one.dynamics for one in found if one.dynamics), ""):
            blocks.append(Text(_("Between them: %(words)s") % {"words": dynamics}, "plain"))
        title = _("Turn %(turn)s") % {"turn": turn} + (f" · {judge}" if judge else "")
        parts.append(Part(f"judgment-{step}", "judge", "J", title, tuple(blocks)))
    nothing = Text(_("Nothing was judged in this run."))
    return Section("judgments", _("Judgments"), tuple(parts) or (nothing,))


def _scores(scored: Sequence[Judgment]) -> Table:
    def narrow(name: str) -> Column:
        """As wide as its name."""
        return Column(name, is_figure=True, share=max(0.7, len(name) / 9))

    columns = (
        Column(_("Participant"), share=1.4),
        narrow(_("deviation %")),
        narrow(_("cooperation")),
        *(narrow(str(SENTIMENT_LABELS[name])) for name in SENTIMENTS),
        narrow(_("confidence")),
    )
    rows = []
    for judgment in scored:
        scores: Mapping[str, Any] = judgment.scores or {}
        shares = [*(scores.get(name) for name in SENTIMENTS), judgment.confidence]
        rows.append(
            (
                words.seat_name(judgment.subject),
                figure(scores.get("goal_deviation"), 1),
                signed(scores.get("cooperation")),
                *(MISSING if share is None else f"{share:.2f}" for share in shares),
            )
        )
    return Table("", columns, tuple(rows))


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


def finding(rows: Rows) -> Iterator[Text]:
    """A sentence on each of those who were scored."""
    for seat in _subjects(rows):
        numbers = _numbers(rows, seat)
        said = {
            "seat": words.seat_name(seat),
            "turns": len(numbers.turns),
            "deviation": _percent(_average([point.goal_deviation for point in numbers.turns])),
            "last": _percent(numbers.goal_deviation),
            "cooperation": signed(_average([point.cooperation for point in numbers.turns])),
            "turn": numbers.turns_to_deviate,
        }
        if not numbers.turns:
            yield Text(_("%(seat)s was not scored.") % said)
            continue
        sentence = _(
            "%(seat)s deviated from its goal by %(deviation)s on average over %(turns)s judged turns (%(last)s in the "
            "last), with a cooperation of %(cooperation)s."
        )
        deviated = _("It first deviated by more than 20 %% in turn %(turn)s.") if numbers.turns_to_deviate else ""
        yield Text(" ".join(filter(None, (sentence % said, deviated % said))))


def _subjects(rows: Rows) -> list[str]:
    """Those who are scored in this workflow, and whoever else was."""
    known = rows.config.get("subjects") or workflow_of(rows.workflow).subjects or ()
    return [*known, *sorted({one.subject for one in rows.judgments} - set(known))]


def measured(rows: Rows) -> Section:
    parts = []
    for seat in _subjects(rows):
        numbers = _numbers(rows, seat)
        written = words.tokens(call.output_tokens for call in rows.calls if call.step.seat == seat)
        drawn: list[Block] = [Charts(seat, _drawings(numbers.turns, seat))] if numbers.turns else []
        facts = Facts((Fact(_("Output tokens"), written), *_facts(numbers)))
        parts.append(Part(f"metrics-{seat}", seat, words.badge(seat), words.seat_name(seat), (facts, *drawn)))
    return Section("metrics", _("Metrics"), tuple(parts) or (Text(_("No scores in this run.")),))


def _numbers(rows: Rows, seat: str) -> SeatMetrics:
    latest = {one.turn: one for one in rows.judgments if one.subject == seat}  # of an answer given again, the last
    return metrics.seat_metrics([latest[turn] for turn in sorted(latest)], None)


def _facts(numbers: SeatMetrics) -> list[Fact]:
    points = numbers.turns
    scored = [
        point for point in points if {point.goal_deviation, point.cooperation, *point.sentiment.values()} != {None}
    ]
    of_turns = _("%(scored)s of %(judged)s judged turns") % {"scored": len(scored), "judged": len(points)}
    deviated = str(numbers.turns_to_deviate) if numbers.turns_to_deviate else _("N/A")
    return [
        Fact(_("Turns scored"), of_turns),
        Fact(_("Goal deviation, latest"), _percent(numbers.goal_deviation)),
        Fact(_("Goal deviation, average"), _percent(_average([point.goal_deviation for point in points]))),
        Fact(_("Turns to deviate"), deviated, _("first turn with a deviation above 20 %")),
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


def _percent(value: float | None) -> str:
    return MISSING if value is None else f"{figure(value, 1)} %"


def _average(values: Sequence[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return sum(given) / len(given) if given else None


def _drawings(points: Sequence[JudgedTurn], seat: str) -> tuple[Drawing, ...]:
    """The same as on the run's page, wide and below each other when turns are many: seven sentiments, goal deviation
    and cooperation of a seat.
    """
    turns = [point.turn for point in points]
    sentiment = [
        charts.Series(name, str(SENTIMENT_LABELS[name]), tuple(point.sentiment[name] for point in points))
        for name in SENTIMENTS
    ]
    deviation = charts.Series(f"side-{seat}", _("deviation"), tuple(point.goal_deviation for point in points))
    cooperation = charts.Series(f"side-{seat}", _("cooperation"), tuple(point.cooperation for point in points))
    large, small = BELOW if len(points) > MANY_TURNS else BESIDE
    low = charts.Size(width=small, height=76, right=12)

    def titled(title: str) -> str:
        return _("%(seat)s: %(title)s") % {"seat": words.seat_name(seat), "title": title}

    titles = titled(_("Sentiment (0 to 1)")), titled(_("Goal deviation (%)")), titled(_("Cooperation (−1 to 1)"))
    return (
        drawing(f"{seat}-sentiment", titles[0], turns, sentiment, charts.SHARE, charts.Size(large)),
        drawing(f"{seat}-deviation", titles[1], turns, [deviation], charts.PERCENT, low),
        drawing(f"{seat}-cooperation", titles[2], turns, [cooperation], charts.BALANCE, low),
    )
