"""What the report of a judging says of how it was set up."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Fact, Facts, Fold, Part, Text
from experiments.runs.reports.setup import Rows, judging_facts, limits, of_side, prompt
from experiments.templatetags.arena import MISSING, grouped


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Judged run"), str(rows.run.parent_id or config.get("source") or MISSING)),
        Fact(_("Its workflow"), words.workflow_name(str(config.get("workflow", MISSING)))),
        Fact(_("Judged"), ", ".join(words.seat_name(seat) for seat in config.get("subjects", [])) or MISSING),
        Fact(_("Turns judged"), grouped(len(config.get("turns", [])))),
        *judging_facts(rows),
        Fact(_("Limits"), limits(rows)),
        Fact(_("Seed"), str(rows.run.seed)),
    )
    rubric = str(config.get("rubric", ""))
    shown = Text(rubric, "plain") if rubric.strip() else Text(_("The rubric that comes with the workflow."), "note")
    objectives = dict(config.get("objectives") or {})
    return [
        Facts(facts),
        Part("rubric", "", "", _("Rubric"), (shown,)),
        *(prompt(f"objective-{seat}", of_side(seat), str(text), seat) for seat, text in objectives.items()),
        *_judged_texts(config),
    ]


def _judged_texts(config: dict[str, Any]) -> Iterable[Block]:
    """What the judge was shown, turn by turn: the judged run's own report has it as a talk."""
    turns = config.get("turns", [])
    said = tuple(
        Part(
            f"shown-{turn['turn']}-{seat}",
            seat,
            words.badge(seat),
            _("Turn %(turn)s · %(seat)s") % {"turn": turn["turn"], "seat": words.seat_name(seat)},
            (Text(str(text), "plain"),),
        )
        for turn in turns
        for seat, text in turn.get("messages", {}).items()
    )
    return [Fold(_("What was judged"), _("as the judge was shown it"), said)] if said else []
