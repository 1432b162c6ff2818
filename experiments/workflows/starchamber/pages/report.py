"""What the report of a StarChamber run says of how it was set up, and of its parts."""

from django.utils.translation import gettext as _

from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Fact, Facts
from experiments.runs.reports.setup import Rows, closing_facts, judging_facts, prompt, script, turns
from experiments.templatetags.arena import MISSING


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Persona of the researcher"), config.get("persona") or _("You")),
        Fact(_("Preset"), config.get("preset") or MISSING),
        Fact(_("Token probabilities asked for"), words.yes_or_no(config.get("logprobs"))),
        Fact(_("Judge"), words.yes_or_no(config.get("judge"))),
        *judging_facts(rows),
        Fact(_("Max turns"), turns(rows)),
        *closing_facts(rows),
    )
    context = str(config.get("context", ""))
    return [
        Facts(facts),
        prompt("context", _("System context"), context, none=_("None: the model got no system message.")),
        prompt("first-message", _("First message"), str(config.get("first_message", ""))),
        *script(rows),
    ]
