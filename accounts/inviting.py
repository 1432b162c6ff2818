"""Invitations: made by whoever may, accepted once, taken back."""

import secrets
from datetime import timedelta
from http import HTTPStatus

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit, projects
from accounts.errors import Conflict, Forbidden
from accounts.models import Invitation, Membership, Project, User


class InvitationUnusable(Conflict):
    """410: an invitation lets nobody in any more, or never did."""

    status = HTTPStatus.GONE
    page = "accounts/invitation_unusable.html"


LED_ROLES = (User.Role.RESEARCHER, User.Role.REVIEWER)  # that the lead of a project may bring into the lab


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
    require_right(by, role=role, project=project)
    token = secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(days=days or settings.INVITATION_DAYS)
    with transaction.atomic():
        invitation = Invitation(email=email, role=role, project=project, project_role=project_role, invited_by=by)
        invitation.digest, invitation.expires = Invitation.digest_of(token), expires
        invitation.save(force_insert=True)
        where = str(project) if project else None
        audit.record(audit.Action.INVITED, by=by, of=invitation, role=str(role), project=where)
    return invitation, token


def may_invite(person: User, project: Project | None = None) -> bool:
    """Whether the person may invite anybody: into the lab, or into this project."""
    if person.is_admin:
        return True
    return project is not None and settings.SIGNUP != "closed" and project.is_led_by(person)


def roles_to_give(person: User) -> tuple[User.Role, ...]:
    """Nobody gives more than they have: an admin any role, a lead those of the people who work in a project."""
    return tuple(User.Role) if person.is_admin else LED_ROLES


def require_right(by: User, *, role: str, project: Project | None) -> None:
    if not may_invite(by, project):
        raise Forbidden(_("Administrators invite people, and leads into their projects where the lab allows it."))
    if role not in roles_to_give(by):
        raise Forbidden(_("You can invite researchers and reviewers. Ask an administrator for other roles."))
    if project and project.archived:
        raise Forbidden(_("The project is archived. Take it up again first."))


def revoke(invitation: Invitation, *, by: User) -> bool:
    """Its link lets nobody in any more. False when it did not before. Raises Forbidden."""
    if not (by.is_admin or invitation.invited_by_id == by.pk or _leads(invitation, by)):
        raise Forbidden(_("Only whoever has invited, or an administrator, takes an invitation back."))
    with transaction.atomic():
        if not Invitation.objects.open().filter(pk=invitation.pk).update(revoked=timezone.now()):
            return False
        audit.record(audit.Action.INVITATION_REVOKED, by=by, of=invitation)
    return True


def find(token: str) -> Invitation:
    """The open invitation with this token. Raises InvitationUnusable, which says what to do."""
    invitation = Invitation.objects.by_token(token).select_related("project", "invited_by").first()
    require_usable(invitation)
    assert invitation is not None  # noqa: S101 - for mypy: it was required just now
    return invitation


def require_usable(invitation: Invitation | None) -> None:
    if invitation is None:
        raise InvitationUnusable(_("This is no invitation of this lab. Copy the whole link, or ask for a new one."))
    if invitation.accepted:
        raise InvitationUnusable(_("This invitation has been used. If it was you, sign in; if not, ask for a new one."))
    if invitation.revoked:
        raise InvitationUnusable(_("This invitation was taken back. Ask whoever sent it."))
    if invitation.expires <= timezone.now():
        raise InvitationUnusable(_("This invitation has expired. Ask for a new one."))
    if not invitation.invited_by.is_active or not _still_may(invitation):
        raise InvitationUnusable(_("Whoever sent this invitation may not invite any more. Ask an administrator."))


def accept(invitation: Invitation, person: User) -> None:
    """Within the transaction that makes the person, or gives an existing one a place in the project. Of two who accept
    at once one wins; the other gets InvitationUnusable, and nothing of theirs remains.
    """
    require_usable(invitation)
    taken = Invitation.objects.open().filter(pk=invitation.pk).update(accepted=timezone.now(), accepted_by=person)
    if not taken:
        raise InvitationUnusable(_("This invitation has just been used. Ask for a new one."))
    if invitation.project:
        projects.place(invitation.project, person, invitation.project_role, by=invitation.invited_by)


def join_project(invitation: Invitation, person: User) -> None:
    """For somebody who is in the lab already. Raises InvitationUnusable, also for an invitation into no project."""
    if invitation.project is None:
        raise InvitationUnusable(_("You are in the lab already. Leave this link to whoever it is for."))
    if invitation.project.memberships.filter(user=person).exists():
        raise InvitationUnusable(_("You belong to this project already. Leave this link to whoever it is for."))
    with transaction.atomic():
        accept(invitation, person)


def _leads(invitation: Invitation, person: User) -> bool:
    return invitation.project is not None and invitation.project.is_led_by(person)


def _still_may(invitation: Invitation) -> bool:
    """An invitation is worth what its sender's right is worth now."""
    by = invitation.invited_by
    return may_invite(by, invitation.project) and invitation.role in roles_to_give(by)
