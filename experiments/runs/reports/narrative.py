"""The report of a run, made from its rows alone."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from experiments.models import Call, Run
from experiments.runs.reports import judged, ledger, words
from experiments.runs.reports.document import REPORT_VERSION, made_from
from experiments.runs.reports.report import Block, Column, Fact, Facts, Report, Section, Table, Text
from experiments.runs.reports.rows import Rows, rows_of
from experiments.runs.reports.setup import setup
from experiments.runs.reports.talk import talk, unfinished
from experiments.templatetags.arena import grouped
from experiments.workflows import surface_of, workflow_of


def narrate(run: Run, language: str) -> Report:
    """Every word of the report of a run fetched by `with_totals`, in the language."""
    with override(language):
        return _narrate(rows_of(run))


def _narrate(rows: Rows) -> Report:
    run, told = rows.run, surface_of(rows.workflow).told
    return Report(
        title=run.experiment.title,
        subject=_("Report of a run · %(workflow)s") % {"workflow": words.workflow_name(rows.workflow)},
        contents=_("Contents"),
        footer=_("Arena Lab · run %(id)s · report format %(version)s") % {"id": run.pk, "version": REPORT_VERSION},
        header=Facts(tuple(_header(rows))),
        notices=tuple(_notices(rows)),
        sections=(
            setup(rows),
            *told.before(rows),
            told.log(rows) if told.log else talk(rows, told),
            *_judged(rows),
            ledger.costs(rows),
            ledger.calls(rows),
            _lineage(rows),
            _summary(rows),
        ),
    )


def _judged(rows: Rows) -> list[Section]:
    """Where nobody is scored by a judge, nothing is said of it."""
    is_judged = rows.judgments or workflow_of(rows.workflow).subjects
    if not is_judged or not surface_of(rows.workflow).told.is_judged:
        return []
    return [judged.judgments(rows), judged.measured(rows)]


def _header(rows: Rows) -> list[Fact]:
    run = rows.run
    span = words.duration(words.lasted(run.started, run.ended))
    waited = _("%(seconds)s s of it waiting for people") % {"seconds": grouped(run.waited_seconds)}
    still_on = _("so far") if run.started and not run.ended else ""
    return [
        Fact(_("Run"), str(run.pk)),
        Fact(_("Workflow"), words.workflow_name(rows.workflow)),
        Fact(_("State"), _state(run)),
        Fact(_("Origin"), str(Run.Origin(run.origin).label)),
        Fact(_("Report made"), words.moment(timezone.now())),
        Fact(_("Started"), words.moment(run.started)),
        Fact(_("Ended"), words.moment(run.ended)),
        Fact(_("Duration"), span, ", ".join(p for p in (still_on, waited if run.waited_seconds >= 1 else "") if p)),
    ]


def _state(run: Run) -> str:
    reason = f": {words.end_reason(run.stop_reason)}" if run.stop_reason else ""
    return f"{run.get_state_display()}{reason}"


def _notices(rows: Rows) -> list[Text]:
    run = rows.run
    going_on = unfinished(run)
    simulated = any(participant.model.provider.is_simulated for participant in rows.participants)
    written = _("This is a demonstration: it was written, not played by models.")
    imported = _("This run was imported: its record was made elsewhere.")
    return [
        *([going_on] if going_on else []),
        *([Text(written, tone="warning")] if run.origin == Run.Origin.DEMONSTRATION else []),
        *([Text(imported, tone="warning")] if run.origin == Run.Origin.IMPORTED else []),
        *([Text(_("Models marked as simulated are programs of this platform, not language models."),
                tone="warning")] if simulated else []),
    ]  # fmt: skip


def _lineage(rows: Rows) -> Section:
    run = rows.run
    origin = [
        Fact(_("Parent"), str(run.parent_id or _("none"))),
        *([_branching_point(run)] if run.branched_from_id else []),
    ]
    columns = (Column(_("Run"), share=2.6), Column(_("Workflow")), Column(_("State")), Column(_("From turn"), True))
    table = tuple(_child(child) for child in made_from(run))
    made: list[Block] = [Table(_("Made from this run"), columns, table)] if table else []
    none = [] if table else [Text(_("Nothing was branched off or judged again so far."), tone="muted")]
    return Section("lineage", _("Lineage"), (Facts(tuple(origin)), *made, *none))


def _branching_point(run: Any) -> Fact:
    message = run.branched_from
    where = _("turn %(turn)s, %(seat)s") % {"turn": message.turn, "seat": words.seat_name(message.seat)}
    return Fact(_("Branched from"), f"{where} ({message.pk})")


def _child(child: Any) -> tuple[str, ...]:
    turn = str(child.branched_from.turn) if child.branched_from else "–"
    return (
        str(child.pk),
        words.workflow_name(child.experiment.workflow),
        child.get_state_display(),
        turn,
    )


def _summary(rows: Rows) -> Section:
    run = rows.run
    settled = [call for call in rows.calls if call.state != Call.State.SENT]
    seats = list(run.messages.order_by().values_list("seat", flat=True))
    by_seat = [
        Fact(_("Messages of %(seat)s") % {"seat": words.seat_name(seat)}, grouped(seats.count(seat)))
        for seat in sorted(set(seats), key=words.seat_order)
    ]
    facts = (
        Fact(_("Messages"), grouped(len(seats))),
        *by_seat,
        Fact(_("Turns completed"), grouped(run.turn or 0)),
        Fact(_("Tokens read"), words.tokens(call.input_tokens for call in settled)),
        Fact(_("Tokens written"), words.tokens(call.output_tokens for call in settled)),
        Fact(_("Calls"), grouped(len(rows.calls))),
        Fact(_("Cost"), words.cost(call.cost for call in settled)),
        Fact(_("How it ended"), _state(run) if run.is_over else _("not ended yet")),
    )
    return Section("summary", _("Summary"), (Facts(facts),))
