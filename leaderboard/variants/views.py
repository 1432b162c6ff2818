"""The page of the register, with its tree drawn, and the form by which curators enter what is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from accounts.errors import Forbidden
from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.gateway.types import QUANTIZATIONS
from experiments.library.datasets import contestants
from experiments.library.datasets.making import may_curate
from experiments.models import Contestant, Dataset
from leaderboard.pages.pictures import fitted
from leaderboard.variants.register import Family, Origin, Variant, parents_of, register

ORIGINS = {
    Origin.PARENT: gettext_lazy("as the contestant it is a variant of"),
    Origin.CATALOG: gettext_lazy("from the catalog"),
    Origin.CALLS: gettext_lazy("from its calls"),
    Origin.PINNED: gettext_lazy("from its settings"),
    Origin.VERSION: gettext_lazy("when it joined"),
}
LINE, STEP, EDGE = 28, 22, 10  # pixels: between two lines, of one level, and to the left
NAME_LENGTH = 34  # letters that fit on a telephone
MOST_DRAWN = 300


@dataclass(frozen=True, slots=True)
class Node:
    """A base model (variant: None) or a contestant, in pixels. line: the path from its parent, empty for base models.
    hint: what tells it from its parent, where there is room.
    """

    x: int
    y: int
    line: str
    text: str
    variant: Variant | None = None

    @property
    def hint(self) -> str:
        told = (self.variant.quantization.value, self.variant.released.value) if self.variant else ()
        return " · ".join(filter(None, told))


def tree(families: Sequence[Family]) -> tuple[Node, ...]:
    """A line for each base model and each contestant below it; empty where there are too many to be seen together."""
    if sum(1 + len(family.variants) for family in families) > MOST_DRAWN:
        return ()
    nodes: list[Node] = []
    for family in families:
        title = family.base_model or _("Base model not known")
        nodes.append(Node(EDGE, _height(nodes), "", fitted(title, NAME_LENGTH)))
        above = {-1: nodes[-1]}  # the last node of each level
        for one in family.variants:
            parent, y = above[one.depth - 1], _height(nodes)
            x = parent.x + STEP
            line = f"M{parent.x} {parent.y + 6}V{y}H{x - 6}"
            above[one.depth] = Node(x, y, line, fitted(str(one.contestant), NAME_LENGTH - 2 * one.depth), one)
            nodes.append(above[one.depth])
    return tuple(nodes)


def _height(nodes: Sequence[Node]) -> int:
    return LINE * len(nodes) + LINE // 2


class VariantForm(forms.ModelForm[Contestant]):
    class Meta:
        model = Contestant
        fields = contestants.REGISTERED
        widgets = {
            "released": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            "quantization": forms.TextInput(attrs={"list": "quantizations", "autocomplete": "off"}),
            "prompt": forms.Textarea(attrs={"rows": 4}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        parents = parents_of(self.instance, self.instance.dataset.contestants.order_by("name"))
        self.fields["variant_of"] = forms.ModelChoiceField(
            Contestant.objects.filter(pk__in=[one.pk for one in parents]).order_by("name"),
            label=_("Variant of"),
            empty_label=_("no other"),
            required=False,
        )


@require_GET
def dataset_variants(request: HttpRequest, slug: str) -> HttpResponse:
    """The tree of a dataset's contestants, and the same as a table with all that is known."""
    dataset = get_object_or_404(Dataset.objects.visible_to(request.user).ready(), slug=slug)
    families = register(dataset)
    nodes = tree(families)
    context = {
        "dataset": dataset,
        "families": families,
        "count": sum(len(family.variants) for family in families),
        "bases": sum(bool(family.base_model) for family in families),
        "nodes": nodes,
        "height": LINE * len(nodes),
        "may_curate": may_curate(request.user, dataset),
    }
    return render(request, "leaderboard/variants.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def variant_edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What curators enter of one contestant; empty fields are looked up where they can be."""
    rows = Contestant.objects.filter(dataset__in=Dataset.objects.visible_to(request.user).ready(), dataset__slug=slug)
    contestant = get_object_or_404(rows.select_related("dataset"), pk=pk)
    if not may_curate(request.user, contestant.dataset):
        raise Forbidden(_("Only the dataset's owner, curators and administrators can change its contestants."))
    form = VariantForm(request.POST or None, instance=contestant)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            contestants.enter(contestant, by=person(request), **form.cleaned_data)
            messages.success(request, _("%(contestant)s was changed.") % {"contestant": contestant})
            return redirect("dataset-variants", slug)
    context = {"dataset": contestant.dataset, "contestant": contestant, "form": form, "quantizations": QUANTIZATIONS}
    return render(request, "leaderboard/variant.html", context, status=status_of(form))
