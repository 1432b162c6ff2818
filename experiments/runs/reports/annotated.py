"""What a run's judge found by an instrument: unit by unit, and in rates and means, under its own labels."""

from django.utils.translation import gettext as _

from experiments.library.instruments import findings
from experiments.library.instruments.figures import figures
from experiments.library.instruments.findings import Finding
from experiments.models import Annotation
from experiments.models.labels import where_measured
from experiments.runs.figures import in_percent, span
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Part, Section, Table, Text
from experiments.runs.reports.setup import Rows
from experiments.templatetags.arena import MISSING, figure
from experiments.templatetags.instruments import value_word
from experiments.workflows import surface_of
from experiments.workflows.base.instruments import Definition


def judgments(rows: Rows) -> Section:
    units: dict[tuple[int, str], list[Finding]] = {}
    made = Annotation.objects.filter(run=rows.run, made_in=rows.run).select_related(
        "version__instrument", "person", "step"
    )
    for one in findings.of(made.order_by("turn", "step", "subject", "id")):
        units.setdefault((one.annotation.step_id or 0, one.annotation.judge), []).append(one)
    told = surface_of(rows.run.experiment.workflow).told
    columns = (Column(_("Participant")), Column(_("Dimension"), share=1.6), Column(_("Value"), share=2.4))
    parts = []
    for (step, judge), found in units.items():
        first = found[0].annotation
        where = where_measured(told, first.step.key if first.step else "", first.turn)
        table = Table("", columns, tuple((_seat(one), one.dimension.title, _value(one)) for one in found))
        notes = dict.fromkeys(one.annotation.rationale for one in found if one.annotation.rationale)
        blocks: list[Block] = [table, *(Text(note, "plain") for note in notes)]
        title = f"{where} · {found[0].instrument} · {judge}"
        parts.append(Part(f"judgment-{step}", "judge", "J", title, tuple(blocks)))
    nothing = Text(_("Nothing was judged in this run."))
    return Section("judgments", _("Judgments"), tuple(parts) or (nothing,))


def _seat(one: Finding) -> str:
    message = one.annotation.message
    seat = one.annotation.subject or (message.seat if message else "")
    return words.seat_name(seat) if seat else MISSING


def _value(one: Finding) -> str:
    row = one.annotation
    if row.value is None:
        return _("Not scored: %(reason)s") % {"reason": row.unscored_reason}
    quoted = [f"“{citation['quote']}”" for citation in row.citations if one.dimension.kind != "quotation"]
    unverified = [_("unverified")] if one.is_unverified else []
    return " · ".join([value_word(row.value, one.dimension), *quoted, *unverified])


def measured(rows: Rows) -> Section:
    definition = Definition.model_validate(rows.config["instrument"]["definition"])
    columns = (
        Column(_("Dimension"), share=2.4),
        Column(_("Value"), is_figure=True),
        Column(_("Interval"), is_figure=True, share=1.4),
        *(Column(name, is_figure=True) for name in ("n", _("Not scored"), _("Unverified"))),
    )
    table = []
    for one in figures(definition, Annotation.objects.filter(run=rows.run, made_in=rows.run)):
        said = in_percent if one.is_rate else figure
        around = MISSING if one.low is None or one.high is None else span(said(one.low), said(one.high))
        title = ": ".join(filter(None, (one.dimension.title, one.choice)))
        value = MISSING if one.value is None else said(one.value)
        table.append((title, value, around, str(one.n), str(one.missing), str(one.unverified)))
    none = Text(_("No scores in this run."))
    return Section("metrics", _("Metrics"), (Table("", columns, tuple(table)),) if table else (none,))
