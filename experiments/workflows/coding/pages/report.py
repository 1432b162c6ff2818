"""The cycles of a contest of coding: what was set, how everybody solved it, what ran, and who judged it how."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from experiments.models import Cycle, Execution, Judgment
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Fact, Facts, Fold, Part, Section, Table, Text, Turn
from experiments.runs.reports.setup import Rows, changes, limits, prompt
from experiments.templatetags.arena import MISSING, figure, grouped
from experiments.workflows.coding.judging import DIMENSIONS
from experiments.workflows.coding.pages.record import Contents, contents, passed

LONGEST_VALUE = 200  # characters of an input or a result
MOST_FAILURES = 20  # tests that are told one by one


def cycles(rows: Rows) -> Section:
    """A table of all cycles, then each of them."""
    found = list(rows.run.cycles.select_related("voided_by").order_by("turn"))
    for row in found:
        row.run = rows.run
    nothing = [] if found else [Text(_("No cycle was begun in this run."))]
    told = [block for row in found for block in _cycle(contents(row))]
    return Section("cycles", _("Cycles"), (*([_overview(found)] if found else nothing), *told))


def dimension(name: str) -> str:
    names = {
        "correctness": _("correctness"),
        "efficiency": _("efficiency"),
        "readability": _("readability"),
        "robustness": _("robustness"),
        "explanation": _("explanation"),
        "overall": _("overall"),
    }
    return names.get(name, name)


def _overview(found: Sequence[Cycle]) -> Table:
    columns = (
        Column(_("Cycle"), is_figure=True, share=0.6),
        Column(_("Problem"), share=3.0),
        Column(_("Setter"), share=1.2),
        Column(_("State"), share=1.2),
        Column(_("Mean score"), is_figure=True, share=0.9),
        Column(_("Votes"), is_figure=True, share=0.7),
    )
    return Table("", columns, tuple(map(_line, found)))


def _line(row: Cycle) -> tuple[str, ...]:
    votes = sum(len(given) for given in row.found.get("votes", {}).values())
    overall = row.found.get("overall")
    return (
        str(row.turn),
        row.title or MISSING,
        words.seat_name(row.setter),
        _state(row),
        MISSING if overall is None else figure(overall, 1),
        grouped(votes),
    )


def _state(row: Cycle) -> str:
    return _("left out of the ratings") if row.voided else str(row.get_state_display())


def _cycle(record: Contents) -> Iterator[Block]:
    row = record.cycle
    number = _("Cycle %(turn)s") % {"turn": row.turn}
    yield Turn(f"cycle-{row.turn}", f"{number} · {row.title}" if row.title else number)
    yield Facts(tuple(_facts(row)))
    if row.state == Cycle.State.VOID:
        yield Text(_("There was no problem: %(reason)s") % {"reason": row.reason}, tone="warning")
        if record.problem:
            raw = Text(record.problem.raw_text, "plain", "muted")
            yield Fold(_("What the setter answered"), _characters(record.problem.raw_text), (raw,))
        return
    yield from _problem(record)
    if record.set_problem is not None:
        yield _standing(record)
        yield from (_solver(record, seat) for seat in record.seats)


def _facts(row: Cycle) -> Iterator[Fact]:
    models = dict(row.contestants)
    yield Fact(_("Setter"), f"{words.seat_name(row.setter)} · {models.get(row.setter, MISSING)}")
    yield Fact(_("State"), _state(row))
    if row.voided:
        by = row.voided_by.get_username() if row.voided_by else _("somebody")
        yield Fact(_("Why it is left out"), row.void_reason, f"{by}, {words.moment(row.voided)}")
    if (overall := row.found.get("overall")) is not None:
        yield Fact(_("Mean score"), figure(overall, 1), _("0 to 10"))
        yield Fact(_("Quorum"), grouped(row.found.get("quorum")), _("votes that a solution needs to be rated"))
    yield Fact(_("Ended"), words.moment(row.ended))


def _problem(record: Contents) -> Iterator[Block]:
    problem = record.set_problem
    if problem is None:
        yield Text(_("No problem has been set yet."), tone="muted")
        return
    yield Text(str(problem.get("description", "")), "prose")
    criteria = "\n".join(f"- {one}" for one in problem.get("criteria", ()))
    if criteria:
        yield Fold(_("What judges are to look at"), _("of the setter"), (Text(criteria, "prose"),))
    tests = record.tests()
    yield Fold(_("Tests"), _tests_in_words(problem), (_tests(tests),))
    reference = str(problem.get("reference", ""))
    yield Fold(_("Reference solution"), _characters(reference), (Text(_fenced(reference), "prose"),))


def _tests_in_words(problem: Mapping[str, Any]) -> str:
    shown, hidden = len(problem.get("shown", ())), len(problem.get("hidden", ()))
    return _("%(shown)s shown, %(hidden)s hidden") % {"shown": shown, "hidden": hidden}


def _tests(tests: Sequence[Mapping[str, Any]]) -> Table:
    columns = (Column(_("Test"), share=1.0), Column(_("Input"), share=3.0), Column(_("Expected"), share=2.0))
    rows = tuple((str(one.get("name")), _value(one.get("arguments")), _value(one.get("expected"))) for one in tests)
    return Table("", columns, rows)


def _standing(record: Contents) -> Table:
    """Everybody's solution in a line, the best first; who is not rated last, with the reason."""
    columns = (
        Column(_("Solver"), share=1.2),
        Column(_("Tests passed"), is_figure=True, share=1.0),
        Column(_("Mean score"), is_figure=True, share=1.0),
        Column(_("Votes"), is_figure=True, share=0.7),
        Column(_("Why it is not rated"), share=3.0),
    )
    means = record.cycle.found.get("means", {})
    best_first = sorted(record.seats, key=lambda seat: (seat not in means, -means.get(seat, 0.0), seat))
    return Table(_("Solutions"), columns, tuple(_solution_line(record, seat) for seat in best_first))


