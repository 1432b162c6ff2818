"""Setting up an arena experiment: its form, and what fills the form at first."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.actions import MOST_REPEATS
from experiments.catalog.menu import askable_models, usual_cast
from experiments.forms import SEAT_PARAMS, SetupForm, form_for
from experiments.library.shelf import find_scenario, initial_for, initial_of
from experiments.models import Participant
from experiments.shelves.cloning import source

Values = dict[str, Any]


class Repeated(SetupForm):
    """A set-up form that also says how many runs are to be started."""

    repeats = forms.IntegerField(
        label=gettext_lazy("Runs"), min_value=1, max_value=MOST_REPEATS, initial=1, required=False
    )

    @property
    def runs(self) -> int:
        return int(self.cleaned_data.get("repeats") or 1)


@cache
def arena_form() -> type[Repeated]:
    return type("ArenaSetup", (Repeated, form_for("arena")), {})


def initial(request: HttpRequest) -> Values:
    """What the form shows at first: the models used last, or two different ones; or a scenario (`?scenario=`), or what
    a run or an experiment was set up with that one may see (`?clone=`).
    """
    cast = usual_cast(request.user, "arena", ("A", "B"))
    values: Values = {f"seat-{seat}-model": slug for seat, slug in cast.items()}
    if ref := request.GET.get("scenario"):
        scenario = find_scenario(request.user, ref)
        if scenario is None:
            raise Http404
        return {**values, **initial_for(scenario), "title": scenario.title}
    if wanted := request.GET.get("clone"):
        found = source(request.user, wanted, "arena")
        for lost in _not_carried_over(found.participants):
            messages.warning(request, lost)
        return {**values, **initial_of(found.config), **_seats(found.participants), "title": found.title}
    return values


def _seats(participants: Sequence[Participant]) -> Values:
    values: Values = {}
    for one in participants:
        prefix = f"seat-{one.seat}"
        values |= {f"{prefix}-model": one.model.slug, f"{prefix}-persona": one.persona}
        values |= {f"{prefix}-{name}": value for name, value in one.params.items()}
    return values


def _not_carried_over(participants: Sequence[Participant]) -> Iterator[str]:
    """What the form cannot show of a run's cast: it would be lost without a word."""
    askable = {model.slug for model in askable_models()}
    for one in participants:
        if one.model.slug not in askable:
            words = _("%(model)s is not available now: choose another model for seat %(seat)s.")
            yield words % {"model": one.model.label, "seat": one.seat}
        if others := sorted(set(one.params) - set(SEAT_PARAMS)):
            words = _("Not carried over for seat %(seat)s: %(names)s.")
            yield words % {"seat": one.seat, "names": ", ".join(others)}
