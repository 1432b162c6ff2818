"""What people meet of StarChamber."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import LIMIT_FIELDS, Group, SeatForm, Seats, Setup, Surface, Told
from experiments.workflows.starchamber import DEFAULT_PARAMS
from experiments.workflows.starchamber.assumptions import ASSUMPTIONS
from experiments.workflows.starchamber.pages import pages, report, setup

MODEL = SeatForm(
    "model",
    _("Model"),
    params=("temperature", "top_p", "max_tokens", "seed", "reasoning_effort"),
    fields=("logprobs",),
)
JUDGE = SeatForm(
    "judge",
    _("Judge"),
    _(
        "Scores each answer in the background: seven sentiments, deviation from the context, cooperation. You need not"
        " wait for it."
    ),
    nobody=_("the lab's choice"),
    needs="judge",
    fields=("judge_sees_reasoning", "judge_seconds"),
    is_tool=True,
)

SETUP = Setup(
    title=_("New StarChamber talk"),
    parts=(
        Group(("preset", "context"), template="library/_preset_picker.html"),
        Group(("first_message",)),
        Group(("persona",)),
        Seats((MODEL, JUDGE), title=_("Model and judge"), is_beside=True),
        Group(("max_turns", *LIMIT_FIELDS), is_folded=True),
    ),
    labels={
        "context": _("What the model is told"),
        "first_message": _("First message"),
        "persona": _("Your name in the talk"),
        "judge": _("Judge"),
        "logprobs": _("Token probabilities"),
    },
    hints={
        "first_message": _("You open the talk. Ctrl+Enter starts it."),
        "persona": _("Stands on the page and in reports. The model is not told."),
        "title": _("Empty: the beginning of the first message."),
        "logprobs": _("Each token of an answer with its probability and the likeliest others."),
    },
    main="first_message",
    usual=DEFAULT_PARAMS,
    links=((_("System contexts"), "presets"),),
    initial=setup.initial,
    asked=setup.asked,
    context=setup.context,
    remarks=setup.remarks,
    style="library.css",
    script="presets.js",
)

SURFACE = Surface(
    name="StarChamber",
    description=_("You question one model. It gets the context below and your words, and nothing else."),
    setup=SETUP,
    formats="experiments.workflows.starchamber.pages.importing",
    home="starchamber",
    urls="experiments.workflows.starchamber.pages.urls",
    context=pages.context,
    styles=("workflows/starchamber/tokens.css",),
    script="workflows/starchamber/run.js",
    told=Told(settings=report.settings, title=_("Interview log")),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "Assumed: questions of 60 tokens, answers of 350, 60 tokens a second, no time for your questions. At most:"
        " every answer as long as it may be."
    ),
)
