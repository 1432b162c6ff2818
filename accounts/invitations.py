"""Invitations: made by whoever may, accepted once, taken back. Who may make themselves an account (ARENA_SIGNUP), and
the invitation that a browser holds meanwhile.
"""

import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit, projects
from accounts.errors import Conflict, Forbidden
from accounts.models import Invitation, Membership, Project, User, digest_of
from accounts.people import person
from accounts.roles import take_role

log = logging.getLogger(__name__)

HELD = "invitation"  # in the session
LED_ROLES = (User.Role.RESEARCHER, User.Role.REVIEWER)  # that the lead of a project may bring into the lab


class InvitationUnusable(Conflict):
    """410: an invitation lets nobody in any more, or never did."""

    status = HTTPStatus.GONE
    page = "accounts/invitation_unusable.html"


# --- made and taken back ---


def may_invite(person: User, project: Project | None = None) -> bool:
    """Whether the person may invite anybody: into the lab, or into this project."""
    return person.is_admin or (project is not None and settings.SIGNUP != "closed" and project.is_led_by(person))


def roles_to_give(person: User) -> tuple[User.Role, ...]:
    """Nobody gives more than they have: an admin any role, a lead those of the people who work in a project."""
    return tuple(User.Role) if person.is_admin else LED_ROLES


def invite(
    *,
    by: User,
    role: str,
    email: str = "",
    project: Project | None = None,
    project_role: str = Membership.Role.MEMBER,
    days: int | None = None,
) -> tuple[Invitation, str]:
    """The invitation, and its token: the text returned is the only copy there is. Raises Forbidden."""
    if not may_invite(by, project):
        raise Forbidden(
            _("Administrators can invite people. Leads can invite into their projects if the lab allows it.")
        )
    if role not in roles_to_give(by):
        raise Forbidden(_("You can invite researchers and reviewers. For other roles, ask an administrator."))
    if project and project.archived:
        raise Forbidden(_("The project is archived. Restore it first."))
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        invitation = Invitation.objects.create(
            digest=digest_of(token),
            email=email,
            role=role,
            project=project,
            project_role=project_role,
            invited_by=by,
            expires=timezone.now() + timedelta(days=days or settings.INVITATION_DAYS),
        )
        where = str(project) if project else None
        audit.record(audit.Action.INVITED, by=by, of=invitation, role=str(role), project=where)
    return invitation, token


@dataclass(frozen=True, slots=True)
class Sent:
    """An invitation just made. link: shown this one time."""

    invitation: Invitation
    link: str
    was_mailed: bool


def send(request: HttpRequest, **asked: Any) -> Sent:
    """Invite by whoever asks, and mail the link where the lab has a mail server. Raises Forbidden."""
    invitation, token = invite(by=person(request), **asked)
    link = request.build_absolute_uri(reverse("invitation", args=[token]))
    return Sent(invitation, link, _mail(invitation, link))


def _mail(invitation: Invitation, link: str) -> bool:
    """Whether it was handed to the mail server. Not within a transaction: that may take seconds."""
    if not (settings.HAS_MAIL and invitation.email):
        return False
    text = render_to_string("accounts/invitation_letter.txt", {"invitation": invitation, "link": link})
    try:
        send_mail(_("You are invited to Arena Lab"), text, None, [invitation.email])
    except OSError as error:  # smtplib's errors are such
        log.warning("An invitation could not be mailed: %s", type(error).__name__)
        return False
    return True


def revoke(invitation: Invitation, *, by: User) -> bool:
    """Its link lets nobody in any more. False when it did not before. Raises Forbidden."""
    if not Invitation.objects.revocable_by(by).filter(pk=invitation.pk).exists():
        raise Forbidden(_("Only the person who sent the invitation, or an administrator, can revoke it."))
    with transaction.atomic():
        if not Invitation.objects.open().filter(pk=invitation.pk).update(revoked=timezone.now()):
            return False
        audit.record(audit.Action.INVITATION_REVOKED, by=by, of=invitation)
    return True


# --- accepted ---


def find(token: str) -> Invitation:
    """The open invitation with this token. Raises InvitationUnusable, which says what to do."""
    return _usable(Invitation.objects.by_token(token).select_related("project", "invited_by").first())


def _usable(invitation: Invitation | None) -> Invitation:
    """An invitation is worth what its sender's right is worth now."""
    if invitation is None:
        raise InvitationUnusable(
            _("This is not a valid invitation of this lab. Copy the whole link, or ask for a new one.")
        )
    by = invitation.invited_by
    if invitation.accepted:
        raise InvitationUnusable(
            _("This invitation has been used. If that was you, sign in; otherwise ask for a new one.")
        )
    if invitation.revoked:
        raise InvitationUnusable(_("This invitation was revoked. Ask the person who sent it."))
    if invitation.expires <= timezone.now():
        raise InvitationUnusable(_("This invitation has expired. Ask for a new one."))
    if not by.is_active or not may_invite(by, invitation.project) or invitation.role not in roles_to_give(by):
        raise InvitationUnusable(_("The person who sent this invitation may no longer invite. Ask an administrator."))
    return invitation


def accept(invitation: Invitation, person: User) -> None:
    """Within the transaction that makes the person, or gives an existing one a place in the project. Of two who accept
    at once one wins; the other gets InvitationUnusable, and nothing of theirs remains.
    """
    _usable(invitation)
    taken = Invitation.objects.open().filter(pk=invitation.pk).update(accepted=timezone.now(), accepted_by=person)
    if not taken:
        raise InvitationUnusable(_("This invitation has just been used. Ask for a new one."))
    if invitation.project:
        projects.place(invitation.project, person, invitation.project_role, by=invitation.invited_by)


def join_project(invitation: Invitation, person: User) -> None:
    """For somebody who is in the lab already. Raises InvitationUnusable, also for an invitation into no project."""
    if invitation.project is None:
        raise InvitationUnusable(_("You already have an account. This link is for a new person."))
    if invitation.project.memberships.filter(user=person).exists():
        raise InvitationUnusable(_("You are already a member of this project. This link is for another person."))
    with transaction.atomic():
        accept(invitation, person)


# --- signing up ---


def hold(request: HttpRequest, invitation: Invitation) -> None:
    """Whoever signs up in this browser does so by this invitation."""
    request.session[HELD] = invitation.pk


def held(request: HttpRequest) -> Invitation | None:
    """The invitation that this browser holds, if it still lets somebody in."""
    if not (pk := request.session.get(HELD)):
        return None
    try:
        return _usable(Invitation.objects.filter(pk=pk).select_related("project", "invited_by").first())
    except InvitationUnusable:
        return None


def is_sign_up_open(request: HttpRequest, emails: Iterable[str] | None = None) -> bool:
    """emails: that a sign-in server gives; None when the person is still to type one, which is checked then."""
    if held(request):
        return True
    return settings.SIGNUP == "domain" and (emails is None or any(map(is_of_the_lab, emails)))


def is_of_the_lab(email: str) -> bool:
    return email.rpartition("@")[2].lower() in settings.SIGNUP_DOMAINS


def settle_sign_up(request: HttpRequest, person: User) -> str:
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
    by = invitation.invited_by
    take_role(person, invitation.role)
    person.save(update_fields=["role", "is_staff", "is_superuser"])
    accept(invitation, person)
    audit.record(audit.Action.SIGNED_UP, by=person, of=person, role=person.role, invited_by=by.username)
    return invitation.email if by.is_admin and invitation.email.lower() == person.email.lower() else ""
