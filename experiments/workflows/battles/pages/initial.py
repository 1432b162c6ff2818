"""What fills the form of battles at first: a dataset of the address, what was typed, or battles set up before."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from experiments.models import Dataset
from experiments.shelves.cloning import source
from experiments.workflows.battles.pages.forms import BattlesForm
from experiments.workflows.battles.pages.setup import Offer, datasets, of_config, offer, offer_of

OF_THE_DATASET = ("dataset", "subsets", "contestants", "prompt")  # what another dataset has others of


def is_choosing(request: HttpRequest) -> bool:
    """Whether another dataset is to be shown, or was chosen beside lists that belong to the one before."""
    sent = request.POST
    return "choose" in sent or sent.get("shown", sent.get("dataset")) != sent.get("dataset")


def form(request: HttpRequest) -> BattlesForm:
    """`?dataset=` and `?clone=` that one may not see are not found."""
    offered = datasets(request.user)
    if request.method == "POST":
        return _of_another_dataset(request, offered)
    if wanted := request.GET.get("clone"):
        return _again(request, offered, wanted)
    if slug := request.GET.get("dataset"):
        chosen = offer(offered, slug)
        if chosen is None:
            raise Http404
    else:
        chosen = first(offered)
    return _fresh(offered, chosen, {})


def _fresh(offered: Any, chosen: Offer | None, values: dict[str, Any]) -> BattlesForm:
    initial = {**values, "dataset": chosen.dataset.slug if chosen else ""}
    return BattlesForm(initial=initial, datasets=offered, offer=chosen)


def _of_another_dataset(request: HttpRequest, offered: Any) -> BattlesForm:
    chosen = offer(offered, request.POST.get("dataset", "")) or first(offered)
    typed = BattlesForm(request.POST, datasets=offered, offer=chosen)
    if "choose" not in request.POST:
        messages.info(request, _("Another dataset was chosen: look through its contestants, then start."))
    return _fresh(offered, chosen, {name: typed[name].value() for name in typed.fields if name not in OF_THE_DATASET})


def _again(request: HttpRequest, offered: Any, wanted: str) -> BattlesForm:
    found = source(request.user, wanted, "battles")
    values = of_config(found.config)
    chosen = offer(offered, str(values.get("dataset", "")))
    if chosen is None:
        messages.warning(request, _("Its dataset is not there any more: choose another one."))
        return _fresh(offered, first(offered), {})
    for one in found.participants:
        values[f"seat-{one.seat}-model"] = one.model.slug
        if one.seat == "judge":
            values |= {f"seat-judge-{name}": value for name, value in one.params.items()}
    everything = {name: values.pop(name, None) for name in ("subsets", "contestants")}
    return _fresh(offered, chosen, {**values, **{name: value for name, value in everything.items() if value}})


def first(offered: Sequence[Dataset]) -> Offer | None:
    """The newest dataset with outputs to compare; the newest of all where none has."""
    for dataset in offered:
        if dataset.contestants.filter(void_reason="", outputs__isnull=False).distinct().count() > 1:
            return offer_of(dataset)
    return offer_of(offered[0]) if offered else None
