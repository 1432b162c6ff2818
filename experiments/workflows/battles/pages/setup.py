"""What the set-up page of battles does beside what every set-up page does: it offers what a dataset has."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.errors import Invalid, NotFound
from experiments.models.labels import prompt_words
from experiments.setup.forms import DeclaredForm
from experiments.workflows.base.surface import Asked
from experiments.workflows.battles.config import JUDGES, MIRRORS
from experiments.workflows.battles.pages.offers import Judges, datasets, first, judges, offer
from experiments.workflows.battles.prompts import PROMPTS

OF_THE_DATASET = ("dataset", "subsets", "contestants", "prompt")  # what another dataset has others of
LEAST_CONTESTANTS = 2
OF_PLAN = {
    "all": (),
    "sample": ("per_pair",),
    "adaptive": ("target_width", "min_per_pair", "max_per_pair", "batch"),
}


def fill(form: DeclaredForm) -> None:
    """The lists of the dataset that is chosen; those of another one where it is not offered, and the form says so."""
    offered = datasets(form.reader)
    said = form.data if form.is_bound else form.initial
    chosen = offer(offered, str(said.get("dataset") or "")) or first(offered)
    able = judges(chosen.dataset.modality) if chosen else Judges((), ())
    form.found = {"offer": chosen, "blind": able.blind}
    choose(form, "dataset", [(one.slug, one.name) for one in offered], chosen.dataset.slug if chosen else "")
    tick_all(form, "subsets", [subset.name for subset in chosen.subsets] if chosen else [])
    tick_all(form, "contestants", [one.name for one in chosen.comparable] if chosen else [])
    prompts = [
        (name, prompt_words(prompt.title))
        for name, prompt in PROMPTS.items()
        if chosen and chosen.dataset.modality in prompt.modalities
    ]
    choose(form, "prompt", prompts, prompts[0][0] if prompts else "")
    models = [(model.slug, model.label) for model in able.offered]
    usual = next((model.slug for model in able.offered if model.is_default_judge), models[0][0] if models else "")
    choose(form, "seat-judge-model", models, usual)
    for seat in (*JUDGES[1:], *MIRRORS):
        choose(form, f"seat-{seat}-model", [("", _("nobody")), *models], "")


def choose(form: DeclaredForm, name: str, choices: Sequence[tuple[str, Any]], usual: str) -> None:
    field: Any = form.fields[name]
    field.choices, field.initial = choices, usual


def tick_all(form: DeclaredForm, name: str, values: Sequence[str]) -> None:
    field: Any = form.fields[name]
    field.choices, field.initial = [(value, value) for value in values], list(values)


def unless_all(form: DeclaredForm, name: str) -> list[str]:
    """What was ticked; nothing where that is everything, so that what joins later takes part, too."""
    field: Any = form.fields[name]
    ticked = list(form.cleaned_data[name])
    return [] if set(ticked) == {value for value, _label in field.choices} else ticked


def initial(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, object]:
    """`?dataset=` that one may not see is not found. Of battles set up before, lists that name nothing mean all."""
    offered = [one.slug for one in datasets(request.user)]
    if "clone" in request.GET:
        if values["dataset"] not in offered:
            messages.warning(request, _("Its dataset is not there any more: choose another one."))
            return dict.fromkeys(OF_THE_DATASET)
        return {name: values[name] or None for name in ("subsets", "contestants")}
    slug = request.GET.get("dataset")
    if slug and slug not in offered:
        raise NotFound
    return {"dataset": slug} if slug else {}


def refill(request: HttpRequest, typed: Mapping[str, Any]) -> dict[str, object] | None:
    """Another dataset is to be shown, or was chosen beside lists that belong to the one before."""
    sent = request.POST
    if "choose" not in sent:
        if sent.get("shown", sent.get("dataset")) == sent.get("dataset") or not typed["dataset"]:
            return None
        messages.info(request, _("Another dataset was chosen: look through its contestants, then start."))
    kept = {name: value for name, value in typed.items() if name not in OF_THE_DATASET}
    return {**kept, "dataset": sent.get("dataset", "")}


def instead(form: DeclaredForm) -> str:
    return "" if form.found["offer"] else "workflows/battles/_no_dataset.html"


def asked(form: DeclaredForm, asked: Asked) -> Asked:
    """Every judge is asked with the same parameters. Of the sampling, what belongs to its plan."""
    if len(form.cleaned_data["contestants"]) < LEAST_CONTESTANTS:
        words = _("Choose at least two contestants: battles are between two of them.")
        raise Invalid({"config.contestants": [words]})
    cast = asked["cast"]
    if "judge" not in cast:
        raise Invalid({"cast.judge": [_("Choose the model that judges.")]})
    sampling = asked["config"]["sampling"]
    plan = sampling.setdefault("plan", "all")
    if plan == "sample" and not sampling.get("per_pair"):
        words = _("Write how many samples each pair is compared on.")
        raise Invalid({"config.sampling.per_pair": [words]})
    config = {
        **asked["config"],
        "subsets": unless_all(form, "subsets"),
        "contestants": unless_all(form, "contestants"),
        "sampling": {name: value for name, value in sampling.items() if name in ("plan", *OF_PLAN[plan])},
    }
    params = cast["judge"]["params"]
    return {**asked, "config": config, "cast": {seat: {**one, "params": params} for seat, one in cast.items()}}
