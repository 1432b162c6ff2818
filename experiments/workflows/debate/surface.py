"""What people meet of a debate."""

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from experiments.library.instruments import choosing
from experiments.setup import script
from experiments.setup.forms import DeclaredForm
from experiments.workflows.base import dry_run
from experiments.workflows.base.dry_run import Assumptions, Path, as_set_up
from experiments.workflows.base.steps import Ask, Listen, Outcome
from experiments.workflows.base.surface import (
    LIMITS,
    Asked,
    Example,
    Group,
    SeatForm,
    Seats,
    Setup,
    Surface,
    Told,
)
from experiments.workflows.debate.config import POOL, Config
from experiments.workflows.debate.pages import board, report

SPEAKERS = {
    "A": _("Solution"),
    "B": _("Sceptic"),
    "C": _("Feasibility"),
    "refiner": _("Refiner"),
    "summarizer": _("Summarizer"),
}


def _answer(ask: Ask, tokens: int, at_most: bool) -> str | None:
    """A debater makes one point as long as all of them are, for the others are shown the points."""
    if ask.role != "debater":
        return None
    points = [{"id": "p1", "contents": dry_run.mark(tokens)}]
    return json.dumps({"speaker": ask.seat, "new_perspectives": points, "counterpoints": []}, ensure_ascii=False)


def _said(config: Config, pause: Listen, at_most: bool) -> Outcome | None:
    """At most a second round is asked for, where a person may."""
    if at_most and config.mode == "manual" and pause.reason == "after_round" and "round" in pause.actions:
        return Outcome(text=pause.default, action="round")
    return as_set_up(config, pause, at_most)


def _dearest(config: Any, ask: Ask, earlier: int) -> Path:
    """No answer can be read before it is given again: a failure would leave less to be shown to the others."""
    return Path.READ if ask.purpose == "repair" else Path.UNREAD


ASSUMPTIONS = Assumptions(
    typical={"refinement": 350, "reply": 450, "summary": 450, "repair": 450, "judge": 400},
    answer=_answer,
    said=_said,
    dearest=_dearest,
)


ROLES = ("refiner", "debater", "summarizer")


def context(request: HttpRequest) -> dict[str, object]:
    """token_limits: the most tokens that an answer of each role may have, as the server has set it."""
    return {"token_limits": {role: min(settings.ROLE_TOKENS[role], settings.ROLE_TOKENS_CAP) for role in ROLES}}


def asked(form: DeclaredForm, asked: Asked) -> Asked:
    """The pool is seated from its first place on, whichever of its fields were filled in; and with the instrument."""
    seats, refine = asked["cast"], form.cleaned_data["refine"]
    kept = {seat: one for seat, one in seats.items() if seat not in POOL and (seat != "refiner" or refine)}
    pool = zip(POOL, (seats[seat] for seat in POOL if seat in seats), strict=False)
    return choosing.asked(form, {**asked, "cast": kept | dict(pool)})


POOL_LABELS = (
    _("Pool model 1"),
    _("Pool model 2"),
    _("Pool model 3"),
    _("Pool model 4"),
    _("Pool model 5"),
)

EXAMPLES = (
    Example(_("Four-day week"), _("Should our company of 80 people try a four-day week for six months?")),
    Example(_("Open data"), _("Should a research group publish its raw data with the first article that uses them?")),
    Example(
        _("Rewrite or repair"),
        _("A team of six has an old system that works and is hard to change. Should it be rewritten or repaired?"),
    ),
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
        Group(("mode",)),
        Group(("rounds", "addendum"), when=("mode", "automatic")),
        Seats(
            (
                SeatForm(
                    "refiner",
                    _("Refiner"),
                    _(
                        "States what the request aims at and what is open, and asks up to three questions. You "
                        "edit the final prompt."
                    ),
                    needs="refine",
                ),
                SeatForm(
                    "summarizer",
                    _("Summarizer"),
                    _("Recommends and discourages; each action names the points it rests on."),
                ),
            ),
            title=_("Refiner and summarizer"),
            is_folded=True,
        ),
        script.script_group(
            _(
                "Your words after each round, in order, in the place of an addendum. Words whose condition on what the "
                "debaters said in the round does not hold are left out."
            )
        ),
        Group(("blind", "rotate"), title=_("Order of speaking"), is_folded=True),
        Seats(
            tuple(SeatForm(seat, label, nobody=_("none")) for seat, label in zip(POOL, POOL_LABELS, strict=True)),
            title=_("Pool"),
            hint=_(
                "If a model is rate limited, the next one of the pool answers instead. The page says which one did."
            ),
            is_folded=True,
        ),
        choosing.JUDGE,
        LIMITS,
    ),
    labels={
        **choosing.LABELS,
        **script.LABELS,
        "prompt": _("Topic of the debate"),
        "refine": _("Refine the request first"),
        "rounds": _("Rounds"),
        "addendum": _("Addendum for the second round"),
        "blind": _("Blind first round"),
        "rotate": _("Rotating order"),
    },
    hints={
        **choosing.HINTS,
        "prompt": _("Answers are in the language of your request."),
        "mode": _("Manual: you edit the final prompt, and decide after each round how the debate continues."),
        "blind": _("The debaters do not see each other's points before the second round."),
        "rotate": _("The second round begins with another debater, so that the last word changes."),
        "addendum": _("What the debaters are told between the rounds."),
    },
    choices={
        **script.CHOICES,
        "mode": {"manual": _("Manual"), "automatic": _("Automatic")},
        "rounds": {1: _("one"), 2: _("two")},
    },
    examples={"prompt": EXAMPLES},
    main="prompt",
    offered=(choosing.FIELD,),
    fill=choosing.fill,
    asked=asked,
    note="workflows/debate/_token_limits.html",
    context=context,
    style="workflows/debate/debate.css",
)

SURFACE = Surface(
    name=_("Debate"),
    description=_(
        "A refiner makes a clear task of your request. Three models debate it in turn. A summary recommends "
        "and discourages actions, with the points they rest on."
    ),
    purpose=_("Three models debate your request, and a summary recommends what to do."),
    icon='<path d="M2.5 2.5h11v2.5h-11zM2.5 6.8h8v2.5h-8zM2.5 11h11v2.5h-11z"/>',
    setup=SETUP,
    formats="experiments.workflows.debate.pages.importing",
    home="debate",
    seats=SPEAKERS,
    slot=board.place_of,
    context=lambda reader, run, entries: {"board": board.board(run, list(entries))},
    styles=("workflows/debate/debate.css",),
    script="workflows/debate/run.js",
    again=_("Run again"),
    parsed=report.PARSED,
    told=Told(
        finding=report.finding,
        settings=report.settings,
        title=_("Debate log"),
        turn=_("Round %(turn)s"),
        parts=report.PARTS,
        stage=report.stage_of,
    ),
    assumptions=ASSUMPTIONS,
    plan=script.plan,
    assumed=_(
        "Assumes answers of 450 tokens, 60 tokens a second, without time for your pauses. At most: every "
        "answer at full length and repaired once, and a second round if you may start one."
    ),
)
