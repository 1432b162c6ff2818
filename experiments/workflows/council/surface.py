"""What people meet of a council."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from experiments.library.search.query import mark
from experiments.library.search.runs import said_or_set_up
from experiments.models.labels import short_name
from experiments.workflows.base.dry_run import Assumptions, Path
from experiments.workflows.base.steps import Ask
from experiments.workflows.base.surface import (
    LIMIT_FIELDS,
    Column,
    Group,
    RunList,
    SeatForm,
    SeatRows,
    Seats,
    Setup,
    Surface,
    Told,
)
from experiments.workflows.council import rows
from experiments.workflows.council.config import LEAST_MEMBERS, MOST_MEMBERS
from experiments.workflows.council.pages import pages, report


def _dearest(config: Any, ask: Ask, earlier: int) -> Path:
    """Every answer is nothing but reasoning at first and is asked for again with more room, no ranking can be read
    before it is repaired, and every chair fails at the end of its conclusion.
    """
    if ask.purpose == "reply":
        return Path.EMPTY if earlier == 0 else Path.READ
    return {"review": Path.UNREAD, "conclusion": Path.FAILED}.get(ask.purpose, Path.READ)


ASSUMPTIONS = Assumptions(
    typical={"reply": 350, "review": 300, "repair": 60, "conclusion": 450, "title": 20}, dearest=_dearest
)


def _ballot(data: Mapping[str, Any]) -> str:
    """The ballot shows with the review it was read from, where there is one."""
    message = data["message"]
    return f"message-{message['id']}" if message else f"ballot-{data['ballot']['id']}"


def _search(text: str) -> Q:
    return said_or_set_up(text, mark("workflow", "council"), said_by=mark("seat", "person"))


def _sign(seat: str, label: str) -> tuple[str, str] | None:
    return (seat.rpartition("-")[2], short_name(label)) if seat.startswith("member-") else None


COUNCILS = RunList(
    name="councils",
    title=_("Your councils"),
    find=_("Find councils"),
    searched=_("Title or question"),
    run=_("Council"),
    begun=_("Asked"),
    none=_("You have no councils yet. The demo models need no key."),
    no_fit=_("No council matches."),
    show_all=_("Show all councils"),
    search=_search,
    sign=_sign,
    columns=(Column(_("Questions")),),
)

SETUP = Setup(
    title=_("Ask a council"),
    parts=(
        Group(("question",)),
        SeatRows(
            "members",
            "member",
            least=LEAST_MEMBERS,
            most=MOST_MEMBERS,
            title=_("Members"),
            row=_("Member"),
            add=_("Add a member"),
            too_few=_("A council needs at least two members. Choose their models."),
            hint=_("Two to thirty; the same model may occur twice. Rows without a model are left out."),
            params=("temperature", "max_tokens"),
        ),
        Seats(
            (
                SeatForm("chair", _("Chair"), params=("temperature", "max_tokens")),
                SeatForm("chair-2", _("If the chair fails"), nobody=_("none"), is_usual=True),
                SeatForm("chair-3", _("If that one fails, too"), nobody=_("none")),
            ),
            title=_("Chair"),
            is_beside=True,
            is_list=True,
        ),
        Seats(
            (SeatForm("title", _("Model for the title"), nobody=_("the chair's model"), needs="find_title"),),
            title=_("Generate a title"),
            is_folded=True,
        ),
        Group(
            ("system_prompt", "own_answers", "truncated", "max_turns", *LIMIT_FIELDS),
            title=_("Advanced"),
            is_folded=True,
        ),
    ),
    labels={
        "question": _("Question"),
        "find_title": _("Generate a title"),
        "own_answers": _("Own answers"),
        "truncated": _("Answers cut off at the token limit"),
        "max_turns": _("Max questions"),
    },
    hints={
        "question": _("Enter starts the run, Shift+Enter begins a new line."),
        "title": _("Empty: one is generated with the first question."),
        "system_prompt": _("What every member is told before the question. Empty: no system message."),
    },
    choices={
        "own_answers": {
            "excluded": _("reviewers do not rank their own answer"),
            "included": _("reviewers rank their own answer, too"),
        },
        "truncated": {"eligible": _("take part in the ranking"), "left_out": _("are excluded from the ranking")},
    },
    renamed={"title": "find_title"},
    main="question",
    starts_on_enter=True,
    of_preset=("system_prompt", "own_answers", "truncated"),
    runs=COUNCILS,
    style="workflows/council/council.css",
)

SURFACE = Surface(
    name=_("Council"),
    description=_(
        "Every member answers alone. Then each ranks the others' answers without knowing the authors, and the "
        "chair concludes."
    ),
    setup=SETUP,
    formats="experiments.workflows.council.pages.importing",
    home="council",
    urls="experiments.workflows.council.pages.views",
    api_urls="experiments.workflows.council.pages.ranking_api",
    entries={
        "ballot_read": _ballot,
        "ballots_counted": "count-{turn}-{count}",
        "concluded_by_rank": "concluded-{key}",
    },
    slot=pages.slot_of,
    context=pages.context,
    styles=("workflows/council/council.css",),
    script="workflows/council/run.js",
    again=_("Run again"),
    findings=rows.FINDINGS,
    told=Told(
        settings=report.settings,
        title=_("Transcript of the council"),
        turn=_("Question %(turn)s"),
        stage=report.stage_of,
    ),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "For one question. Assumes answers of 350 tokens, 60 tokens a second, members in parallel. At most: "
        "every answer at full length and empty at first, so that it is asked for again with more tokens, every "
        "ballot asked for twice, and every chair in turn."
    ),
)
