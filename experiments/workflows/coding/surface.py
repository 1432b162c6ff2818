"""What people meet of a coding contest."""

from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import LIMIT_FIELDS, Group, SeatRows, Setup, Surface, Told
from experiments.workflows.coding.assumptions import ASSUMPTIONS
from experiments.workflows.coding.config import LEAST_CODERS, MOST_CODERS
from experiments.workflows.coding.pages import files, importing, report, run_page, setup, shapes


def _address(run: UUID, turn: int) -> str:
    """The run's own page shows the latest cycle alone."""
    return reverse("coding-cycle", args=[run, turn])


SETUP = Setup(
    title=_("Start a coding contest"),
    parts=(
        Group(("cycles",)),
        Group(("setters",)),
        Group(("topic",)),
        Group(("health_check",)),
        Group((), template="workflows/coding/_sandbox.html"),
        SeatRows(
            "coders",
            "coder",
            least=LEAST_CODERS,
            most=MOST_CODERS,
            title=_("Models"),
            row=_("Model"),
            add=_("Add a model"),
            too_few=_("A contest has at least %(least)s models: one sets, one solves, one judges."),
            hint=_("Three to twenty, each once: every model sets, solves and judges. A row with “nobody” is left out."),
            params=("temperature", "max_tokens", "reasoning_effort"),
            is_distinct=True,
            has_specialists=True,
            everybody=_("All available text models"),
        ),
        Group(
            ("quorum", "call_seconds", "test_seconds", "test_megabytes", *LIMIT_FIELDS),
            title=_("Advanced"),
            is_folded=True,
        ),
    ),
    labels={
        "cycles": _("Cycles"),
        "setters": _("Who sets the problem"),
        "topic": _("Topic"),
        "health_check": _("Check every model first"),
        "quorum": _("Votes needed for a rating"),
        "call_seconds": _("Seconds for an answer"),
        "test_seconds": _("Seconds for a test"),
        "test_megabytes": _("Memory of a test, MiB"),
    },
    hints={
        "title": _("Empty: the topic."),
        "cycles": _("In each cycle one problem is set, solved and judged."),
        "topic": _(
            "Which kind of problem is asked for, such as “graphs” or “parsing of log lines”. Empty: the setter is free."
        ),
        "health_check": _(
            "Models that are limited or fail are left out, and it is said who and why. Those that were only limited are"
            " asked again before the next cycle."
        ),
        "quorum": _("A solution with fewer votes is not rated in this cycle; it never counts as 0."),
    },
    choices={
        "setters": {
            "auto": _("in turn if that comes out even"),
            "in_turn": _("in turn"),
            "random": _("drawn by the seed"),
        }
    },
    runs=setup.CONTESTS,
    context=setup.context,
    remarks=setup.remarks,
    style="workflows/coding/coding.css",
)

SURFACE = Surface(
    name=_("Coding"),
    description=_(
        "One model sets a problem, all solve it, a sandbox runs every solution against the tests, and everybody judges"
        " the solutions of all others. Ratings follow from the votes."
    ),
    setup=SETUP,
    formats="experiments.workflows.coding.pages.importing",
    home="coding",
    urls="experiments.workflows.coding.pages.views",
    api_urls="experiments.workflows.coding.pages.api",
    entries={
        "pool_checked": "pool",
        "cycles_planned": "plan",
        "cycle_begun": "cycle-{turn}",
        "problem_set": "set-{turn}",
        "cycle_void": "outcome-{turn}",
        "cycle_rated": "outcome-{turn}",
        "solution_executed": "ran-{key}",
        "solution_judged": run_page.vote_anchor,
    },
    slot=run_page.slot_of,
    unseen=tuple((purpose, "coder-") for purpose in ("health", "judge", "repair")),
    page_entries=run_page.entries,
    context=run_page.context,
    address=_address,
    styles=("workflows/council/council.css", "leaderboard.css", "workflows/coding/coding.css"),
    script="workflows/coding/run.js",
    no_branch=_("A contest has no branches: start another one with the same models and another seed."),
    turns=_("Cycles"),
    again=_("Again with these models"),
    findings=shapes.FINDINGS,
    steps_of_log=importing.contest,
    parsed=shapes.PARSED,
    told=Told(
        settings=report.settings,
        turn=_("Cycle %(turn)s"),
        before=lambda rows: (report.cycles(rows), report.rated(rows)),
        has_talk=False,
        is_judged=False,
        table=files.table,
    ),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "Assumed: 60 tokens a second, models side by side. At most: every answer as long as it may be and asked for"
        " twice, the dearest model sets every problem, and in turn every problem is set twice. Calls that break off and"
        " are made again come on top."
    ),
    plan=setup.plan,
)
