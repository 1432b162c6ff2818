"""What each stage of a run cost, and how long it took."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from django.utils.translation import gettext as _

from experiments.models import Call
from experiments.runs.reports import words
from experiments.runs.reports.report import Column, Table
from experiments.runs.reports.rows import Rows
from experiments.templatetags.arena import MISSING, figure, grouped


def stages(rows: Rows, stage_of: Callable[[Call], str]) -> Table:
    """Wall time runs from the first call of a stage to the end of its last one; side by side, calls share it."""
    groups: dict[str, list[Call]] = {}
    for call in rows.calls:
        groups.setdefault(stage_of(call), []).append(call)
    columns = (
        Column(_("Stage"), share=2.6),
        Column(_("Calls"), is_figure=True, share=0.7),
        Column(_("Tokens in"), is_figure=True, share=1.1),
        Column(_("Tokens out"), is_figure=True, share=1.1),
        Column(_("Cost"), is_figure=True, share=1.8),
        Column(_("Seconds of all calls"), is_figure=True, share=1.2),
        Column(_("From start to end, s"), is_figure=True, share=1.2),
    )
    return Table(_("By stage"), columns, tuple(_row(name, calls) for name, calls in groups.items()))


def _row(name: str, calls: Sequence[Call]) -> tuple[str, ...]:
    settled = [call for call in calls if call.state != Call.State.SENT]
    seconds = [call.seconds for call in settled if call.seconds is not None]
    return (
        name,
        grouped(len(calls)),
        words.tokens(call.input_tokens for call in settled),
        words.tokens(call.output_tokens for call in settled),
        words.cost(call.cost for call in settled),
        figure(sum(seconds), 1) if seconds else MISSING,
        _wall(settled),
    )


def _wall(calls: Sequence[Call]) -> str:
    spans = [(call.sent, call.sent + timedelta(seconds=call.seconds)) for call in calls if call.seconds is not None]
    if not spans:
        return MISSING
    return figure((max(end for _begin, end in spans) - min(begin for begin, _end in spans)).total_seconds(), 1)
