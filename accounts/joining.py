"""Who may make themselves an account: the lab's policy (ARENA_SIGNUP), and the invitation that a browser holds."""

from collections.abc import Iterable

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts import audit, inviting
from accounts.inviting import InvitationUnusable
from accounts.models import Invitation, User
from accounts.roles import take_role

HELD = "invitation"  # in the session


def hold(request: HttpRequest, invitation: Invitation) -> None:
    """Whoever signs up in this browser does so by this invitation."""
    request.session[HELD] = invitation.pk


def held(request: HttpRequest) -> Invitation | None:
    """The invitation that this browser holds, if it still lets somebody in."""
    pk = request.session.get(HELD)
    found = Invitation.objects.filter(pk=pk).select_related("project", "invited_by").first() if pk else None
    try:
        inviting.require_usable(found)
    except InvitationUnusable:
        return None
    return found


def is_open(request: HttpRequest, emails: Iterable[str] | None = None) -> bool:
    """emails: that a sign-in server gives; None when the person is still to type one, which is checked then."""
    if held(request):
        return True
    return settings.SIGNUP == "domain" and (emails is None or any(map(is_of_the_lab, emails)))


def is_of_the_lab(email: str) -> bool:
    return email.rpartition("@")[2].lower() in settings.SIGNUP_DOMAINS


def settle(request: HttpRequest, person: User) -> str:
    """Within the transaction that saves a new person: the invitation is used up, and role and project are given.

    Returns the address that an admin has vouched for by naming it in the invitation, or "". Raises InvitationUnusable
    when the invitation has been used meanwhile.
    """
    invitation = held(request)
    request.session.pop(HELD, None)
    if invitation is None:
        if settings.SIGNUP != "domain":
            raise InvitationUnusable(_("This invitation has just been used. Ask for a new one."))
        audit.record(audit.Action.SIGNED_UP, by=person, of=person, role=person.role)
        return ""
    take_role(person, invitation.role)
    person.save(update_fields=["role", "is_staff", "is_superuser"])
    inviting.accept(invitation, person)
    audit.record(
        audit.Action.SIGNED_UP, by=person, of=person, role=person.role, invited_by=invitation.invited_by.username
    )
    is_vouched_for = invitation.invited_by.is_admin and invitation.email.lower() == person.email.lower()
    return invitation.email if is_vouched_for else ""
