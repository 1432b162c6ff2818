"""What the report of a council says of how it was set up, and of its stages."""

from django.utils.translation import gettext as _

from experiments.models import Call
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Fact, Facts
from experiments.runs.reports.setup import Rows, closing_facts, prompt, turns


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    own = _("ranked, too") if config.get("own_answers") == "included" else _("not shown to their authors")
    cut = _("ranked") if config.get("truncated", "eligible") == "eligible" else _("not ranked")
    facts = (
        Fact(_("Own answers"), own),
        Fact(_("Truncated answers"), cut),
        Fact(_("Title asked for"), words.yes_or_no(config.get("title", True))),
        Fact(_("Max questions"), turns(rows)),
        *closing_facts(rows),
    )
    context = str(config.get("system_prompt", ""))
    return [
        Facts(facts),
        prompt("context", _("System context"), context, none=_("None: the members got no system message.")),
        prompt("question", _("First question"), str(config.get("question", ""))),
    ]


def stage_of(call: Call) -> str:
    step, turn = call.step, {"turn": call.step.turn}
    if step.purpose == "title":
        return _("Title")
    names = {
        "review": _("Question %(turn)s: reviews"),
        "repair": _("Question %(turn)s: reviews"),
        "conclusion": _("Question %(turn)s: conclusion"),
    }
    return names.get(step.purpose, _("Question %(turn)s: answers")) % turn
