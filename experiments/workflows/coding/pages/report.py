"""The report of a contest: its set-up, each cycle with its problem, solutions and votes, and the ratings after them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from experiments.models import Cycle, Execution, Judgment
from experiments.runs import figures
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Fact, Facts, Fold, Part, Section, Table, Text, Turn
from experiments.runs.reports.setup import Rows, changes, instrument_facts, limits, prompt
from experiments.templatetags.arena import MISSING, figure, grouped, signed
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.cycles import SCORES, Contents, contents, passed
from experiments.workflows.coding.pages.rated import Figure, JudgeRow, SetterRow, Solver, reason_words

LONGEST_VALUE = 200  # characters of an input or a result
MOST_FAILURES = 20  # tests that are told one by one


def finding(rows: Rows) -> Iterator[Block]:
    """The solvers with their ratings."""
    if found := ratings.of_run(rows.run):
        yield _solvers(found.solvers)


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    modes = {"in_turn": _("in turn"), "random": _("drawn by the seed")}
    auto = _("in turn if the cycles are a multiple of the models, else drawn by the seed")
    facts = (
        Fact(_("Cycles planned"), grouped(config.get("cycles"))),
        Fact(_("Setters"), modes.get(str(config.get("setters")), auto)),
        Fact(_("Language"), str(config.get("language", "")).capitalize()),
        Fact(_("Health check"), words.yes_or_no(config.get("health_check", True))),
        Fact(_("Quorum"), grouped(config.get("quorum")), _("votes that a solution needs for a rating")),
        Fact(_("Seconds for each answer"), figure(config.get("call_seconds"), 0)),
        Fact(_("Seconds for each test"), figure(config.get("test_seconds"), 1)),
        Fact(_("Memory for each test"), f"{grouped(config.get('test_megabytes'))} MiB"),
        *instrument_facts(rows),
        Fact(_("Limits"), limits(rows)),
        Fact(_("Seed"), str(rows.run.seed)),
        *changes(rows),
    )
    topic = str(config.get("topic", ""))
    return [Facts(facts), *([prompt("topic", _("Topic of the problems"), topic)] if topic.strip() else [])]


# --- the cycles: a table of all, then each of them ---


def cycles(rows: Rows) -> Section:
    found = list(rows.run.cycles.select_related("voided_by").order_by("turn"))
    if not found:
        return Section("cycles", _("Cycles"), (Text(_("No cycle started in this run.")),))
    blocks: list[Block] = [_overview(found)]
    for row in found:
        row.run = rows.run
        blocks += _cycle(contents(row))
    return Section("cycles", _("Cycles"), tuple(blocks))


def _overview(found: Sequence[Cycle]) -> Table:
    columns = (
        Column(_("Cycle"), is_figure=True, share=0.6),
        Column(_("Problem"), share=3.0),
        Column(_("Setter"), share=1.2),
        Column(_("State"), share=1.2),
        Column(_("Mean score"), is_figure=True, share=0.9),
        Column(_("Votes"), is_figure=True, share=0.7),
    )
    lines = []
    for row in found:
        votes = sum(len(given) for given in row.found.get("votes", {}).values())
        overall = row.found.get("overall")
        mean = MISSING if overall is None else figure(overall, 1)
        setter = words.seat_name(row.setter)
        lines.append((str(row.turn), row.title or MISSING, setter, _state(row), mean, grouped(votes)))
    return Table("", columns, tuple(lines))


def _state(row: Cycle) -> str:
    return _("left out of ratings") if row.voided else str(row.get_state_display())


def _cycle(record: Contents) -> Iterator[Block]:
    row = record.cycle
    number = _("Cycle %(turn)s") % {"turn": row.turn}
    yield Turn(f"cycle-{row.turn}", f"{number} · {row.title}" if row.title else number)
    yield Facts(tuple(_facts(row)))
    if row.state == Cycle.State.VOID:
        yield Text(_("There is no problem: %(reason)s") % {"reason": row.reason}, tone="warning")
        if record.problem:
            raw = Text(record.problem.raw_text, "plain", "muted")
            yield Fold(_("The setter's answer"), words.characters(record.problem.raw_text), (raw,))
        return
    if record.set_problem is None:
        yield Text(_("There is no problem yet."), tone="muted")
        return
    yield from _problem(record.set_problem)
    yield _standing(record)
    for seat in record.seats:
        title = f"{words.seat_name(seat)} · {dict(row.contestants).get(seat, '')}"
        yield Part(f"cycle-{row.turn}-{seat}", seat, words.badge(seat), title, tuple(_solved(record, seat)))


def _facts(row: Cycle) -> Iterator[Fact]:
    models = dict(row.contestants)
    yield Fact(_("Setter"), f"{words.seat_name(row.setter)} · {models.get(row.setter, MISSING)}")
    yield Fact(_("State"), _state(row))
    if row.voided:
        by = row.voided_by.get_username() if row.voided_by else _("somebody")
        yield Fact(_("Why it is left out"), row.void_reason, f"{by}, {words.moment(row.voided)}")
    if (overall := row.found.get("overall")) is not None:
        yield Fact(_("Mean score"), figure(overall, 1), _("0 to 10"))
        yield Fact(_("Quorum"), grouped(row.found.get("quorum")), _("votes that a solution needs for a rating"))
    yield Fact(_("Ended"), words.moment(row.ended))


def _problem(problem: Mapping[str, Any]) -> Iterator[Block]:
    yield Text(str(problem.get("description", "")), "prose")
    criteria = "\n".join(f"- {one}" for one in problem.get("criteria", ()))
    if criteria:
        yield Fold(_("Judging criteria"), _("of the setter"), (Text(criteria, "prose"),))
    shown, hidden = problem.get("shown", ()), problem.get("hidden", ())
    columns = (Column(_("Test"), share=1.0), Column(_("Input"), share=3.0), Column(_("Expected"), share=2.0))
    tests = tuple(
        (str(one.get("name")), _value(one.get("arguments")), _value(one.get("expected"))) for one in (*shown, *hidden)
    )
    counts = _("%(shown)s shown, %(hidden)s hidden") % {"shown": len(shown), "hidden": len(hidden)}
    yield Fold(_("Tests"), counts, (Table("", columns, tests),))
    reference = str(problem.get("reference", ""))
    yield Fold(_("Reference solution"), words.characters(reference), (Text(_fenced(reference), "prose"),))


def _standing(record: Contents) -> Table:
    """Everybody's solution in a line, the best first; who is not rated last, with the reason."""
    columns = (
        Column(_("Solver"), share=1.2),
        Column(_("Tests passed"), is_figure=True, share=1.0),
        Column(_("Mean score"), is_figure=True, share=1.0),
        Column(_("Votes"), is_figure=True, share=0.7),
        Column(_("Why it is not rated"), share=3.0),
    )
    means, votes = record.cycle.found.get("means", {}), record.cycle.found.get("votes", {})
    lines = []
    for seat in sorted(record.seats, key=lambda seat: (seat not in means, -means.get(seat, 0.0), seat)):
        ran, mean = record.executions.get(seat), means.get(seat)
        count = passed(ran)
        tests = MISSING
        if ran is not None and count is not None:
            tests = _("%(count)s of %(all)s") % {"count": count, "all": len(ran.results or ())}
        score = MISSING if mean is None else figure(mean, 1)
        lines.append((words.seat_name(seat), tests, score, grouped(len(votes.get(seat, {}))), record.unrated(seat)))
    return Table(_("Solutions"), columns, tuple(lines))


