"""What a report says of a run that has part of a campaign's work: its battles, or its outputs, one row each."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Battle, Run
from experiments.runs.reports import words
from experiments.runs.reports.document import each
from experiments.runs.reports.report import Block, Column, Fact, Facts, Section, Table, Text
from experiments.runs.reports.setup import Rows, limits
from experiments.runs.reports.transcript import ending
from experiments.templatetags.arena import grouped
from experiments.workflows.battles.records import BattleJudgedData
from experiments.workflows.outputs.records import OutputMadeData

BATTLE_COLUMNS = ("run", "battle", "sample", "seat", "left", "right", "winner", "is_consistent", "open_reason")
OUTPUT_COLUMNS = ("run", "sample", "contestant", "failed")


def battles(rows: Rows) -> Section:
    """In the place of the transcript."""
    lines = []
    for step in rows.steps:
        if step.purpose == "battle_judged":
            battle = BattleJudgedData.read(step.data)
            won = {"left": battle.left_name, "right": battle.right_name}.get(battle.winner, "")
            result = won or (Battle.Winner(battle.winner).label if battle.winner else _("open"))
            consistent = {True: _("yes"), False: _("no"), None: "–"}[battle.is_consistent]
            judge = words.seat_name(battle.seat)
            names = (battle.left_name, battle.right_name)
            lines.append((str(battle.battle), *names, str(result), consistent, judge, battle.open_reason))
    columns = (
        Column(_("Battle"), share=0.8),
        Column(_("Left"), share=1.6),
        Column(_("Right"), share=1.6),
        Column(_("Result"), share=1.6),
        Column(_("Consistent"), share=0.9),
        Column(_("Judge"), share=1.0),
        Column(_("Why it is open"), share=2.0),
    )
    return _work(rows, _("Battles"), Table(_("Battles of this run"), columns, tuple(lines)))


def outputs(rows: Rows) -> Section:
    found = [OutputMadeData.read(step.data) for step in rows.steps if step.purpose == "output_made"]
    columns = (Column(_("Sample")), Column(_("Contestant"), share=2.0), Column(_("Why it is missing"), share=3.0))
    lines = tuple((str(output.sample), output.name, output.failed) for output in found)
    return _work(rows, _("Outputs"), Table(_("Outputs of this run"), columns, lines))


def battle_lines(run: Run) -> Iterator[Sequence[Any]]:
    """The same as the rows of a CSV file, the names of its columns first."""
    return _lines(run, "battle_judged", BATTLE_COLUMNS)


def output_lines(run: Run) -> Iterator[Sequence[Any]]:
    return _lines(run, "output_made", OUTPUT_COLUMNS)


def _lines(run: Run, purpose: str, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    yield columns
    for step in each(run.steps.filter(purpose=purpose).order_by("id")):
        data = {"run": run.pk, **step.data, "contestant": step.data.get("name")}
        data |= {side: step.data.get(f"{side}_name") for side in ("left", "right")}
        yield [data.get(name) for name in columns]


def _work(rows: Rows, title: str, table: Table) -> Section:
    """What was to be done, and what was."""
    config = rows.config
    prompt = " ".join(filter(None, (config.get("prompt", ""), config.get("prompt_version", ""))))
    facts = [
        Fact(_("Dataset"), str(config.get("dataset", ""))),
        *([Fact(_("Judge prompt"), prompt)] if prompt else []),
        *([Fact(_("Version"), config["version"])] if config.get("version") else []),
        Fact(_("Tasks of this run"), grouped(len(config.get("tasks", ())))),
        Fact(_("Limits of the whole campaign"), limits(rows)),
    ]
    done: Block = table if table.rows else Text(_("Nothing was done in this run."))
    return Section("log", title, (Facts(tuple(facts)), done, *ending(rows.run)))
