"""What the report of a StarChamber run says of how it was set up, and of its parts."""

from django.utils.translation import gettext as _

from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Fact, Facts, Part, Text
from experiments.runs.reports.setup import Rows, changes, judging_facts, limits, prompt, turns
from experiments.templatetags.arena import MISSING


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Persona of the researcher"), config.get("persona") or _("You")),
        Fact(_("Preset"), config.get("preset") or MISSING),
        Fact(_("Token probabilities asked for"), words.yes_or_no(config.get("logprobs"))),
        Fact(_("Judge"), words.yes_or_no(config.get("judge"))),
        *judging_facts(rows),
        Fact(_("Most turns"), turns(rows)),
        Fact(_("Limits"), limits(rows)),
        Fact(_("Seed"), str(rows.run.seed)),
        *changes(rows),
    )
    context = str(config.get("context", ""))
    shown = Text(context, "plain") if context.strip() else Text(_("None: the model got no system message."), "note")
    return [
        Facts(facts),
        Part("context", "", "", _("System context"), (shown,)),
        prompt("first-message", _("First message"), str(config.get("first_message", ""))),
    ]
