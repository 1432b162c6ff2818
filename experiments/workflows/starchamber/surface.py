"""What people meet of StarChamber."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from experiments.library.builtin import CUSTOM, DEFAULT
from experiments.library.instruments import choosing
from experiments.library.presets import chosen_context, presets_for
from experiments.models import ProviderModel
from experiments.setup import script
from experiments.setup.forms import DeclaredForm
from experiments.workflows.base.dry_run import Assumptions, mark
from experiments.workflows.base.steps import Listen, Outcome
from experiments.workflows.base.surface import (
    LIMIT_FIELDS,
    Asked,
    Example,
    Group,
    SeatForm,
    Seats,
    Setup,
    Surface,
    Text,
    Told,
)
from experiments.workflows.starchamber import DEFAULT_PARAMS
from experiments.workflows.starchamber.pages import report, views

QUESTION = mark(60)


def _said(config: Any, pause: Listen, at_most: bool) -> Outcome | None:
    """The researcher asks on until the last turn, and gives up when there is no answer."""
    return Outcome(text=QUESTION, action="send") if pause.reason == "your_turn" else None


ASSUMPTIONS = Assumptions(typical={"reply": 350, "judge": 400}, said=_said)


def initial(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, object]:
    """The default context, or the preset that the address names (`?preset=`); that of what is set up again."""
    offered = {choice.id: choice.context for choice in presets_for(request.user)}
    if "context" in values:
        return {"preset": values["preset"] if values["preset"] in offered else CUSTOM}
    chosen = request.GET.get("preset", "")
    preset = chosen if chosen in offered else DEFAULT
    return {"preset": preset, "context": offered[preset]}


def asked(form: DeclaredForm, asked: Asked) -> Asked:
    """With the preset that the text in the form is, and the instrument of the judge."""
    chosen = chosen_context(form.reader, asked["config"]["preset"], asked["config"]["context"])
    config = {**asked["config"], "preset": chosen.preset, "context": chosen.context}
    return choosing.asked(form, {**asked, "config": config})


def context(request: HttpRequest) -> dict[str, object]:
    return {"contexts": presets_for(request.user)}


def saved(user: Any) -> dict[str, Mapping[str, Any]]:
    return {one.label: {"context": one.context, "preset": one.id} for one in presets_for(user)}


def remarks(form: DeclaredForm) -> Iterator[Text]:
    model = ProviderModel.objects.available().filter(slug=form["seat-model-model"].value() or "").first()
    if model and form["logprobs"].value() and not model.accepts.logprobs:
        yield _("This model does not provide token probabilities.")


EXAMPLES = (
    Example(
        _("Ask how sure it is"),
        _("Which is larger, the number of trees on Earth or of stars in the Milky Way? Say how sure you are, and why."),
    ),
    Example(
        _("Ask for an objection"),
        _("Is it ever right to break a promise? Answer in one paragraph, then state the strongest objection to it."),
    ),
    Example(
        _("Probe its limits"),
        _("Which kinds of requests do you decline, and how do you decide? Describe one borderline case."),
    ),
)
MODEL = SeatForm(
    "model",
    _("Model"),
    params=("temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "served_by"),
    fields=("logprobs",),
)
JUDGE = SeatForm(
    "judge",
    _("Judge"),
    _(
        "Scores each answer in the background: seven sentiments, deviation from the context, cooperation, or what you "
        "choose. You do not have to wait for it."
    ),
    nobody=choosing.NOBODY,
    needs="judge",
    fields=("instrument-version", "judge_sees_reasoning", "judge_seconds"),
    is_tool=True,
)

SETUP = Setup(
    title=_("New StarChamber run"),
    parts=(
        Group(("first_message",)),
        Group(("preset", "context"), title=_("System context"), is_folded=True, template="library/_preset_picker.html"),
        Seats((MODEL,), is_beside=True),
        script.script_group(
            _(
                "Your further messages, sent in order after each answer without waiting for you. A message whose "
                "condition does not hold is left out."
            )
        ),
        Seats((JUDGE,), title=_("Scores"), is_folded=True),
        Group(("persona", "max_turns", *LIMIT_FIELDS), title=_("Advanced"), is_folded=True),
    ),
    labels={
        **choosing.LABELS,
        **script.LABELS,
        "context": _("What the model is told"),
        "first_message": _("First message"),
        "persona": _("Your name in the transcript"),
        "judge": _("Score every answer"),
        "logprobs": _("Token probabilities"),
    },
    hints={
        **choosing.HINTS,
        "first_message": _("Ctrl+Enter starts the run."),
        "persona": _("Shown on the page and in reports. The model is not told."),
        "title": _("Empty: the beginning of the first message."),
        "logprobs": _("Each token of an answer with its probability and the likeliest others."),
    },
    choices=script.CHOICES,
    examples={"first_message": EXAMPLES},
    main="first_message",
    usual=DEFAULT_PARAMS,
    links=((_("System contexts"), "presets"),),
    offered=(choosing.FIELD,),
    fill=choosing.fill,
    initial=initial,
    asked=asked,
    context=context,
    remarks=remarks,
    saved=saved,
    saved_label=_("Saved system context"),
    style="library.css",
    script="presets.js",
)

SURFACE = Surface(
    name="StarChamber",
    description=_("You question one model. It gets the context below and your words, nothing else."),
    purpose=_("Question one model and see how sure it was of each word."),
    icon='<circle cx="8" cy="5" r="2.5"/><path d="M2.5 13c.6-3 2.7-4.5 5.5-4.5s4.9 1.5 5.5 4.5M8 1v.5"/>',
    setup=SETUP,
    formats="experiments.workflows.starchamber.pages.importing",
    home="starchamber",
    urls="experiments.workflows.starchamber.pages.views",
    context=views.page_context,
    styles=("tokens.css",),
    script="workflows/starchamber/run.js",
    told=Told(settings=report.settings, title=_("Interview log")),
    assumptions=ASSUMPTIONS,
    plan=script.plan,
    assumed=_(
        "Assumes questions of 60 tokens, answers of 350, 60 tokens a second, without time for your questions. "
        "At most: every answer at full length."
    ),
)