def _solution_line(record: Contents, seat: str) -> tuple[str, ...]:
    found, ran = record.cycle.found, record.executions.get(seat)
    count, mean = passed(ran), found.get("means", {}).get(seat)
    votes = found.get("votes", {}).get(seat, {})
    return (
        words.seat_name(seat),
        MISSING if ran is None or count is None else _of(count, len(ran.results or ())),
        MISSING if mean is None else figure(mean, 1),
        grouped(len(votes)),
        record.unrated(seat) or "",
    )


def _solver(record: Contents, seat: str) -> Part:
    model = dict(record.cycle.contestants).get(seat, "")
    title = f"{words.seat_name(seat)} · {model}"
    anchor = f"cycle-{record.cycle.turn}-{seat}"
    return Part(anchor, seat, words.badge(seat), title, tuple(_solved(record, seat)))


def _solved(record: Contents, seat: str) -> Iterator[Block]:
    solution, message = record.solution(seat), record.solutions.get(seat)
    if solution is None:
        yield Text(record.unrated(seat) or _("It has not answered yet."), tone="warning")
        if message and message.raw_text.strip():
            raw = Text(message.raw_text, "plain", "muted")
            yield Fold(_("As it was produced"), _characters(message.raw_text), (raw,))
        return
    if message and message.flags:
        yield Facts((Fact(_("Noticed"), "; ".join(map(words.flag_name, message.flags))),))
    yield Text(_fenced(str(solution.get("code", ""))), "prose")
    if explanation := str(solution.get("explanation", "")).strip():
        yield Text(explanation, "prose")
    yield from _execution(record.executions.get(seat))
    judgments = record.judgments.get(seat, ())
    if judgments:
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
    count, all_ = passed(ran) or 0, len(ran.results)
    yield Text(_("It passed %(count)s of %(all)s tests.") % {"count": count, "all": all_})
    if ran.complaint:
        yield Text(_("It could not be run at all: %(complaint)s") % {"complaint": ran.complaint}, tone="warning")
    elif count < all_:
        yield _failures(ran)


