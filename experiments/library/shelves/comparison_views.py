"""Runs side by side, by their ids in the address."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from accounts.errors import Invalid
from accounts.people import for_readers
from experiments.library.shelves import comparing


@for_readers
@require_GET
def compare_chosen(request: HttpRequest) -> HttpResponse:
    """Two to four runs: `?run=…&run=…`."""
    try:
        return _page(request, request.GET.getlist("run"))
    except Invalid as error:
        if not request.user.is_authenticated:
            raise Http404 from error
        messages.info(request, str(error))
        return redirect("runs")


@for_readers
@require_GET
def run_compare(request: HttpRequest, pk: UUID, other: UUID) -> HttpResponse:
    """The same for two runs, one of which came from the other."""
    try:
        return _page(request, [str(pk), str(other)])
    except Invalid as error:
        raise Http404 from error


def _page(request: HttpRequest, ids: list[str]) -> HttpResponse:
    beheld = comparing.of(comparing.chosen(request.user, ids))
    keys = [str(side.run.pk) for side in beheld.sides]
    firsts = {UUID(key): _query([key, *(k for k in keys if k != key)]) for key in keys}
    without = {UUID(key): _query([k for k in keys if k != key]) for key in keys}
    context = {"beheld": beheld, "firsts": firsts, "without": without, "is_pair": len(keys) == comparing.LEAST}
    return render(request, "experiments/compare.html", context)


def _query(keys: list[str]) -> str:
    return urlencode({"run": keys}, doseq=True)
