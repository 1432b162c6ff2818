"""What people meet of a coding contest."""

from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import Surface, Told
from experiments.workflows.coding.assumptions import ASSUMPTIONS
from experiments.workflows.coding.pages import importing, pages, report, report_figures, shapes, slots, table
from experiments.workflows.coding.pages.plan import plan


def _address(run: UUID, turn: int) -> str:
    """The run's own page shows the latest cycle alone."""
    return reverse("coding-cycle", args=[run, turn])


SURFACE = Surface(
    name=_("Coding"),
    description=_(
        "One model sets a problem, all solve it, a sandbox runs every solution against the tests, and everybody judges"
        " the solutions of all others. Ratings follow from the votes."
    ),
    home="coding",
    urls="experiments.workflows.coding.pages.urls",
    api_urls="experiments.workflows.coding.pages.api_urls",
    entries={
        "pool_checked": "pool",
        "cycles_planned": "plan",
        "cycle_begun": "cycle-{turn}",
        "problem_set": "set-{turn}",
        "cycle_void": "outcome-{turn}",
        "cycle_rated": "outcome-{turn}",
        "solution_executed": "ran-{key}",
        "solution_judged": slots.vote_anchor,
    },
    unseen=tuple((purpose, "coder-") for purpose in ("health", "judge", "repair")),
    page_entries=pages.entries,
    context=pages.context,
    address=_address,
    no_branch=_("A contest has no branches: start another one with the same models and another seed."),
    turns=_("Cycles"),
    again=_("Again with these models"),
    findings=shapes.FINDINGS,
    steps_of_log=importing.contest,
    parsed=shapes.PARSED,
    told=Told(
        settings=report.settings,
        turn=_("Cycle %(turn)s"),
        before=lambda rows: (report.cycles(rows), report_figures.rated(rows)),
        has_talk=False,
        is_judged=False,
        table=table.lines,
    ),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "Assumed: 60 tokens a second, models side by side. At most: every answer as long as it may be and asked for"
        " twice, the dearest model sets every problem, and in turn every problem is set twice. Calls that break off and"
        " are made again come on top."
    ),
    plan=plan,
)
