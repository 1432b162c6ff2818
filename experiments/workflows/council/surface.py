"""What people meet of a council."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from experiments.library.instruments import choosing
from experiments.setup import script
from experiments.workflows.base.dry_run import Assumptions, Path
from experiments.workflows.base.steps import Ask
from experiments.workflows.base.surface import (
    LIMIT_FIELDS,
    Example,
    Group,
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
    typical={"reply": 350, "review": 300, "repair": 60, "conclusion": 450, "title": 20, "judge": 400}, dearest=_dearest
)


def _ballot(data: Mapping[str, Any]) -> str:
    """The ballot shows with the review it was read from, where there is one."""
    message = data["message"]
    return f"message-{message['id']}" if message else f"ballot-{data['ballot']['id']}"


PARAMS = ("temperature", "top_p", "max_tokens", "served_by")
EXAMPLES = (
    Example(
        _("Weigh a decision"),
        _("A city of 300,000 can afford free buses or a network of cycle lanes. Which should it build first, and why?"),
    ),
    Example(
        _("Explain a finding"),
        _("Why do most published effects shrink when a study is repeated? Name the three most important causes."),
    ),
    Example(
        _("Estimate a number"),
        _("How many piano tuners work in Berlin? Show the estimate step by step and give a range."),
    ),
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
            params=PARAMS,
        ),
        Seats(
            (SeatForm("chair", _("Chair"), params=PARAMS),),
            title=_("Chair"),
            is_beside=True,
            is_list=True,
        ),
        Seats(
            (
                SeatForm("chair-2", _("If the chair fails"), nobody=_("none"), is_usual=True),
                SeatForm("chair-3", _("If that one fails, too"), nobody=_("none")),
            ),
            title=_("Fallback chairs"),
            is_folded=True,
        ),
        Seats(
            (SeatForm("title", _("Model for the title"), nobody=_("the chair's model"), needs="find_title"),),
            title=_("Generate a title"),
            is_folded=True,
        ),
        script.script_group(
            _(
                "Further questions, asked in order after each conclusion. One whose condition on the conclusion does "
                "not hold is left out. Afterwards you can still ask your own."
            )
        ),
        choosing.JUDGE,
        Group(
            ("system_prompt", "criteria", "own_answers", "truncated", "max_turns", *LIMIT_FIELDS),
            title=_("Advanced"),
            is_folded=True,
        ),
    ),
    labels={
        **choosing.LABELS,
        **script.LABELS,
        "question": _("Question"),
        "find_title": _("Generate a title"),
        "criteria": _("Ranking criteria"),
        "own_answers": _("Own answers"),
        "truncated": _("Answers cut off at the token limit"),
        "max_turns": _("Max questions"),
    },
    hints={
        **choosing.HINTS,
        "question": _("Enter starts the run, Shift+Enter begins a new line."),
        "title": _("Empty: one is generated with the first question."),
        "criteria": _("What reviewers rank by, such as “completeness before style”. Empty: the usual ones."),
        "system_prompt": _("What every member is told before the question. Empty: no system message."),
    },
    choices={
        **script.CHOICES,
        "own_answers": {
            "excluded": _("reviewers do not rank their own answer"),
            "included": _("reviewers rank their own answer, too"),
        },
        "truncated": {"eligible": _("take part in the ranking"), "left_out": _("are excluded from the ranking")},
    },
    examples={"question": EXAMPLES},
    renamed={"title": "find_title"},
    offered=(choosing.FIELD,),
    fill=choosing.fill,
    asked=choosing.asked,
    main="question",
    starts_on_enter=True,
    of_preset=("system_prompt", "criteria", "own_answers", "truncated"),
    style="workflows/council/council.css",
)

SURFACE = Surface(
    name=_("Council"),
    description=_(
        "Every member answers alone. Then each ranks the others' answers without knowing the authors, and the "
        "chair concludes."
    ),
    purpose=_("Several models answer, rank each other without names, and a chair concludes."),
    icon='<circle cx="8" cy="8" r="2"/><path d="M8 1.5v2M14 6l-1.9.6M11.7 13l-1.2-1.6M4.3 13l1.2-1.6M2 6l1.9.6"/>',
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
        finding=report.finding,
        settings=report.settings,
        title=_("Transcript of the council"),
        turn=_("Question %(turn)s"),
        stage=report.stage_of,
    ),
    assumptions=ASSUMPTIONS,
    plan=script.plan,
    assumed=_(
        "For one question and those of a script. Assumes answers of 350 tokens, 60 tokens a second, members in "
        "parallel. At most: "
        "every answer at full length and empty at first, so that it is asked for again with more tokens, every "
        "ballot asked for twice, and every chair in turn."
    ),
)
