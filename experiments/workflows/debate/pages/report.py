"""What the report of a debate says of how it was set up, and of its stages."""

from django.utils.translation import gettext as _

from experiments.models import Call, Run
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Fact, Facts
from experiments.runs.reports.setup import Rows, changes, limits, prompt
from experiments.templatetags.arena import grouped


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Mode"), str(Run.Mode(rows.run.mode).label)),
        Fact(_("Refiner"), words.yes_or_no(config.get("refine", True))),
        Fact(_("Rounds planned"), grouped(config.get("rounds"))),
        Fact(_("Blind first round"), words.yes_or_no(config.get("blind"))),
        Fact(_("Another debater begins the second round"), words.yes_or_no(config.get("rotate"))),
        Fact(_("Limits"), limits(rows)),
        Fact(_("Seed"), str(rows.run.seed)),
        *changes(rows),
    )
    addendum = str(config.get("addendum", ""))
    planned = [prompt("addendum", _("Addendum planned"), addendum)] if addendum.strip() else []
    return [Facts(facts), prompt("request", _("What was asked for"), str(config.get("prompt", ""))), *planned]


def stage_of(call: Call) -> str:
    """A repair belongs to what it repairs, which its key begins with."""
    first = call.step.key.partition("/")[0]
    names = {"refine": _("Refinement"), "summary": _("Summary")}
    return names.get(first) or _("Round %(turn)s") % {"turn": call.step.turn}
