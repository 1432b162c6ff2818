"""Runs side by side, by their ids in the address."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from accounts.people import for_readers
from accounts.refusing import back_to
from experiments.library.shelves import comparing


@for_readers
@require_GET
def compare_chosen(request: HttpRequest) -> HttpResponse:
    """Two to four runs: `?run=…&run=…`."""
    return _page(request, request.GET.getlist("run"))


@for_readers
@require_GET
def run_compare(request: HttpRequest, pk: UUID, other: UUID) -> HttpResponse:
    """The same for two runs, one of which came from the other."""
    return _page(request, [str(pk), str(other)])


def _page(request: HttpRequest, ids: list[str]) -> HttpResponse:
    back_to(request, "runs")
    beheld = comparing.of(comparing.chosen(request.user, ids))
    keys = [str(side.run.pk) for side in beheld.sides]
    firsts = {UUID(key): _query([key, *(k for k in keys if k != key)]) for key in keys}
    without = {UUID(key): _query([k for k in keys if k != key]) for key in keys}
    context = {"beheld": beheld, "firsts": firsts, "without": without, "is_pair": len(keys) == comparing.LEAST}
    return render(request, "experiments/compare.html", context)


def _query(keys: list[str]) -> str:
    return urlencode({"run": keys}, doseq=True)
