"""What people meet of a debate."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import LIMITS, Group, SeatForm, Seats, Setup, Surface, Told
from experiments.workflows.debate.assumptions import ASSUMPTIONS
from experiments.workflows.debate.config import POOL
from experiments.workflows.debate.pages import board, report, setup, shapes
from experiments.workflows.debate.pages.listing import DEBATES

POOL_LABELS = (
    _("First of the pool"),
    _("Second of the pool"),
    _("Third of the pool"),
    _("Fourth of the pool"),
    _("Fifth of the pool"),
)

SETUP = Setup(
    title=_("New debate"),
    parts=(
        Group(("prompt",)),
        Seats(
            (
                SeatForm("A", _("A · Solution"), _("Designs a way: steps, means, what it takes.")),
                SeatForm("B", _("B · Sceptic"), _("Looks for counter-examples, hidden costs and ways to fail.")),
                SeatForm("C", _("C · Feasibility"), _("Weighs what is practical: time, dependencies, upkeep.")),
            ),
            title=_("Debaters"),
        ),
        Seats(
            (
                SeatForm(
                    "refiner",
                    _("Refiner"),
                    _(
                        "Says what the request aims at and what it leaves open, and asks up to three questions. You"
                        " edit the final prompt."
                    ),
                    needs="refine",
                ),
                SeatForm(
                    "summarizer",
                    _("Summarizer"),
                    _("Recommends and discourages; each piece of advice names the points that it rests on."),
                ),
            )
        ),
        Group(("mode", "blind", "rotate")),
        Group(("rounds", "addendum"), when=("mode", "automatic")),
        Seats(
            tuple(SeatForm(seat, label, nobody=_("nobody")) for seat, label in zip(POOL, POOL_LABELS, strict=True)),
            title=_("Pool"),
            hint=_("When a model is rate limited, the next one of the pool answers in its place. It is shown who did."),
            is_folded=True,
        ),
        LIMITS,
    ),
    labels={
        "prompt": _("What is to be debated"),
        "rounds": _("Rounds"),
        "addendum": _("Addendum for the second round"),
        "blind": _("Blind first round"),
        "rotate": _("Rotating order"),
    },
    hints={
        "prompt": _("The answers come in the language of your request."),
        "mode": _(
            "Manual: the debate waits for your final prompt, and after the first round for your addendum and a second"
            " round, or the summary. Automatic: it goes through by itself."
        ),
        "blind": _("Nobody sees the others' points before the second round."),
        "rotate": _(
            "The second round begins with another debater, so that the same one does not always have the last word."
        ),
        "addendum": _("What the debaters are told between the rounds."),
    },
    choices={
        "mode": {"manual": _("Manual"), "automatic": _("Automatic")},
        "rounds": {1: _("one"), 2: _("two")},
    },
    main="prompt",
    asked=setup.asked,
    note="workflows/debate/_token_limits.html",
    runs=DEBATES,
    context=setup.context,
    style="workflows/debate/debate.css",
)

SURFACE = Surface(
    name=_("Debate"),
    description=_(
        "A refiner makes a clear task of your request. Three models debate it, one after the other. A summary says what"
        " to do and what to leave, and which points that rests on."
    ),
    setup=SETUP,
    formats="experiments.workflows.debate.pages.importing",
    home="debate",
    slot=board.place_of,
    context=lambda reader, run, entries: {"board": board.board(run, list(entries))},
    styles=("workflows/debate/debate.css",),
    script="workflows/debate/run.js",
    again=_("Run again"),
    parsed=shapes.PARSED,
    told=Told(settings=report.settings, title=_("Debate log"), turn=_("Round %(turn)s"), stage=report.stage_of),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "Assumed: answers of 450 tokens, 60 tokens a second, no time for your pauses. At most: every answer as long as"
        " it may be and put right once, and a second round if you may start one."
    ),
)
