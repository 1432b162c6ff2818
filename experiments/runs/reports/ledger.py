"""What the run cost, and every call that was made for it."""

from collections.abc import Callable, Iterable, Sequence

from django.utils.translation import gettext as _

from experiments.models import Call
from experiments.runs.reports import words
from experiments.runs.reports.report import Column, Section, Table, Text
from experiments.runs.reports.rows import Rows
from experiments.runs.reports.stages import stages
from experiments.templatetags.arena import MISSING, error_label, exact_money, figure, grouped
from experiments.workflows import surface_of


def costs(rows: Rows) -> Section:
    if not rows.calls:
        return Section("costs", _("Costs"), (Text(_("No call was made.")),))
    roles = _grouped(rows.calls, lambda call: f"{words.seat_name(call.step.seat)} · {_purpose(call)}")
    models = _grouped(rows.calls, lambda call: f"{call.model.label} · {call.model.provider.name}")
    total = [(_("All"), list(rows.calls))]
    stage_of = surface_of(rows.workflow).told.stage
    by_stage = [stages(rows, stage_of)] if stage_of else []
    return Section(
        "costs",
        _("Costs"),
        (
            *by_stage,
            Table(_("By role"), _columns(_("Role")), tuple(_sums(*group) for group in [*roles, *total])),
            Table(_("By model"), _columns(_("Model")), tuple(_sums(*group) for group in [*models, *total])),
        ),
    )


def _purpose(call: Call) -> str:
    return words.purpose_name(call.step.purpose)


def _columns(first: str) -> tuple[Column, ...]:
    return (
        Column(first, share=2.6),
        Column(_("Calls"), is_figure=True, share=0.7),
        Column(_("Tokens in"), is_figure=True, share=1.3),
        Column(_("Tokens out"), is_figure=True, share=1.3),
        Column(_("Reasoning tokens"), is_figure=True, share=1.3),
        Column(_("Cost"), is_figure=True, share=1.8),
    )


def _grouped(calls: Iterable[Call], name: Callable[[Call], str]) -> list[tuple[str, list[Call]]]:
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(name(call), []).append(call)
    return sorted(groups.items())


def _sums(name: str, calls: Sequence[Call]) -> tuple[str, ...]:
    settled = [call for call in calls if call.state != Call.State.SENT]
    return (
        name,
        grouped(len(calls)),
        words.tokens(call.input_tokens for call in settled),
        words.tokens(call.output_tokens for call in settled),
        words.tokens(call.reasoning_tokens for call in settled if call.output_tokens is not None),
        words.cost(call.cost for call in settled),
    )


def calls(rows: Rows) -> Section:
    if not rows.calls:
        return Section("calls", _("Calls"), (Text(_("No call was made.")),))
    columns = (
        Column(_("Turn"), is_figure=True, share=0.6),
        Column(_("Role"), share=1.4),
        Column(_("Attempt"), is_figure=True, share=0.8),
        Column(_("Model"), share=2.0),
        Column(_("State"), share=1.9),
        Column(_("Tokens in"), is_figure=True, share=0.8),
        Column(_("Tokens out"), is_figure=True, share=0.8),
        Column(_("Cost"), is_figure=True, share=1.1),
        Column(_("Seconds"), is_figure=True, share=0.85),
    )
    return Section("calls", _("Calls"), (Table("", columns, tuple(_row(call) for call in rows.calls)),))


def _row(call: Call) -> tuple[str, ...]:
    turn = call.step.turn
    unsettled = call.state == Call.State.SENT
    return (
        MISSING if turn is None else str(turn),
        f"{words.seat_name(call.step.seat)} · {_purpose(call)}",
        str(call.attempt),
        call.served_model or call.model.label,
        _state(call),
        grouped(call.input_tokens),
        grouped(call.output_tokens),
        exact_money(call.cost) if call.cost is not None else MISSING if unsettled else _("unknown"),
        figure(call.seconds, 1),
    )


def _state(call: Call) -> str:
    state = str(Call.State(call.state).label)
    if call.error_kind or call.error:
        kind = str(error_label(call.error_kind)) if call.error_kind else ""
        return f"{state}: {' · '.join(part for part in (kind, call.error) if part)}"
    return f"{state} ({call.finish_reason})" if call.finish_reason else state
