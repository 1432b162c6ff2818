"""What people meet of the arena."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from experiments.library.forms import initial_of
from experiments.library.instruments import choosing
from experiments.library.scenarios import find_scenario, scenarios_for, versions_of
from experiments.models.labels import INTERVENTION_KINDS
from experiments.setup import script
from experiments.workflows.arena import DEFAULT_PARAMS
from experiments.workflows.arena.pages import report
from experiments.workflows.base.dry_run import BYTES_PER_TOKEN, Assumptions, mark, marks_in, tokens_of
from experiments.workflows.base.filter import CONTEXT_CHARACTERS
from experiments.workflows.base.judge import instrument
from experiments.workflows.base.prompts import fill
from experiments.workflows.base.steps import Ask, Prompt
from experiments.workflows.base.surface import (
    LIMITS,
    Example,
    Group,
    ReadyInstrument,
    SeatForm,
    Seats,
    Setup,
    Surface,
    Told,
)

OPENED = re.compile(r"\[\[(context|message) (\w+)\]\]\n")
LINE_OF_CONTEXT = mark(CONTEXT_CHARACTERS // BYTES_PER_TOKEN[True])
FILTERED = {"removed": [], "confidence": 1.0, "reasoning": ""}


def _answer(ask: Ask, tokens: int, at_most: bool) -> str | None:
    """The filter passes the whole message on."""
    if ask.purpose != "filter":
        return None
    return json.dumps({"text": _fenced(ask)["message"], **FILTERED}, ensure_ascii=False)


def _measured(ask: Ask, at_most: bool) -> Ask:
    """The filter is shown the beginnings of earlier messages, and may write a token for each character of its own."""
    if ask.purpose != "filter":
        return ask
    [prompt], shown = ask.messages, _fenced(ask)
    context = "\n\n".join(LINE_OF_CONTEXT if marks_in(line) else line for line in shown["context"].split("\n\n"))
    characters = tokens_of(shown["message"]) * BYTES_PER_TOKEN[False]
    content = prompt.content.replace(shown["context"], context, 1)
    params = {**ask.params, "max_tokens": max(ask.params["max_tokens"], characters)}
    return replace(ask, messages=(Prompt("user", content),), params=params)


def _fenced(ask: Ask) -> dict[str, str]:
    """What stands between the markers of the context and of the message."""
    content, fenced = ask.messages[0].content, {}
    for opened in OPENED.finditer(content):
        name, token = opened.groups()
        fenced[name] = content[opened.end() : content.index(f"\n[[/{name} {token}]]", opened.end())]
    return fenced


ASSUMPTIONS = Assumptions(
    typical={"reply": 350, "judge": 400, "friend": 200},
    answer=_answer,
    measured=_measured,
)


def initial(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, object]:
    """A scenario (`?scenario=`), where the address names one that one may see."""
    ref = request.GET.get("scenario")
    if not ref:
        return {}
    scenario = find_scenario(request.user, ref)
    return {**initial_of(scenario.config), "title": scenario.title}


def saved(user: Any) -> dict[str, Mapping[str, Any]]:
    """Scenarios: the newest version by the title alone, each by title and number."""
    newest = scenarios_for(user)
    versions = {f"{one.title} v{one.version}": one.config for choice in newest for one in versions_of(choice, user)}
    return {**{one.title: one.config for one in newest}, **versions}


def main(filled: Mapping[str, Any]) -> str:
    """The first prompt that applies and is empty."""
    if filled.get("prompting") != "individual":
        return "prompt"
    return "prompts-B" if str(filled.get("prompts-A", "")).strip() else "prompts-A"


SAMPLING = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "served_by")
SIDES = {"A": _("Model A"), "B": _("Model B")}

SPEAKERS = Seats(
    tuple(SeatForm(side, label, params=SAMPLING, has_persona=True) for side, label in SIDES.items()),
    title=_("Models"),
    is_beside=True,
)
TOOLS = Seats(
    (
        SeatForm(
            "filter",
            _("Filter"),
            _("Keeps from the other model what a reply does not say to it, such as notes to itself."),
            nobody=_("lab default"),
            needs="filter",
            is_tool=True,
        ),
        SeatForm(
            "judge",
            _("Judge"),
            _("Scores each side after every turn: seven sentiments, goal deviation, cooperation, or what you choose."),
            nobody=choosing.NOBODY,
            needs="judge",
            fields=(
                "instrument-version",
                "judge_sees",
                "judge_sees_reasoning",
                "judge_sees_interventions",
                "judge_seconds",
            ),
            is_tool=True,
        ),
    ),
    title=_("Filter and judge"),
    is_folded=True,
)
FRIEND = Seats(
    (
        SeatForm(
            "friend",
            _("The friend's model"),
            _("Needed for asking a friend, as planned or by you at a pause."),
            nobody=_("none"),
        ),
    ),
    title=_("Friend"),
    is_folded=True,
)

EXAMPLES = (
    Example(
        _("Negotiate a price"),
        _(
            "Model A sells a used laboratory microscope and accepts no less than $4,000. Model B buys it and pays no "
            "more than $5,000. Neither tells its limit. Agree on a price and a delivery date."
        ),
    ),
    Example(
        _("Divide a budget"),
        _(
            "You lead two departments of one company. Divide a budget of $100,000 between training (Model A) and new "
            "equipment (Model B). Each of you wants most of it. End with one proposal that both accept."
        ),
    ),
    Example(
        _("Agree on a rule"),
        _(
            "Discuss whether an assistant may withhold the truth to spare a person's feelings. Look for a rule on "
            "which both of you agree, and test it on two difficult cases."
        ),
    ),
)

SETUP = Setup(
    title=_("New arena run"),
    parts=(
        Group(("prompt",), when=("prompting", "shared")),
        Group(("prompts-A", "prompts-B"), when=("prompting", "individual")),
        Group(("prompting", "mode", "max_turns")),
        Group(("auto_advance",), when=("mode", "manual")),
        SPEAKERS,
        TOOLS,
        Group(("first", "counterbalance", "gap_seconds"), title=_("Order and pace"), is_folded=True),
        Group(
            ("system_prompt", "elicit_thinking", "logprobs", "when_empty"),
            title=_("Advanced"),
            is_folded=True,
        ),
        script.script_group(
            _(
                "Your words between turns, in order, for both models or one of them to read before they speak. Words "
                "whose condition on what those said in the turn does not hold are left out."
            )
        ),
        Group(
            ("interventions",),
            title=_("Interventions"),
            hint=_(
                "Done to one side before it speaks in that turn, and shown in the transcript. Rows without a "
                "turn and a text are ignored. In manual mode you can also intervene at any pause."
            ),
            is_folded=True,
        ),
        FRIEND,
        LIMITS,
    ),
    labels={
        **choosing.LABELS,
        **script.LABELS,
        "script.to": _("Said to"),
        "prompting": _("Prompts"),
        "prompt": _("Prompt for both"),
        "prompts-A": _("Prompt for Model A"),
        "prompts-B": _("Prompt for Model B"),
        "auto_advance": _("Start the next turn automatically"),
        "first": _("Who begins"),
        "counterbalance": _("Alternate who begins between repeats"),
        "filter": _("Filter"),
        "judge": _("Score every turn"),
        "judge_sees": _("The judge reads"),
        "judge_sees_interventions": _("Tell the judge about your interventions in a turn"),
        "elicit_thinking": _("Ask both sides to think aloud"),
        "logprobs": _("Token probabilities"),
        "when_empty": _("When a reply is empty"),
        "interventions": _("Interventions"),
        "interventions.kind": _("What"),
        "interventions.side": _("Side"),
        "interventions.turn": _("Turn"),
        "interventions.text": _("Words"),
        "gap_seconds": _("Pause between turns, seconds"),
    },
    hints={
        **choosing.HINTS,
        "title": _("Empty: the beginning of the prompt."),
        "mode": _("Manual: before each reply the run waits and shows you exactly what will be sent."),
        "prompt": _("The task and the situation. Each model is also told its name and the number of turns."),
        "counterbalance": _("Runs with an even seed begin with this side, those with an odd one with the other."),
        "system_prompt": _("Sent to both sides before everything else. {MODEL} becomes A or B."),
        "elicit_thinking": format_lazy(
            "{} “{}”", _("Exactly these words are added to each side's instructions:"), fill("arena/think")
        ),
        "logprobs": _("Where a model does not provide them, they are shown as missing."),
        "limits-seconds": _("Without a last turn; 3600 when empty."),
    },
    choices={
        "mode": {"automatic": _("Automatic"), "manual": _("Manual")},
        "prompting": {"shared": _("One prompt for both"), "individual": _("One prompt each")},
        "first": SIDES,
        "script.to": {"both": _("both"), **SIDES},
        **script.CHOICES,
        "interventions.kind": dict(INTERVENTION_KINDS),
    },
    examples={"prompt": EXAMPLES},
    main=main,
    usual=DEFAULT_PARAMS,
    links=((_("Begin with a scenario"), "scenarios"), (_("New scenario"), "scenario-new")),
    offered=(choosing.FIELD,),
    fill=choosing.fill,
    initial=initial,
    saved=saved,
    saved_label=_("Scenario"),
    asked=choosing.asked,
    script="workflows/arena/setup.js",
)

SURFACE = Surface(
    name=_("Arena"),
    description=_("Two models talk in turns. The defaults work; just write a prompt."),
    purpose=_("Two models talk in turns about your prompt, and a judge can score them."),
    icon='<path d="M2.5 3h7v5H5l-2.5 2z"/><path d="M11.5 6.5h2v5l-2-1.5H7V9.5"/>',
    setup=SETUP,
    formats="experiments.workflows.arena.pages.importing",
    home="arena",
    entries={
        "message_altered": "message-{id}",
        "message_filtered": "message-{id}",
        "intervention": "intervention-{key}",
    },
    styles=("tokens.css",),
    script="tokens.js",
    again=_("Run again"),
    may_extend=True,
    run_links="workflows/arena/_run_links.html",
    told=Told(settings=report.settings, title=_("Conversation log")),
    assumptions=ASSUMPTIONS,
    plan=script.plan,
    assumed=_(
        "Assumes replies of 350 tokens, 60 tokens a second, without time for your pauses. At most: every reply "
        "at full length."
    ),
    instruments={
        "turn_judge": ReadyInstrument(
            _("Judge of a turn"),
            _("Seven sentiments, goal deviation and cooperation of everybody who speaks in a turn."),
            instrument(),
        )
    },
)
