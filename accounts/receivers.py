"""What django-allauth tells that happened goes into the audit record."""

from typing import Any

from allauth.account import signals as addresses
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.signals import user_logged_in
from allauth.mfa import signals as factors
from allauth.socialaccount.signals import social_account_added, social_account_removed
from allauth.usersessions.models import UserSession
from django.http import HttpRequest

from accounts import audit
from accounts.models import User


def connect() -> None:
    user_logged_in.connect(_signed_in)
    addresses.authentication_step_completed.connect(_confirmed)
    factors.authenticator_added.connect(_factor_added)
    factors.authenticator_reset.connect(_factor_added)
    factors.authenticator_removed.connect(_factor_removed)
    factors.authentication_failed.connect(_factor_failed)
    addresses.email_added.connect(_address_added)
    addresses.email_removed.connect(_address_removed)
    addresses.email_changed.connect(_address_changed)
    addresses.email_confirmed.connect(_address_confirmed)
    social_account_added.connect(_server_added)
    social_account_removed.connect(_server_removed)


def _signed_in(request: HttpRequest, user: User, **kwargs: Any) -> None:
    ways = [record.get("type") or record["method"] for record in get_authentication_records(request, user)]
    audit.record(audit.Action.SIGNED_IN, by=user, of=user, by_means_of=ways)


def _confirmed(request: HttpRequest, user: User, reauthenticated: bool = False, **kwargs: Any) -> None:
    """Whoever has confirmed who it is goes on in a session of a new name: the old one, were it known, opens nothing."""
    if not reauthenticated:
        return
    former = request.session.session_key
    request.session.cycle_key()
    UserSession.objects.filter(user=user, session_key=former).update(session_key=request.session.session_key)


def _factor_added(user: User, authenticator: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.FACTOR_ADDED, by=user, of=user, kind=authenticator.type)


def _factor_removed(user: User, authenticator: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.FACTOR_REMOVED, by=user, of=user, kind=authenticator.type)


def _factor_failed(user: User, authenticator: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.SIGN_IN_FAILED, by=None, of=user, kind=authenticator.type)


def _address_added(user: User, email_address: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.EMAIL_CHANGED, by=user, of=user, added=email_address.email)


def _address_removed(user: User, email_address: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.EMAIL_CHANGED, by=user, of=user, removed=email_address.email)


def _address_changed(user: User, from_email_address: Any, to_email_address: Any, **kwargs: Any) -> None:
    before = from_email_address.email if from_email_address else None
    audit.record(audit.Action.EMAIL_CHANGED, by=user, of=user, before=before, after=to_email_address.email)


def _address_confirmed(email_address: Any, **kwargs: Any) -> None:
    """By whoever has opened the letter, who need not be signed in."""
    person = email_address.user
    audit.record(audit.Action.EMAIL_CHANGED, by=person, of=person, verified=email_address.email)


def _server_added(sociallogin: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.FACTOR_ADDED, by=sociallogin.user, of=sociallogin.user, kind="sign_in_server")


def _server_removed(socialaccount: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.FACTOR_REMOVED, by=socialaccount.user, of=socialaccount.user, kind="sign_in_server")
