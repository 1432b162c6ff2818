"""What an admin decides about people: their role, whether they may come in, what helps whoever is locked out."""

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import audit, sessions
from accounts.errors import Conflict, Forbidden
from accounts.models import ApiToken, User


def change_role(person: User, to: str, *, by: User) -> None:
    """Raises Forbidden, and Conflict for the last admin."""
    _require_admin(by)
    with transaction.atomic():
        person = _locked(person, goes=to != User.Role.ADMIN)
        before = person.role
        if before == to:
            return
        take_role(person, to)
        person.save(update_fields=["role", "is_staff", "is_superuser"])
        audit.record(audit.Action.ROLE_CHANGED, by=by, of=person, before=before, after=str(to))


def take_role(person: User, role: str) -> None:
    """Sets the role, and what Django calls staff and superuser: admins are both, all others neither. Does not save."""
    person.role = User.Role(role)
    person.is_staff = person.is_superuser = role == User.Role.ADMIN


def deactivate(person: User, *, by: User) -> None:
    """Signs the person out everywhere and voids the API tokens. What they own stays. Raises Forbidden, and Conflict for
    the last admin.
    """
    _require_admin(by)
    with transaction.atomic():
        person = _locked(person, goes=True)
        if not person.is_active:
            return
        person.is_active = False
        person.save(update_fields=["is_active"])
        ended = sessions.end_sessions(person)
        voided, _kinds = ApiToken.objects.filter(user=person).delete()
        audit.record(audit.Action.PERSON_DEACTIVATED, by=by, of=person, sessions=ended, tokens=voided)


def reactivate(person: User, *, by: User) -> None:
    """The person may sign in again; tokens have to be made anew. Raises Forbidden."""
    _require_admin(by)
    with transaction.atomic():
        if User.objects.filter(pk=person.pk, is_active=False).update(is_active=True):
            audit.record(audit.Action.PERSON_REACTIVATED, by=by, of=person)


def remove_factors(person: User, *, by: User) -> None:
    """For somebody who has lost the device and the recovery codes. Ends the sign-ins too. Raises Forbidden."""
    _require_admin(by)
    with transaction.atomic():
        if Authenticator.objects.filter(user=person).delete()[0]:
            sessions.end_sessions(person)
            audit.record(audit.Action.FACTOR_REMOVED, by=by, of=person, kind="all")


def recover_admin(person: User) -> str:
    """For an administrator who cannot sign in, where no other can help: removes the second factors, ends the sign-ins,
    and activates the account. Only a command calls it. Returns the path of a link that sets a new password, once and
    within PASSWORD_RESET_TIMEOUT. Raises Conflict for a person of another role.
    """
    with transaction.atomic():
        person = User.objects.select_for_update().get(pk=person.pk)
        if person.role != User.Role.ADMIN:
            raise Conflict(_("%(name)s is not an administrator.") % {"name": person})
        factors, _kinds = Authenticator.objects.filter(user=person).delete()
        was_inactive, person.is_active = not person.is_active, True
        person.save(update_fields=["is_active"])
        done = {"factors": factors, "sessions": sessions.end_sessions(person), "reactivated": was_inactive}
        audit.record(audit.Action.PASSWORD_CHANGED, by=None, of=person, by_command=True, **done)
    key = default_token_generator.make_token(person)
    return reverse("account_reset_password_from_key", args=[user_pk_to_url_str(person), key])


def _require_admin(by: User) -> None:
    if not by.is_admin:
        raise Forbidden(_("Only administrators can do this. Ask one."))


def _locked(person: User, *, goes: bool) -> User:
    """The person as the database has them, locked with all admins: two who go at once go one after the other.

    goes: whether there would be one admin less.
    """
    admins = list(User.objects.select_for_update().filter(role=User.Role.ADMIN, is_active=True).order_by("pk"))
    if goes and [admin.pk for admin in admins] == [person.pk]:
        raise Conflict(_("This is the last administrator. Make another person an administrator first."))
    return User.objects.select_for_update().get(pk=person.pk)
