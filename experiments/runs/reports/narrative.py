"""The report of a run, made from its rows alone: its frame, what came out, what it cost, and its lineage."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from experiments.models import CALLS_UNDER_WAY, Call, Run
from experiments.runs.reports import annotated, judged, words
from experiments.runs.reports.document import REPORT_VERSION, made_from
from experiments.runs.reports.report import Block, Column, Fact, Facts, Report, Section, Table, Text
from experiments.runs.reports.setup import Rows, instrument_facts, rows_of, setup
from experiments.runs.reports.transcript import transcript
from experiments.templatetags.arena import MISSING, error_label, exact_money, figure, grouped
from experiments.workflows import surface_of, workflow_of


def narrate(run: Run, language: str) -> Report:
    """Every word of the report of a run fetched by `with_totals`, in the language."""
    with override(language):
        rows = rows_of(run)
        told = surface_of(rows.workflow).told
        has_scores = told.is_judged and (rows.judgments or workflow_of(rows.workflow).subjects)
        is_judged = bool(has_scores or instrument_facts(rows))
        has_instrument = bool(rows.config.get("instrument"))
        teller = annotated if has_instrument else judged
        scores = judged.finding(rows) if is_judged and not has_instrument else ()
        return Report(
            title=run.experiment.title,
            subject=_("Report of a run · %(workflow)s") % {"workflow": words.workflow_name(rows.workflow)},
            contents=_("Contents"),
            footer=_("Arena Lab · run %(id)s · report format %(version)s") % {"id": run.pk, "version": REPORT_VERSION},
            notices=tuple(_notices(rows)),
            result=Section("result", _("Result"), (*told.finding(rows), *scores, _figures(rows))),
            sections=(
                *told.before(rows),
                told.log(rows) if told.log else transcript(rows, told),
                *((teller.judgments(rows), teller.measured(rows)) if is_judged else ()),
                _costs(rows),
                _calls(rows),
                setup(rows),
                _lineage(rows),
            ),
        )


# --- the result ---


def _figures(rows: Rows) -> Facts:
    run = rows.run
    settled = [call for call in rows.calls if call.state not in CALLS_UNDER_WAY]
    seats = list(run.messages.order_by().values_list("seat", flat=True))
    by_seat = [
        Fact(_("Messages of %(seat)s") % {"seat": words.seat_name(seat)}, grouped(seats.count(seat)))
        for seat in sorted(set(seats), key=words.seat_order)
    ]
    notes = [_("so far")] if run.started and not run.ended else []
    if run.waited_seconds >= 1:
        notes.append(_("of which %(seconds)s s waiting for people") % {"seconds": grouped(run.waited_seconds)})
    span = (run.ended or timezone.now()) - run.started if run.started else None
    reason = f": {words.end_reason(run.stop_reason)}" if run.stop_reason else ""
    return Facts(
        (
            Fact(_("State"), f"{run.get_state_display()}{reason}"),
            Fact(_("Started"), words.moment(run.started)),
            Fact(_("Ended"), words.moment(run.ended)),
            Fact(_("Duration"), words.duration(span), ", ".join(notes)),
            Fact(_("Turns completed"), grouped(run.turn or 0)),
            Fact(_("Messages"), grouped(len(seats))),
            *by_seat,
            Fact(_("Calls"), grouped(len(rows.calls))),
            Fact(_("Input tokens"), words.tokens(call.input_tokens for call in settled)),
            Fact(_("Output tokens"), words.tokens(call.output_tokens for call in settled)),
            Fact(_("Cost"), words.cost(call.cost for call in settled)),
        )
    )


def _notices(rows: Rows) -> list[Text]:
    run, notices = rows.run, []
    if not run.is_over:
        still = _("This run had not ended when the report was made (%(state)s). It shows the record of %(moment)s.")
        notices.append(still % {"state": run.get_state_display(), "moment": words.moment(timezone.now())})
    if run.origin == Run.Origin.DEMONSTRATION:
        notices.append(_("This is a demonstration: it was written, not played by models."))
    if run.origin == Run.Origin.IMPORTED:
        notices.append(_("This run was imported: it was recorded elsewhere."))
    if any(participant.model.provider.is_simulated for participant in rows.participants):
        notices.append(_("Models marked as simulated are programs of this platform, not language models."))
    return [Text(notice, tone="warning") for notice in notices]


# --- costs and calls ---


def _costs(rows: Rows) -> Section:
    if not rows.calls:
        return Section("costs", _("Costs"), (Text(_("No call was made.")),))
    stage_of = surface_of(rows.workflow).told.stage
    total = (_("All"), list(rows.calls))
    roles = sorted(_grouped(rows, _role).items())
    models = sorted(_grouped(rows, lambda call: f"{call.model.label} · {call.model.provider.name}").items())
    tables = (
        *([_stages(_grouped(rows, stage_of))] if stage_of else []),
        Table(_("By role"), _cost_columns(_("Role")), tuple(_sums(*group) for group in [*roles, total])),
        Table(_("By model"), _cost_columns(_("Model")), tuple(_sums(*group) for group in [*models, total])),
    )
    return Section("costs", _("Costs"), tables)


def _grouped(rows: Rows, name: Callable[[Call], str]) -> dict[str, list[Call]]:
    groups: dict[str, list[Call]] = {}
    for call in rows.calls:
        groups.setdefault(name(call), []).append(call)
    return groups


def _role(call: Call) -> str:
    return f"{words.seat_name(call.step.seat)} · {words.purpose_name(call.step.purpose)}"


def _cost_columns(first: str) -> tuple[Column, ...]:
    return (
        Column(first, share=2.6),
        Column(_("Calls"), is_figure=True, share=0.7),
        Column(_("Input tokens"), is_figure=True, share=1.3),
        Column(_("Output tokens"), is_figure=True, share=1.3),
        Column(_("Reasoning tokens"), is_figure=True, share=1.3),
        Column(_("Cost"), is_figure=True, share=1.8),
    )


def _sums(name: str, calls: Sequence[Call]) -> tuple[str, ...]:
    settled = [call for call in calls if call.state not in CALLS_UNDER_WAY]
    return (
        name,
        grouped(len(calls)),
        words.tokens(call.input_tokens for call in settled),
        words.tokens(call.output_tokens for call in settled),
        words.tokens(call.reasoning_tokens for call in settled if call.output_tokens is not None),
        words.cost(call.cost for call in settled),
    )


def _stages(groups: dict[str, list[Call]]) -> Table:
    """Wall time runs from the first call of a stage to the end of its last one; side by side, calls share it."""
    columns = (
        Column(_("Stage"), share=2.6),
        Column(_("Calls"), is_figure=True, share=0.7),
        Column(_("Input tokens"), is_figure=True, share=1.1),
        Column(_("Output tokens"), is_figure=True, share=1.1),
        Column(_("Cost"), is_figure=True, share=1.8),
        Column(_("Seconds of all calls"), is_figure=True, share=1.2),
        Column(_("Start to end, s"), is_figure=True, share=1.2),
    )
    rows = []
    for name, calls in groups.items():
        timed = [call for call in calls if call.state not in CALLS_UNDER_WAY and call.seconds is not None]
        seconds = [call.seconds or 0.0 for call in timed]
        spans = [(call.sent, call.sent + timedelta(seconds=call.seconds or 0.0)) for call in timed]
        wall = max(end for _begin, end in spans) - min(begin for begin, _end in spans) if spans else None
        _name, count, read, written, _reasoning, cost = _sums(name, calls)
        summed = figure(sum(seconds), 1) if seconds else MISSING
        lasted = MISSING if wall is None else figure(wall.total_seconds(), 1)
        rows.append((name, count, read, written, cost, summed, lasted))
    return Table(_("By stage"), columns, tuple(rows))


def _calls(rows: Rows) -> Section:
    if not rows.calls:
        return Section("calls", _("Calls"), (Text(_("No call was made.")),))
    columns = (
        Column(_("Turn"), is_figure=True, share=0.6),
        Column(_("Role"), share=1.4),
        Column(_("Attempt"), is_figure=True, share=0.8),
        Column(_("Model"), share=2.0),
        Column(_("State"), share=1.9),
        Column(_("Input tokens"), is_figure=True, share=0.8),
        Column(_("Output tokens"), is_figure=True, share=0.8),
        Column(_("Cost"), is_figure=True, share=1.1),
        Column(_("Seconds"), is_figure=True, share=0.85),
    )
    return Section("calls", _("Calls"), (Table("", columns, tuple(_call(call) for call in rows.calls)),))


def _call(call: Call) -> tuple[str, ...]:
    state = str(Call.State(call.state).label)
    if call.error_kind or call.error:
        kind = str(error_label(call.error_kind)) if call.error_kind else ""
        state = f"{state}: {' · '.join(part for part in (kind, call.error) if part)}"
    elif call.finish_reason:
        state = f"{state} ({call.finish_reason})"
    unknown = MISSING if call.state in CALLS_UNDER_WAY else _("unknown")
    return (
        MISSING if call.step.turn is None else str(call.step.turn),
        _role(call),
        str(call.attempt),
        call.served_model or call.model.label,
        state,
        grouped(call.input_tokens),
        grouped(call.output_tokens),
        unknown if call.cost is None else exact_money(call.cost),
        figure(call.seconds, 1),
    )


# --- where the run comes from ---


def _lineage(rows: Rows) -> Section:
    run: Any = rows.run
    origin = [
        Fact(_("Run"), str(run.pk)),
        Fact(_("Workflow"), words.workflow_name(rows.workflow)),
        Fact(_("Origin"), str(Run.Origin(run.origin).label)),
        Fact(_("Report made"), words.moment(timezone.now())),
        Fact(_("Parent"), str(run.parent_id or _("none"))),
    ]
    if run.branched_from_id:
        message = run.branched_from
        where = _("turn %(turn)s, %(seat)s") % {"turn": message.turn, "seat": words.seat_name(message.seat)}
        origin.append(Fact(_("Branched from"), f"{where} ({message.pk})"))
    columns = (Column(_("Run"), share=2.6), Column(_("Workflow")), Column(_("State")), Column(_("From turn"), True))
    children = tuple(
        (
            str(child.pk),
            words.workflow_name(child.experiment.workflow),
            child.get_state_display(),
            str(child.branched_from.turn) if child.branched_from else "–",
        )
        for child in made_from(run)
    )
    none = Text(_("There are no branches or further judgments."), tone="muted")
    made: Block = Table(_("Derived from this run"), columns, children) if children else none
    return Section("lineage", _("Lineage"), (Facts(tuple(origin)), made))