def _solved(record: Contents, seat: str) -> Iterator[Block]:
    solution, message = record.solution(seat), record.solutions.get(seat)
    if solution is None:
        yield Text(record.unrated(seat) or _("No answer yet."), tone="warning")
        if message and message.raw_text.strip():
            raw = Text(message.raw_text, "plain", "muted")
            yield Fold(_("As produced"), words.characters(message.raw_text), (raw,))
        return
    if message and message.flags:
        yield Facts((Fact(_("Flags"), "; ".join(map(words.flag_name, message.flags))),))
    yield Text(_fenced(str(solution.get("code", ""))), "prose")
    if explanation := str(solution.get("explanation", "")).strip():
        yield Text(explanation, "prose")
    yield from _execution(record.executions.get(seat))
    if judgments := record.judgments.get(seat, ()):
        yield _votes(judgments)
        yield from _feedback(judgments)


def _execution(ran: Execution | None) -> Iterator[Block]:
    if ran is None:
        yield Text(_("It was not run."), tone="muted")
        return
    if ran.is_unsafe:
        yield Text(_("It was run without isolation."), tone="danger")
    if ran.results is None:
        yield Text(_("The sandbox could not run it: %(error)s") % {"error": ran.error}, tone="warning")
        return
    failed = [one for one in ran.results if one["verdict"] != "passed"]
    counts = {"count": len(ran.results) - len(failed), "all": len(ran.results)}
    yield Text(_("It passed %(count)s of %(all)s tests.") % counts)
    if ran.complaint:
        yield Text(_("It could not run at all: %(complaint)s") % {"complaint": ran.complaint}, tone="warning")
    elif failed:
        yield _failures(ran, failed[:MOST_FAILURES])


