"""What holds for every request: the language that its person chose, from where it was asked, who may go on."""

import hashlib
from collections.abc import Callable
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import translation
from django.utils.translation import gettext as _

from accounts import asking, audit, exports, logs
from accounts.addresses import address_of
from accounts.factors import lacks_factor
from accounts.models import User
from accounts.paths import shown_path

Answer = Callable[[HttpRequest], HttpResponse]
MINUTE = 60  # seconds
MOST_REFUSALS = 30  # of one person that are written down in a minute
UNHINDERED = {  # for whoever has still to set up a second factor; mfa_… beside them
    *("login", "logout", "set-language", "set-theme", "javascript-catalog"),
    *("account_login", "account_logout", "account_reauthenticate"),
}


class AccountLanguageMiddleware:
    """Comes after authentication; without a choice of the account's, LocaleMiddleware has decided already."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if isinstance(request.user, User) and request.user.language:
            translation.activate(request.user.language)
            request.LANGUAGE_CODE = translation.get_language()
        return self._get_response(request)


class AuditAddressMiddleware:
    """What is recorded while a request is answered was asked for from its address."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with audit.asked_from(address_of(request)):
            return self._get_response(request)


class AskingMiddleware:
    """What a page offers depends on who asks."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with asking.asked_by(request.user):
            return self._get_response(request)


class RefusalAuditMiddleware:
    """Every 403 that somebody known was answered is in the audit record: once a minute for each address of a page, and
    so often that a loop cannot fill the record. The API has put the owner of its token into `request.user` by then.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        is_refused = 403 in (response.status_code, getattr(response, "refused", None))
        if is_refused and isinstance(request.user, User) and _is_news(request, "refused"):
            path = f"{request.method} {shown_path(request)}"
            audit.record(audit.Action.RIGHTS_REFUSED, by=request.user, name=path, method=request.method)
        return response


class ExportAuditMiddleware:
    """Whatever somebody known takes away as a file is in the audit record, whichever page or address gave it: once a
    minute for each file and person.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        is_file = str(response.get("Content-Disposition", "")).startswith("attachment")
        if is_file and response.status_code == 200 and isinstance(request.user, User) and _is_news(request, "exported"):
            exports.record(request, response)
        return response


class SecondFactorMiddleware:
    """Whoever's role asks for a second factor sets one up before anything else. Tokens of the API are no sign-ins."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponse | None:
        if not lacks_factor(request.user):
            return None
        request.lacks_factor = True  # type: ignore[attr-defined]  # the page says why one is there
        name = (request.resolver_match and request.resolver_match.url_name) or ""
        if name in UNHINDERED or name.startswith("mfa_"):
            return None
        if request.path.startswith("/api/"):
            detail = _("Your role asks for a second factor. Set one up on your account page first.")
            problem = {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": detail}
            problem |= {"request_id": asked} if (asked := logs.known().get("request")) else {}
            return JsonResponse(problem, status=403, content_type="application/problem+json")
        return redirect("mfa_index")


def _is_news(request: HttpRequest, deed: str) -> bool:
    """deed: refused, of which there may be many, or exported, of which each is of interest."""
    who = request.user.pk
    asked = request.path if deed == "refused" else request.get_full_path()
    what = hashlib.sha256(f"{request.method} {asked}".encode(errors="replace")).hexdigest()
    if not cache.add(f"{deed}:{who}:{what}", 1, MINUTE):
        return False
    if deed != "refused":
        return True
    return any(cache.add(f"refusals:{who}:{number}", 1, MINUTE) for number in range(MOST_REFUSALS))
