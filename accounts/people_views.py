"""Whoever is in the lab, and who may come: for admins."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts import audit, roles
from accounts.errors import Invalid
from accounts.factors import with_factor
from accounts.forms import InvitationForm, RoleForm
from accounts.invitation_views import Sent, send
from accounts.models import AuditEntry, Invitation, Membership, User
from accounts.people import for_admins, person, stepped_up
from accounts.refusing import back_to

ON_A_PAGE = 50
LATEST_DEEDS = 20


@for_admins
@stepped_up
def people(request: HttpRequest) -> HttpResponse:
    """Everybody, the open invitations, and the form for another one, whose link is shown once."""
    form = InvitationForm(request.POST or None, by=person(request))
    sent: Sent | None = None
    if request.method == "POST" and form.is_valid():
        sent = send(request, **form.cleaned_data)
        form = InvitationForm(by=person(request))
    response = render(request, "accounts/people.html", {"form": form, "sent": sent, **_everybody(request)})
    response["Cache-Control"] = "no-store"
    return response


def _everybody(request: HttpRequest) -> dict[str, Any]:
    search, role = request.GET.get("search", "").strip(), request.GET.get("role", "")
    found = User.objects.annotate(has_factor=with_factor()).order_by("-is_active", "username")
    found = found.prefetch_related(Prefetch("memberships", Membership.objects.select_related("project")))
    if search:
        names = ("username", "email", "first_name", "last_name")
        fits = Q()
        for name in names:
            fits |= Q(**{f"{name}__icontains": search.replace("\0", "")})
        found = found.filter(fits)
    if role in User.Role.values:
        found = found.filter(role=role)
    return {
        "page": Paginator(found, ON_A_PAGE).get_page(request.GET.get("page")),
        "search": search,
        "role": role,
        "roles": User.Role.choices,
        "invitations": Invitation.objects.open().select_related("project", "invited_by"),
    }


@for_admins
def one(request: HttpRequest, pk: int) -> HttpResponse:
    """One person: role, sign-in, projects, and what they did last."""
    found = get_object_or_404(User.objects.annotate(has_factor=with_factor()), pk=pk)
    about = audit.target_of(found)
    deeds = AuditEntry.objects.filter(Q(actor_id=found.pk) | Q(target=about)).order_by("-id")[:LATEST_DEEDS]
    memberships = found.memberships.select_related("project")
    context = {"one": found, "form": RoleForm(initial={"role": found.role}), "deeds": deeds}
    return render(request, "accounts/one.html", {**context, "memberships": memberships, "about": about})


@for_admins
@require_POST
@stepped_up
def change_role(request: HttpRequest, pk: int) -> HttpResponse:
    form = RoleForm(request.POST)
    if not form.is_valid():
        back_to(request, "person", pk)
        raise Invalid(role=_("There is no such role. Choose one of the list."))
    return _decide(request, pk, _("The role is changed."), lambda who: _to(request, who, form.cleaned_data["role"]))


@for_admins
@require_POST
@stepped_up
def deactivate(request: HttpRequest, pk: int) -> HttpResponse:
    done = _("Deactivated: signed out everywhere, and all API tokens are void.")
    return _decide(request, pk, done, lambda who: roles.deactivate(who, by=person(request)))


@for_admins
@require_POST
@stepped_up
def reactivate(request: HttpRequest, pk: int) -> HttpResponse:
    return _decide(request, pk, _("Active again."), lambda who: roles.reactivate(who, by=person(request)))


@for_admins
@require_POST
@stepped_up
def remove_factors(request: HttpRequest, pk: int) -> HttpResponse:
    done = _("The second factors are removed. Only the password is asked for until there is another one.")
    return _decide(request, pk, done, lambda who: roles.remove_factors(who, by=person(request)))


def _to(request: HttpRequest, who: User, role: str) -> None:
    roles.change_role(who, role, by=person(request))


def _decide(request: HttpRequest, pk: int, done: str, verb: Any) -> HttpResponse:
    back_to(request, "person", pk)
    verb(get_object_or_404(User, pk=pk))
    messages.success(request, done)
    # Whoever has taken their own role away finds no such page any more.
    return redirect("person", pk) if User.objects.get(pk=person(request).pk).is_admin else redirect("account")