def _failures(ran: Execution, failed: Sequence[Mapping[str, Any]]) -> Table:
    verdicts = {
        "failed": _("wrong result"),
        "error": _("error"),
        "timeout": _("too slow"),
        "memory": _("too much memory"),
        "output_limit": _("too much output"),
        "not_run": _("not run"),
    }
    columns = (
        Column(_("Test"), share=1.0),
        Column(_("Verdict"), share=1.0),
        Column(_("Expected"), share=2.0),
        Column(_("Its result"), share=3.0),
    )
    expected = {test.get("name"): test.get("expected") for test in ran.tests}
    lines = []
    for one in failed:
        verdict = str(one["verdict"])
        gave = _value(one.get("value")) if one.get("has_value") else str(one.get("error") or MISSING)[:LONGEST_VALUE]
        lines.append((str(one["name"]), verdicts.get(verdict, verdict), _value(expected.get(one["name"])), gave))
    return Table(_("Failed tests"), columns, tuple(lines))


def _votes(judgments: Sequence[Judgment]) -> Table:
    dimensions = {
        "correctness": _("correctness"),
        "efficiency": _("efficiency"),
        "readability": _("readability"),
        "robustness": _("robustness"),
        "explanation": _("explanation"),
        "overall": _("overall"),
    }
    columns = [Column(dimensions[name], is_figure=True, share=max(0.8, len(dimensions[name]) / 9)) for name in SCORES]
    lines = []
    for one in judgments:
        scores = [(one.scores or {}).get(name) for name in SCORES]
        cells = (MISSING if score is None else figure(score, 1) for score in scores)
        lines.append((words.seat_name(one.judge_seat), *cells))
    return Table(_("Votes"), (Column(_("Judge"), share=1.4), *columns), tuple(lines))


