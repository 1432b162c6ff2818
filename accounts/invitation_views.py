"""Invitations: sent by whoever may, opened by whoever has the link."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts import inviting, joining
from accounts.letters import send_invitation
from accounts.models import Invitation
from accounts.people import person, stepped_up


@dataclass(frozen=True, slots=True)
class Sent:
    """An invitation just made. link: shown this one time."""

    invitation: Invitation
    link: str
    was_mailed: bool


def send(request: HttpRequest, **asked: Any) -> Sent:
    """Raises Forbidden."""
    invitation, token = inviting.invite(by=person(request), **asked)
    link = request.build_absolute_uri(reverse("invitation", args=[token]))
    return Sent(invitation, link, send_invitation(invitation, link))


@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Looking uses nothing up: mail programs look too. A new person goes on to sign up; somebody of the lab can take
    the place in the project.
    """
    found = inviting.find(token)
    if request.user.is_authenticated and request.method == "POST":
        inviting.join_project(found, person(request))
        messages.success(request, _("You belong to the project now."))
        return redirect(found.project or "projects")
    if request.user.is_authenticated:
        return render(request, "accounts/invitation.html", {"invitation": found})
    joining.hold(request, found)
    return redirect("account_signup")


@login_required
@require_POST
@stepped_up
def revoke_invitation(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Invitation.objects.revocable_by(person(request)), pk=pk)
    back = redirect(found.project) if found.project and not person(request).is_admin else redirect("people")
    if inviting.revoke(found, by=person(request)):
        messages.success(request, _("The invitation is taken back: its link lets nobody in."))
    else:
        messages.error(request, _("It was used, or had ended, before."))
    return back
