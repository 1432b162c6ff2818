"""What the report of a StarChamber run says of how it was set up, and of its parts."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Fact, Facts, Table
from experiments.runs.reports.setup import Rows, closing_facts, judging_facts, prompt, turns
from experiments.templatetags.arena import MISSING

SCRIPT_CONDITIONS = {
    "always": gettext_lazy("always"),
    "contains": gettext_lazy("if the answer contains"),
    "lacks": gettext_lazy("if the answer does not contain"),
    "matches": gettext_lazy("if the answer has a passage like (* is any text)"),
    "refused": gettext_lazy("if the answer refuses"),
    "answered": gettext_lazy("if the answer does not refuse"),
}


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
        *_script(config.get("script") or []),
    ]


def _script(lines: list[dict[str, Any]]) -> list[Block]:
    if not lines:
        return []
    columns = (Column(_("Message"), share=5.0), Column(_("Sent"), share=1.5), Column(_("Words"), share=1.5))
    rows = ((one["text"], str(SCRIPT_CONDITIONS[one["when"]]), one["pattern"]) for one in lines)
    return [Table(_("Script"), columns, tuple(rows))]
