"""What people meet of a coding contest."""

from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from experiments.library.instruments import choosing
from experiments.workflows.base.surface import (
    LIMIT_FIELDS,
    Example,
    Group,
    ReadyInstrument,
    SeatRows,
    Setup,
    Surface,
    Told,
)
from experiments.workflows.coding.assumptions import ASSUMPTIONS
from experiments.workflows.coding.config import LEAST_CODERS, MOST_CODERS
from experiments.workflows.coding.instruments import definition
from experiments.workflows.coding.pages import files, importing, report, run_page, setup, shapes


def _address(run: UUID, turn: int) -> str:
    """The run's own page shows the latest cycle alone."""
    return reverse("coding-cycle", args=[run, turn])


SETUP = Setup(
    title=_("Start a coding contest"),
    parts=(
        Group(("topic",)),
        Group(("cycles",)),
        Group((), template="workflows/coding/_sandbox.html"),
        SeatRows(
            "coders",
            "coder",
            least=LEAST_CODERS,
            most=MOST_CODERS,
            title=_("Models"),
            row=_("Model"),
            add=_("Add a model"),
            too_few=_("A contest needs at least %(least)s models: one sets, one solves, one judges."),
            hint=_(
                "Three to twenty, each once. Every model sets, solves and judges. Rows without a model are left out."
            ),
            params=("temperature", "top_p", "max_tokens", "reasoning_effort", "served_by"),
            is_distinct=True,
            has_specialists=True,
            everybody=_("All available text models"),
        ),
        choosing.JUDGE,
        Group(
            ("setters", "health_check", "quorum", "call_seconds", "test_seconds", "test_megabytes", *LIMIT_FIELDS),
            title=_("Advanced"),
            is_folded=True,
        ),
    ),
    labels={
        **choosing.LABELS,
        "cycles": _("Cycles"),
        "setters": _("Who sets problems"),
        "topic": _("Topic"),
        "health_check": _("Check every model first"),
        "quorum": _("Votes needed for a rating (quorum)"),
        "call_seconds": _("Seconds per answer"),
        "test_seconds": _("Seconds per test"),
        "test_megabytes": _("Memory per test, MiB"),
    },
    hints={
        **choosing.HINTS,
        "title": _("Empty: the topic."),
        "cycles": _("In each cycle one problem is set, solved and judged."),
        "topic": _("The kind of problem, such as “graphs” or “parsing log lines”. Empty: the setter chooses."),
        "health_check": _(
            "Models that are rate limited or fail are left out, with the reason. Rate-limited ones are asked "
            "again before the next cycle."
        ),
        "quorum": _("A solution with fewer votes is not rated in this cycle. It never counts as 0."),
    },
    examples={
        "topic": (
            Example(_("Graphs"), _("shortest paths and cycles in graphs")),
            Example(_("Log lines"), _("parsing and summarizing log lines")),
            Example(_("Calendars"), _("dates, time zones and calendars")),
        )
    },
    choices={
        "setters": {
            "auto": _("in turn if the cycles divide evenly"),
            "in_turn": _("in turn"),
            "random": _("drawn by the seed"),
        }
    },
    offered=(choosing.FIELD,),
    fill=choosing.fill,
    asked=choosing.asked,
    context=setup.context,
    remarks=setup.remarks,
    style="workflows/coding/coding.css",
)

SURFACE = Surface(
    name=_("Coding"),
    description=_(
        "One model sets a problem, all solve it, a sandbox runs every solution against the tests, and all "
        "models judge the others' solutions. The votes give the ratings."
    ),
    purpose=_("Models set programming problems, solve them in a sandbox, and are rated."),
    icon='<path d="M5 4 1.5 8 5 12M11 4l3.5 4L11 12M9.2 2.5l-2.4 11"/>',
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
    no_branch=_("Contests cannot be branched. Start another one with the same models and another seed."),
    turns=_("Cycles"),
    again=_("Again with these models"),
    findings=shapes.FINDINGS,
    steps_of_log=importing.contest,
    parsed=shapes.PARSED,
    told=Told(
        finding=report.finding,
        settings=report.settings,
        turn=_("Cycle %(turn)s"),
        before=lambda rows: (report.rated(rows), report.cycles(rows)),
        has_talk=False,
        is_judged=False,
        table=files.table,
    ),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "Assumes 60 tokens a second, models in parallel. At most: every answer at full length and asked for "
        "twice, the most expensive model sets every problem, and every problem is set twice where models take "
        "turns. Repeated calls after failures are extra."
    ),
    plan=setup.plan,
    instruments={
        "coding_solution": ReadyInstrument(
            _("Judge of a solution"),
            _("Correctness, efficiency, readability, robustness and explanation of each solution, from 0 to 10."),
            definition(),
        )
    },
)
