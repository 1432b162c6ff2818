"""Which cycles of coding count: those who keep the ladder leave them out, with a reason, and take them in again."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from accounts.errors import Invalid, Refusal
from accounts.models import User
from accounts.people import person
from accounts.refusing import status_of
from experiments.models import Cycle, Run
from experiments.workflows.coding.pages import voiding
from leaderboard import coding, coding_page

ROWS = 50


@require_http_methods(["GET", "POST"])
def ladder_cycles(request: HttpRequest) -> HttpResponse:
    """Every cycle that was rated here, the latest first. POST does what `action` says: void, restore, last or all."""
    if not voiding.may_void(request.user):
        raise Http404
    if request.method == "GET":
        return _shown(request)
    deed = DEEDS.get(request.POST.get("action", ""))
    if deed is None:
        return _shown(request, _("There is no such action."), status=422)
    try:
        said = deed(request, person(request))
    except Refusal as error:
        return _shown(request, str(error), status=status_of(error))
    messages.success(request, said)
    return redirect(request.get_full_path())


def _shown(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    rated = Cycle.objects.filter(state=Cycle.State.RATED, run__origin=Run.Origin.LIVE)
    shown = request.GET.get("show", "")
    chosen = rated.filter(voided__isnull=shown != "void") if shown in {"counted", "void"} else rated
    rows = chosen.select_related("run__experiment__owner", "voided_by").order_by("-ended", "-pk")
    page = Paginator(rows, ROWS).get_page(request.GET.get("page"))
    context = {
        "ladder": coding.ladder(),
        "page": page,
        "rows": coding_page.listed(list(page.object_list)),
        "show": shown,
        "counts": {"counted": Cycle.objects.counted().count(), "void": rated.filter(voided__isnull=False).count()},
        "last": coding_page.listed([row])[0] if (row := voiding.last()) else None,
        "typed": request.POST if request.method == "POST" else {},
        "problem": problem,
    }
    return render(request, "leaderboard/cycles.html", context, status=status)


def _void(request: HttpRequest, by: User) -> str:
    cycle = _cycle(request)
    is_done = voiding.void(cycle, by=by, reason=request.POST.get("reason", ""))
    return _("The cycle is left out of the ratings.") if is_done else _("The cycle was left out already.")


def _restore(request: HttpRequest, by: User) -> str:
    is_done = voiding.restore(_cycle(request), by=by)
    return _("The cycle counts again.") if is_done else _("The cycle counted already.")


def _void_last(request: HttpRequest, by: User) -> str:
    found = voiding.void_last(by=by, reason=request.POST.get("reason", ""), named=_number(request, "cycle"))
    return _("The last cycle, “%(title)s”, is left out of the ratings.") % {"title": found.title}


def _void_all(request: HttpRequest, by: User) -> str:
    """What is typed has to be the number of cycles that would be left out."""
    n = voiding.void_all(by=by, reason=request.POST.get("reason", ""), count=_number(request, "count"))
    said = ngettext("%(n)s cycle is left out of the ratings.", "%(n)s cycles are left out of the ratings.", n)
    return said % {"n": n}


DEEDS: dict[str, Callable[[HttpRequest, User], str]] = {
    "void": _void,
    "restore": _restore,
    "last": _void_last,
    "all": _void_all,
}


def _cycle(request: HttpRequest) -> Cycle:
    found = Cycle.objects.filter(pk=_number(request, "cycle")).first()
    if found is None:
        raise Invalid(cycle=_("There is no such cycle."))
    return found


def _number(request: HttpRequest, name: str) -> int:
    typed: Any = request.POST.get(name, "").strip()
    if not typed.isascii() or not typed.isdigit() or len(typed) > 15:
        sentence = _("Type the number of cycles that are left out.") if name == "count" else _("Choose a cycle.")
        raise Invalid({name: [sentence]})
    return int(typed)
