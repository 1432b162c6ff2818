"""What a report says of a run that has part of a campaign's work: its battles, or its outputs, one row each."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Battle, Run
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Fact, Facts, Section, Table, Text
from experiments.runs.reports.setup import Rows, limits
from experiments.runs.reports.transcript import ending
from experiments.templatetags.arena import grouped
from experiments.workflows.base.events import EventData
from experiments.workflows.battles.records import BattleJudgedData
from experiments.workflows.outputs.records import OutputMadeData

BATTLE_COLUMNS = ("run", "battle", "sample", "seat", "left", "right", "winner", "is_consistent", "open_reason")
OUTPUT_COLUMNS = ("run", "sample", "contestant", "failed")


def battles(rows: Rows) -> Section:
    """In the place of the talk."""
    found = [BattleJudgedData.read(step.data) for step in rows.steps if step.purpose == "battle_judged"]
    return _work(rows, _("Battles"), found, _battles(found))


def outputs(rows: Rows) -> Section:
    found = [OutputMadeData.read(step.data) for step in rows.steps if step.purpose == "output_made"]
    return _work(rows, _("Outputs"), found, _outputs(found))


def battle_lines(run: Run) -> Iterator[Sequence[Any]]:
    """The same as the rows of a CSV file, the names of its columns first."""
    return _lines(run, "battle_judged", BATTLE_COLUMNS)


def output_lines(run: Run) -> Iterator[Sequence[Any]]:
    return _lines(run, "output_made", OUTPUT_COLUMNS)


def _work(rows: Rows, title: str, found: Sequence[EventData], table: Table) -> Section:
    blocks: tuple[Block, ...] = (table,) if found else (Text(_("Nothing was done in this run.")),)
    return Section("log", title, (_plan(rows), *blocks, *ending(rows.run)))


def _lines(run: Run, purpose: str, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    yield columns
    for step in run.steps.filter(purpose=purpose).order_by("id").iterator():
        data = {"run": run.pk, **step.data, "contestant": step.data.get("name")}
        data |= {side: step.data.get(f"{side}_name") for side in ("left", "right")}
        yield [data.get(name) for name in columns]


def _plan(rows: Rows) -> Facts:
    config = rows.config
    prompt = " ".join(filter(None, (config.get("prompt", ""), config.get("prompt_version", ""))))
    facts = [
        Fact(_("Dataset"), str(config.get("dataset", ""))),
        *([Fact(_("Judge prompt"), prompt)] if prompt else []),
        *([Fact(_("Version"), config["version"])] if config.get("version") else []),
        Fact(_("Tasks of this run"), grouped(len(config.get("tasks", ())))),
        Fact(_("Limits of the whole campaign"), limits(rows)),
    ]
    return Facts(tuple(facts))


def _battles(found: Sequence[BattleJudgedData]) -> Table:
    columns = (
        Column(_("Battle"), share=0.8),
        Column(_("Left"), share=1.6),
        Column(_("Right"), share=1.6),
        Column(_("Result"), share=1.6),
        Column(_("Consistent"), share=0.9),
        Column(_("Judge"), share=1.0),
        Column(_("Why it is open"), share=2.0),
    )
    return Table(_("Battles of this run"), columns, tuple(_battle(data) for data in found))


def _battle(battle: BattleJudgedData) -> tuple[str, ...]:
    winner, names = battle.winner, (battle.left_name, battle.right_name)
    won = {"left": battle.left_name, "right": battle.right_name}.get(winner, "")
    result = won or (str(Battle.Winner(winner).label) if winner else _("open"))
    consistent = {True: _("yes"), False: _("no"), None: "–"}[battle.is_consistent]
    return (str(battle.battle), *names, str(result), consistent, words.seat_name(battle.seat), battle.open_reason)


def _outputs(found: Sequence[OutputMadeData]) -> Table:
    columns = (Column(_("Sample")), Column(_("Contestant"), share=2.0), Column(_("Why it is missing"), share=3.0))
    rows = tuple((str(output.sample), output.name, output.failed) for output in found)
    return Table(_("Outputs of this run"), columns, rows)
