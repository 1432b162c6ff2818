"""Entries of the audit log that no verb writes: refusals, files, and what django-allauth signals (signing in, second
factors, e-mail addresses).
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any

from allauth.account import signals as account
from allauth.account.authentication import get_authentication_records
from allauth.account.models import EmailAddress
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from allauth.socialaccount.signals import social_account_added, social_account_removed
from allauth.usersessions.models import UserSession
from django.core.cache import cache
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from accounts import audit
from accounts.addresses import address_of, shown_path
from accounts.models import User

MINUTE = 60  # seconds
MOST_REFUSALS = 30  # of one person that are written down in a minute
FILE_NAME = re.compile(r"filename\*?=(?:utf-8'')?\"?([^\";]+)", re.IGNORECASE)
PLACE = re.compile(r"^/(?:api/)?(?:lab/)?(?P<kind>[\w-]+)/(?P<id>[\w-]+)/")
KINDS: dict[str, str] = {}  # "runs" in an address -> "run" in the audit log


def name_kinds(**kinds: str) -> None:
    """Called at start by the apps whose pages are exported: `runs="run"` makes `/runs/7/…` the target `run:7`."""
    KINDS.update(kinds)


class AuditMiddleware:
    """Entries that are written within a request have the address from which it came. Besides, it writes an entry for

    * every 403 for a person who is signed in: once a minute for each address of a page, and not more often than
      MOST_REFUSALS allows. The API has put the owner of its token into `request.user` by then.
    * every file that somebody known took away, whichever page or address gave it: once a minute for each.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with audit.asked_from(address_of(request)):
            response = self._get_response(request)
            if isinstance(request.user, User):
                if 403 in (response.status_code, getattr(response, "refused", None)):
                    _record_refusal(request, request.user)
                is_file = str(response.get("Content-Disposition", "")).startswith("attachment")
                if is_file and response.status_code == 200:
                    _record_export(request, request.user, response)
        return response


def _record_refusal(request: HttpRequest, user: User) -> None:
    is_news = _is_first_in_a_minute(request, user, "refused", request.path)
    if is_news and any(cache.add(f"refusals:{user.pk}:{number}", 1, MINUTE) for number in range(MOST_REFUSALS)):
        path = f"{request.method} {shown_path(request)}"
        audit.record(audit.Action.RIGHTS_REFUSED, by=user, name=path, method=request.method)


def _record_export(request: HttpRequest, user: User, response: HttpResponse) -> None:
    """name: of the file. target: the item that the address names, if it names one."""
    if not _is_first_in_a_minute(request, user, "exported", request.get_full_path()):
        return
    found, place = FILE_NAME.search(response["Content-Disposition"]), PLACE.match(request.path)
    target = f"{KINDS.get(place['kind'], place['kind'])}:{place['id']}" if place else ""
    name = found[1] if found else request.path
    audit.record(audit.Action.EXPORTED, by=user, target=target, name=name, path=request.path)


def _is_first_in_a_minute(request: HttpRequest, user: User, what: str, asked: str) -> bool:
    digest = hashlib.sha256(f"{request.method} {asked}".encode(errors="replace")).hexdigest()
    return cache.add(f"{what}:{user.pk}:{digest}", 1, MINUTE)


# --- what django-allauth signals ---


@receiver(account.user_logged_in)
def _signed_in(request: HttpRequest, user: User, **kwargs: Any) -> None:
    ways = [record.get("type") or record["method"] for record in get_authentication_records(request, user)]
    audit.record(audit.Action.SIGNED_IN, by=user, of=user, by_means_of=ways)


@receiver(account.authentication_step_completed)
def _confirmed(request: HttpRequest, user: User, reauthenticated: bool = False, **kwargs: Any) -> None:
    """Whoever has confirmed who it is goes on in a session of a new name: the old one, were it known, opens nothing."""
    if not reauthenticated:
        return
    former = request.session.session_key
    request.session.cycle_key()
    UserSession.objects.filter(user=user, session_key=former).update(session_key=request.session.session_key)


@receiver([mfa.authenticator_added, mfa.authenticator_reset])
def _factor_added(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    audit.record(audit.Action.FACTOR_ADDED, by=user, of=user, kind=authenticator.type)


@receiver(mfa.authenticator_removed)
def _factor_removed(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    audit.record(audit.Action.FACTOR_REMOVED, by=user, of=user, kind=authenticator.type)


@receiver(mfa.authentication_failed)
def _factor_failed(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    audit.record(audit.Action.SIGN_IN_FAILED, by=None, of=user, kind=authenticator.type)


@receiver(account.email_added)
def _email_added(user: User, email_address: EmailAddress, **kwargs: Any) -> None:
    audit.record(audit.Action.EMAIL_CHANGED, by=user, of=user, added=email_address.email)


@receiver(account.email_removed)
def _email_removed(user: User, email_address: EmailAddress, **kwargs: Any) -> None:
    audit.record(audit.Action.EMAIL_CHANGED, by=user, of=user, removed=email_address.email)


@receiver(account.email_changed)
def _email_changed(
    user: User, from_email_address: EmailAddress | None, to_email_address: EmailAddress, **kwargs: Any
) -> None:
    before = from_email_address.email if from_email_address else None
    audit.record(audit.Action.EMAIL_CHANGED, by=user, of=user, before=before, after=to_email_address.email)


@receiver(account.email_confirmed)
def _email_confirmed(email_address: EmailAddress, **kwargs: Any) -> None:
    """By whoever has opened the letter, who need not be signed in."""
    user = email_address.user
    audit.record(audit.Action.EMAIL_CHANGED, by=user, of=user, verified=email_address.email)


@receiver(social_account_added)
def _server_added(sociallogin: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.FACTOR_ADDED, by=sociallogin.user, of=sociallogin.user, kind="sign_in_server")


@receiver(social_account_removed)
def _server_removed(socialaccount: Any, **kwargs: Any) -> None:
    audit.record(audit.Action.FACTOR_REMOVED, by=socialaccount.user, of=socialaccount.user, kind="sign_in_server")
