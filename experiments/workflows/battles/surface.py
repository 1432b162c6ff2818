"""What people meet of battles."""

from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from experiments.models.labels import prompt_words
from experiments.workflows.base.dry_run import Assumptions, Path
from experiments.workflows.base.steps import Ask
from experiments.workflows.base.surface import (
    LIMIT_FIELDS,
    Group,
    ReadyInstrument,
    SeatForm,
    Seats,
    Setup,
    Surface,
    Told,
)
from experiments.workflows.battles.campaign.estimates import plan_of_battles
from experiments.workflows.battles.config import JUDGES, MIRRORS
from experiments.workflows.battles.instruments import definition_of
from experiments.workflows.battles.pages import report, setup, views
from experiments.workflows.battles.prompts import PROMPTS

FURTHER = (_("Second judge"), _("Third judge"), _("Fourth judge"))
ENDPOINTS = (_("Further endpoint 1"), _("Further endpoint 2"), _("Further endpoint 3"), _("Further endpoint 4"))


def _dearest(config: Any, ask: Ask, earlier: int) -> Path:
    """No verdict can be read, however often it is asked for, and every endpoint but the last fails each time."""
    has_others = ask.patience is not None
    return Path.FAILED if has_others else Path.UNREAD


def _seats(seats: tuple[str, ...], labels: tuple[Any, ...], title: Any, hint: Any) -> Seats:
    forms = (SeatForm(seat, label, nobody=_("none"), is_tool=True) for seat, label in zip(seats, labels, strict=True))
    return Seats(tuple(forms), title=title, hint=hint, is_folded=True)


PLAN = (
    Group(("sampling-plan",)),
    Group(
        (),
        hint=_("Nothing is left out. The most expensive plan, and it settles every pair."),
        when=("sampling-plan", "all"),
    ),
    Group(
        ("sampling-per_pair",),
        hint=_("Each pair is compared on samples drawn by the seed. The cost is known in advance."),
        when=("sampling-plan", "sample"),
    ),
    Group(
        ("sampling-target_width", "sampling-min_per_pair", "sampling-max_per_pair", "sampling-batch"),
        hint=_(
            "Battles are added in rounds, only for contestants whose rating is not precise enough, until every "
            "interval (95 %) is as narrow as you set. The cheapest plan if contestants differ much."
        ),
        when=("sampling-plan", "adaptive"),
    ),
)

SETUP = Setup(
    title=_("Battles"),
    parts=(
        Group(("dataset", "subsets"), template="workflows/battles/_dataset.html"),
        Group(("contestants",), template="workflows/battles/_contestants.html"),
        *PLAN,
        Seats(
            (SeatForm("judge", _("Judge"), params=("temperature", "max_tokens", "served_by"), is_tool=True),),
            title=_("Judge"),
            is_beside=True,
        ),
        Group((), template="workflows/battles/_not_listed.html", is_beside=True),
        Group(("prompt",), template="workflows/battles/_prompts.html", is_beside=True),
        _seats(
            JUDGES[1:],
            FURTHER,
            _("Further judges"),
            _("Each one judges every battle, too, and has a board of its own."),
        ),
        _seats(
            MIRRORS,
            ENDPOINTS,
            _("Further endpoints of the judge"),
            _(
                "The same model at other providers or servers. Calls are shared among them, and an overloaded "
                "one is skipped."
            ),
        ),
        Group(LIMIT_FIELDS, is_folded=True),
        Group(("version", "pairs", "calls", "side_by_side", "attempts"), title=_("Advanced"), is_folded=True),
    ),
    labels={
        "dataset": _("Dataset"),
        "subsets": _("Subsets"),
        "contestants": _("Contestants"),
        "prompt": _("Judge prompt"),
        "version": _("Version"),
        "pairs": _("Pairs to compare"),
        "calls": _("The two orders"),
        "side_by_side": _("Battles at once, per run"),
        "attempts": _("Retries for an unreadable verdict"),
        "sampling-plan": _("How many battles"),
        "sampling-per_pair": _("Samples per pair"),
        "sampling-target_width": _("Width of every interval (95 %), in Elo"),
        "sampling-min_per_pair": _("Min samples per pair"),
        "sampling-max_per_pair": _("Max samples per pair"),
        "sampling-batch": _("Battles added per pair and round"),
    },
    hints={
        "title": _("Empty: made from the dataset and the prompt."),
        "version": _("A name and a date, such as spring_20260301. It marks this round in the history of the ratings."),
        "sampling-target_width": _("15 means ±7.5 Elo."),
    },
    choices={
        "sampling-plan": {
            "all": _("All: every pair on every sample"),
            "sample": _("A number of samples per pair"),
            "adaptive": _("Until the ratings are precise enough"),
        },
        "pairs": {
            "all": _("all pairs"),
            "new": _("only pairs with a contestant that is new in this version"),
        },
        "calls": {
            "parallel": _("both orders at the same time"),
            "sequential": _("one order after the other"),
        },
    },
    offered=("dataset", "subsets", "contestants", "prompt"),
    fill=setup.fill,
    refill=setup.refill,
    instead=setup.instead,
    initial=setup.initial,
    asked=setup.asked,
    below="workflows/battles/_campaigns.html",
    context=views.listed,
    style="workflows/battles/campaign.css",
    script="workflows/battles/setup.js",
)

SURFACE = Surface(
    name=_("Battles"),
    description=_(
        "A judge compares the outputs of two contestants on the same sample, in both orders. If it prefers the "
        "same one both times, that one wins; otherwise the battle is a tie and the judge inconsistent. All "
        "battles together give the ratings."
    ),
    purpose=_("A judge compares the outputs of contestants on a dataset and rates them."),
    icon='<path d="M2.5 3h4v10h-4zM9.5 3h4v10h-4zM8 2v12"/>',
    setup=SETUP,
    page=views.campaign,
    formats="experiments.workflows.battles.campaign.logs.importing",
    home="battles",
    urls="experiments.workflows.battles.pages.urls",
    api_urls="experiments.workflows.battles.pages.api",
    entries={"battle_judged": "battle-{battle}"},
    unseen=(("verdict", ""),),
    styles=("workflows/battles/campaign.css",),
    told=Told(settings=lambda rows: (), log=report.battles, table=report.battle_lines, is_judged=False),
    assumptions=Assumptions(typical={"verdict": 300}, dearest=_dearest),
    assumed=_(
        "Assumes verdicts of 300 tokens, 60 tokens a second. At most: every verdict at full length, and "
        "retried as often as allowed."
    ),
    plan=plan_of_battles,
    instruments={
        f"battle_{name}": ReadyInstrument(
            format_lazy("{}: {}", _("Judge of battles"), prompt_words(one.title)),
            prompt_words(one.description),
            definition_of(one),
            reads_runs="text" in one.modalities,
        )
        for name, one in PROMPTS.items()
    },
)
