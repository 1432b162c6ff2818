"""What a report says of a run that has part of a scan's work: its units, one row each."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Annotation, Run
from experiments.runs.reports import words
from experiments.runs.reports.document import each
from experiments.runs.reports.report import Block, Column, Fact, Facts, Section, Table, Text
from experiments.runs.reports.setup import Rows, limits
from experiments.runs.reports.transcript import ending
from experiments.templatetags.arena import grouped
from experiments.workflows.base.measuring import UnitJudgedData

FIELDS = ("unit", "place", "subject", "dimension", "value", "unscored_reason", "is_verified", "confidence", "judge")


def units(rows: Rows) -> Section:
    """In the place of the transcript."""
    found = [UnitJudgedData.read(step.data) for step in rows.steps if step.purpose == "unit_judged"]
    lines = tuple(
        (one.run, str(one.place), words.seat_name(one.seat), str(one.values), str(one.unscored), str(one.unverified))
        for one in found
    )
    columns = (
        Column(_("Run"), share=3.0),
        Column(_("Place")),
        Column(_("Judge")),
        Column(_("Values")),
        Column(_("Not scored")),
        Column(_("Unverified")),
    )
    facts = [
        Fact(_("Instrument"), str(rows.config.get("title", ""))),
        Fact(_("Tasks of this run"), grouped(len(rows.config.get("tasks", ())))),
        Fact(_("Limits of the whole campaign"), limits(rows)),
    ]
    table = Table(_("Units of this run"), columns, lines)
    done: Block = table if table.rows else Text(_("Nothing was done in this run."))
    return Section("log", _("Units"), (Facts(tuple(facts)), done, *ending(rows.run)))


def unit_lines(run: Run) -> Iterator[Sequence[Any]]:
    """The annotations that a run has made as the rows of a CSV file, the names of its columns first."""
    yield ("run", *FIELDS)
    for one in each(Annotation.objects.filter(made_in=run).order_by("id")):
        yield [one.run_id, *(getattr(one, name) for name in FIELDS)]