def _failures(ran: Execution) -> Table:
    columns = (
        Column(_("Test"), share=1.0),
        Column(_("Verdict"), share=1.0),
        Column(_("Expected"), share=2.0),
        Column(_("Its result"), share=3.0),
    )
    expected = {test.get("name"): test.get("expected") for test in ran.tests}
    failed = [one for one in ran.results or () if one["verdict"] != "passed"]
    rows = tuple(
        (str(one["name"]), verdict(str(one["verdict"])), _value(expected.get(one["name"])), _result(one))
        for one in failed[:MOST_FAILURES]
    )
    return Table(_("Tests that it did not pass"), columns, rows)


def verdict(name: str) -> str:
    names = {
        "passed": _("passed"),
        "failed": _("wrong result"),
        "error": _("error"),
        "timeout": _("too slow"),
        "memory": _("too much memory"),
        "output_limit": _("too much output"),
        "not_run": _("not run"),
    }
    return names.get(name, name)


def _result(one: Mapping[str, Any]) -> str:
    return _value(one.get("value")) if one.get("has_value") else str(one.get("error") or MISSING)[:LONGEST_VALUE]


def _votes(judgments: Sequence[Judgment]) -> Table:
    names = (*DIMENSIONS, "overall")
    columns = (
        Column(_("Judge"), share=1.4),
        *(Column(dimension(name), is_figure=True, share=max(0.8, len(dimension(name)) / 9)) for name in names),
    )
    return Table(_("Votes"), columns, tuple(_vote(one, names) for one in judgments))


def _vote(one: Judgment, names: Sequence[str]) -> tuple[str, ...]:
    scores = one.scores or {}
    return (
        words.seat_name(one.judge_seat),
        *(MISSING if scores.get(name) is None else figure(scores[name], 1) for name in names),
    )


def _feedback(judgments: Sequence[Judgment]) -> Iterator[Block]:
    """Why a vote is missing stands open; what the judges wrote is folded."""
    for one in judgments:
        if one.unscored_reason:
            said = {"seat": words.seat_name(one.judge_seat), "reason": one.unscored_reason}
            yield Text(_("%(seat)s gave no vote: %(reason)s") % said, tone="warning")
    written = [one for one in judgments if one.rationale]
    if written:
        count = ngettext("%(n)s judge", "%(n)s judges", len(written)) % {"n": len(written)}
        yield Fold(_("What the judges wrote"), count, tuple(map(_written, written)))


def _written(one: Judgment) -> Text:
    flags = f" ({'; '.join(map(words.flag_name, one.flags))})" if one.flags else ""
    return Text(f"{words.seat_name(one.judge_seat)}{flags}: {one.rationale}", "plain")


def _of(count: int, all_: int) -> str:
    return _("%(count)s of %(all)s") % {"count": count, "all": all_}


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _fenced(code: str) -> str:
    """Code as Markdown shows it: the fence is longer than any run of backticks in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}python\n{code.rstrip()}\n{fence}"


def _characters(text: str) -> str:
    return ngettext("%(n)s character", "%(n)s characters", len(text)) % {"n": grouped(len(text))}


# --- the set-up ---


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    modes = {"in_turn": _("in turn"), "random": _("drawn by the seed")}
    auto = _("in turn where the cycles are a multiple of the pool, else drawn by the seed")
    facts = (
        Fact(_("Cycles planned"), grouped(config.get("cycles"))),
        Fact(_("Setters"), modes.get(str(config.get("setters")), auto)),
        Fact(_("Language"), str(config.get("language", "")).capitalize()),
        Fact(_("Health check"), words.yes_or_no(config.get("health_check", True))),
        Fact(_("Quorum"), grouped(config.get("quorum")), _("votes that a solution needs to be rated")),
        Fact(_("Seconds for each answer"), figure(config.get("call_seconds"), 0)),
        Fact(_("Seconds for each test"), figure(config.get("test_seconds"), 1)),
        Fact(_("Memory for each test"), f"{grouped(config.get('test_megabytes'))} MiB"),
        Fact(_("Limits"), limits(rows)),
        Fact(_("Seed"), str(rows.run.seed)),
        *changes(rows),
    )
    topic = str(config.get("topic", ""))
    return [Facts(facts), *([prompt("topic", _("What the problems are about"), topic)] if topic.strip() else [])]
