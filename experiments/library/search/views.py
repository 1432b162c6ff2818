"""The page on which everything that was said is searched."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.errors import Invalid
from accounts.refusing import status_of
from experiments.library.search.finding import PLACES, Found, find
from experiments.library.search.query import Asked, read
from experiments.library.search.suggestions import suggestion
from experiments.models import Run
from experiments.models.labels import FLAGS
from experiments.workflows import REGISTRY

FIELDS = ("workflow", "state", "model", "seat", "by", "flag", "project", "from", "to", "in")
LONGEST_KEY = 18  # digits


@login_required
@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """What fits, the latest first; without anything asked for, how to ask."""
    asked = asked_by(request.GET)
    before = place(request.GET.get("before", ""))
    try:
        found, problem, status = find(asked, request.user, before=before), "", 200
    except Invalid as error:
        found, problem, status = Found([], None), str(error), status_of(error)
    offered = {"workflows": list(REGISTRY), "states": Run.State.choices, "flags": FLAGS.items(), "places": list(PLACES)}
    chosen = {name: request.GET.get(name, "") for name in FIELDS}
    context = {"asked": asked, "found": found, "problem": problem, "chosen": chosen, **offered}
    context["filters"] = [value for value in chosen.values() if value]
    if not (found or problem or before):
        context["suggestion"] = suggestion(asked, request.user)
    return render(request, "search/search.html", context, status=status)


def asked_by(given: Mapping[str, Any]) -> Asked:
    """The words of `q` with the filters in them, and the filters beside it."""
    return read(given.get("q", ""), {name: given.get(name, "") for name in FIELDS})


def place(word: str) -> int | None:
    """Where a page begins, as the one before it said; None for everything else."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= LONGEST_KEY else None