def _feedback(judgments: Sequence[Judgment]) -> Iterator[Block]:
    """Why a vote is missing stands open; what the judges wrote is folded."""
    for one in judgments:
        if one.unscored_reason:
            said = {"seat": words.seat_name(one.judge_seat), "reason": one.unscored_reason}
            yield Text(_("%(seat)s gave no vote: %(reason)s") % said, tone="warning")
    written = []
    for one in judgments:
        if one.rationale:
            flags = f" ({'; '.join(map(words.flag_name, one.flags))})" if one.flags else ""
            written.append(Text(f"{words.seat_name(one.judge_seat)}{flags}: {one.rationale}", "plain"))
    if written:
        count = ngettext("%(n)s judge", "%(n)s judges", len(written)) % {"n": len(written)}
        yield Fold(_("The judges' comments"), count, tuple(written))


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _fenced(code: str) -> str:
    """Code as Markdown shows it: the fence is longer than any run of backticks in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}python\n{code.rstrip()}\n{fence}"


# --- where the models stand after the cycles, as solvers, setters and judges ---


def rated(rows: Rows) -> Section:
    """Of this run's cycles alone: the ladder counts those of all runs."""
    found = ratings.of_run(rows.run)
    if found is None:
        return Section("ratings", _("Ratings"), (Text(_("No contestant is rated yet.")),))
    alone = _("Ratings of this run's cycles only. The board counts the cycles of all runs.")
    order = _("With the contestants in reverse order, a rating of the compatible board changes by up to %(points)s.")
    unrated = _("%(model)s has no Bradley-Terry rating: %(reason)s.")
    agreement = (
        Fact(_("Agreement (Krippendorff’s alpha)"), _told(found.alpha)),
        Fact(_("Mean vote and share of tests passed"), _told(found.tests, is_signed=True)),
    )
    blocks: list[Block] = [
        Text(alone, tone="muted"),
        _solvers(found.solvers),
        Text(order % {"points": figure(found.order_moves, 1)}, tone="muted"),
    ]
    for one in found.solvers:
        if one.rank is None:
            said = {"model": one.shown, "reason": figures.reason_words(one.reason)}
            blocks.append(Text(unrated % said, tone="muted"))
    blocks += [_setters(found.setters), _judges(found.judges), Facts(agreement)]
    return Section("ratings", _("Ratings"), tuple(blocks))


def _solvers(found: Sequence[Solver]) -> Table:
    columns = (
        Column(_("Model"), share=2.2),
        Column(_("Compatible Elo"), is_figure=True),
        Column(_("Batch Elo"), is_figure=True),
        Column("Bradley-Terry", is_figure=True, share=2.0),
        Column(_("Rank"), is_figure=True, share=0.8),
        Column(_("Mean score"), is_figure=True, share=1.8),
        Column(_("Tests passed"), is_figure=True, share=1.0),
    )
    lines = []
    for one in found:
        rating = MISSING if one.rank is None else f"{figures.rating_or_bound(one)} ({figures.bounds(one)})"
        elo, mean, share = map(figures.elo, (one.compatible, one.elo)), _told(one.mean, 1), one.passed.value
        lines.append((one.shown, *elo, rating, figures.rank_range(one), mean, figures.in_percent(share)))
    return Table(_("Solvers"), columns, tuple(lines))


def _setters(found: Sequence[SetterRow]) -> Table:
    columns = (
        Column(_("Model"), share=2.2),
        Column(_("Problems"), is_figure=True, share=0.9),
        Column(_("Void"), is_figure=True, share=0.6),
        Column(_("Calibration"), is_figure=True, share=2.0),
        Column(_("Mean score"), is_figure=True, share=1.8),
        Column(_("Tests passed by others"), is_figure=True, share=1.2),
    )
    lines = []
    for one in found:
        told = (_told(one.calibration), _told(one.overall, 1), figures.in_percent(one.passed.value))
        lines.append((one.shown, grouped(one.problems), grouped(one.void), *told))
    return Table(_("Setters"), columns, tuple(lines))


def _judges(found: Sequence[JudgeRow]) -> Table:
    columns = (
        Column(_("Model"), share=2.2),
        Column(_("Votes"), is_figure=True, share=0.7),
        Column(_("Missing"), is_figure=True, share=0.8),
        Column(_("Severity"), is_figure=True, share=2.0),
        Column(_("Mean vote"), is_figure=True, share=1.8),
        Column(_("Correlation with the tests"), is_figure=True, share=2.0),
    )
    lines = []
    for one in found:
        told = (_told(one.severity, is_signed=True), _told(one.mean, 1), _told(one.passed, is_signed=True))
        lines.append((one.shown, grouped(one.votes), grouped(one.missing), *told))
    return Table(_("Judges"), columns, tuple(lines))


def _told(found: Figure, digits: int = 2, *, is_signed: bool = False) -> str:
    """A figure with its interval, or why there is none."""
    if found.value is None:
        return f"{MISSING} ({reason_words(found.reason)})"

    def written(value: float) -> str:
        return signed(value) if is_signed else figure(value, digits)

    if found.low is None or found.high is None:
        return written(found.value)
    return f"{written(found.value)} ({figures.span(written(found.low), written(found.high))})"
