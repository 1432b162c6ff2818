"""The set-up pages of battles and of outputs, beside what every set-up page does: they offer what a dataset has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, F
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.errors import Invalid, NotFound
from experiments.lab.catalog.menu import askable_models
from experiments.library.datasets.making import may_curate
from experiments.library.instruments.choosing import frozen, label_of, usable
from experiments.models import Dataset, InstrumentVersion, ProviderModel
from experiments.models.labels import prompt_words
from experiments.setup.forms import DeclaredForm
from experiments.workflows.base.surface import Asked
from experiments.workflows.battles.config import JUDGES, MIRRORS
from experiments.workflows.battles.instruments import InstrumentPrompt, fault_of
from experiments.workflows.battles.judge_prompt import JudgePrompt, Shown
from experiments.workflows.battles.prompts import PROMPTS

OF_THE_DATASET = ("dataset", "subsets", "contestants", "prompt")  # what another dataset has others of
LEAST_CONTESTANTS = 2
LONGEST_NAME = 200
FENCE = "…"  # where a battle has the random fence of its own
OF_PLAN = {
    "all": (),
    "sample": ("per_pair",),
    "adaptive": ("target_width", "min_per_pair", "max_per_pair", "batch"),
}


# --- what is offered ---


@dataclass(frozen=True, slots=True)
class Offer:
    """A dataset with what can be chosen of it. subsets: with `samples`; "" for samples that are in none. contestants:
    with `made`, for how many samples they have an output. comparable: those that have some, and are not left out.
    """

    dataset: Dataset
    subsets: list[Any]
    contestants: list[Any]

    @property
    def samples(self) -> int:
        return sum(subset["samples"] for subset in self.subsets)

    @property
    def has_subsets(self) -> bool:
        return len(self.subsets) > 1

    @property
    def comparable(self) -> list[Any]:
        return [one for one in self.contestants if one.made and not one.void_reason]


def _datasets(person: Any) -> list[Dataset]:
    """Those whose samples a person may have compared, the newest first."""
    return list(Dataset.objects.visible_to(person).ready().order_by("-created", "slug"))


def _chosen(offered: Sequence[Dataset], slug: str) -> Offer | None:
    """The dataset of this name; else the newest one with outputs to compare, or the newest of all."""
    found = next((dataset for dataset in offered if dataset.slug == slug), None)
    if found is None:
        comparable = (one.contestants.filter(void_reason="", outputs__isnull=False).distinct() for one in offered)
        having = (one for one, rows in zip(offered, comparable, strict=True) if rows.count() > 1)
        found = next(having, offered[0] if offered else None)
    return _offer_of(found) if found else None


def _offer_of(dataset: Dataset) -> Offer:
    subsets = dataset.samples.order_by("subset").values(name=F("subset")).annotate(samples=Count("pk"))
    contestants = dataset.contestants.select_related("model__provider").annotate(made=Count("outputs")).order_by("name")
    return Offer(dataset, list(subsets), list(contestants))


def _instruments(person: Any, named: str) -> list[InstrumentVersion]:
    """Those of people that can judge battles: the newest versions, and the one of battles that are set up again."""
    rows = usable(person).filter(definition__unit="pair", instrument__slug="")
    chosen = list(rows)
    if named and named not in {str(one.pk) for one in chosen}:
        chosen += InstrumentVersion.objects.visible_to(person).filter(pk=named).select_related("instrument")
    return [one for one in chosen if not fault_of(one.parsed)]


def _prompt(prompt: JudgePrompt, version: InstrumentVersion | None = None) -> dict[str, Any]:
    """A judge prompt as it is offered. text: all that a judge is told beside what it compares. version: of the
    instrument that it is.
    """
    parts = prompt.parts(Shown(sample=1, first=2, second=3, token=FENCE))
    return {
        "name": str(version.pk) if version else prompt.name,
        "title": prompt_words(prompt.title),
        "version": prompt.version,
        "instrument": version.instrument if version else None,
        "description": prompt_words(prompt.description),
        "text": "".join(part if isinstance(part, str) else f"[{part.what}]" for part in parts),
    }


# --- battles ---


def fill(form: DeclaredForm) -> None:
    """The lists of the dataset that is chosen; those of another one where it is not offered, and the form says so."""
    offered = _datasets(form.reader)
    said = form.data if form.is_bound else form.initial
    chosen = _chosen(offered, str(said.get("dataset") or ""))
    models, prompts, blind = [], [], []
    if chosen:
        models, prompts = askable_models(), [p for p in PROMPTS.values() if chosen.dataset.modality in p.modalities]
        if chosen.dataset.modality == Dataset.Modality.IMAGE:
            blind = [one.label for one in models if not one.accepts.images and not one.is_tool]
            models = [one for one in models if one.accepts.images]
    found = [_prompt(prompt) for prompt in prompts]
    named = str(said.get("prompt") or "") if said.get("prompt") not in PROMPTS else ""
    for version in _instruments(form.reader, named) if chosen else ():
        title = label_of(version)
        found.append(_prompt(InstrumentPrompt.of(title, title, version.parsed), version))
    form.found = {"offer": chosen, "blind": blind, "prompts": found}
    _choose(form, "dataset", [(one.slug, one.name) for one in offered], chosen.dataset.slug if chosen else "")
    _tick_all(form, "subsets", [subset["name"] for subset in chosen.subsets] if chosen else ())
    _tick_all(form, "contestants", [one.name for one in chosen.comparable] if chosen else ())
    titles = [(prompt["name"], prompt["title"]) for prompt in found]
    _choose(form, "prompt", titles, prompts[0].name if prompts else "")
    askable = [(model.slug, model.label) for model in models]
    usual = next((model.slug for model in models if model.is_default_judge), askable[0][0] if askable else "")
    _choose(form, "seat-judge-model", askable, usual)
    for seat in (*JUDGES[1:], *MIRRORS):
        _choose(form, f"seat-{seat}-model", [("", _("none")), *askable], "")


def _choose(form: DeclaredForm, name: str, choices: Sequence[tuple[str, Any]], usual: str) -> None:
    field: Any = form.fields[name]
    field.choices, field.initial = choices, usual


def _tick_all(form: DeclaredForm, name: str, values: Iterable[str]) -> None:
    field: Any = form.fields[name]
    field.choices, field.initial = [(value, value) for value in values], list(values)


def _unless_all(form: DeclaredForm, name: str) -> list[str]:
    """What was ticked; nothing where that is everything, so that what joins later takes part, too."""
    field: Any = form.fields[name]
    ticked = list(form.cleaned_data[name])
    return [] if set(ticked) == {value for value, _label in field.choices} else ticked


def initial(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, object]:
    """`?dataset=` that one may not see is not found. Of battles set up before, lists that name nothing mean all."""
    offered = [one.slug for one in _datasets(request.user)]
    if "clone" in request.GET:
        if values["dataset"] not in offered:
            messages.warning(request, _("The dataset no longer exists. Choose another one."))
            return dict.fromkeys(OF_THE_DATASET)
        kept = {name: values[name] or None for name in ("subsets", "contestants")}
        return kept | ({"prompt": chosen} if (chosen := values.get("instrument-version")) else {})
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
        messages.info(request, _("You chose another dataset. Check its contestants, then start."))
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
        words = _("Enter the number of samples per pair.")
        raise Invalid({"config.sampling.per_pair": [words]})
    config = {
        **asked["config"],
        "subsets": _unless_all(form, "subsets"),
        "contestants": _unless_all(form, "contestants"),
        "sampling": {name: value for name, value in sampling.items() if name in ("plan", *OF_PLAN[plan])},
    }
    if config["prompt"] not in PROMPTS:
        version = InstrumentVersion.objects.visible_to(form.reader).select_related("instrument")
        config |= {"prompt": "", "instrument": frozen(version.get(pk=config["prompt"]))}
    params = cast["judge"]["params"]
    return {**asked, "config": config, "cast": {seat: {**one, "params": params} for seat, one in cast.items()}}


# --- outputs ---


def fill_outputs(form: DeclaredForm) -> None:
    """One's own datasets: whoever may only look at one adds no contestants to it, unless they curate the lab's.
    Offered are the contestants that are models and lack outputs.
    """
    rows = Dataset.objects.visible_to(form.reader).filter(state=Dataset.State.READY, modality=Dataset.Modality.TEXT)
    dataset = rows.filter(slug=form.of["slug"]).first()
    if dataset is None or not may_curate(form.reader, dataset):
        raise NotFound
    offered = _offer_of(dataset)
    form.found = {"offer": offered}
    form.initial["makers"] = [
        {"model": one.model.slug, "name": one.name}
        for one in offered.contestants
        if one.model and not one.void_reason and one.made < offered.samples
    ]
    _tick_all(form, "subsets", [subset["name"] for subset in offered.subsets])


def asked_outputs(form: DeclaredForm, asked: Asked) -> Asked:
    """A contestant is called as its model where no name was written."""
    labels = {one.slug: one.label for one in ProviderModel.objects.available()}
    cast = {seat: one.copy() for seat, one in asked["cast"].items()}
    names: list[str] = []
    for seat, one in cast.items():
        name = str(one.pop("name") or labels.get(one["model"], one["model"]))[:LONGEST_NAME]
        if name in names:
            words = _("Two contestants would have the name %(name)s.")
            raise Invalid({f"cast.{seat}": [words % {"name": name}]})
        names.append(name)
    found = {"dataset": form.of["slug"], "subsets": _unless_all(form, "subsets"), "contestants": names}
    return {**asked, "config": {**asked["config"], **found}, "cast": cast}
