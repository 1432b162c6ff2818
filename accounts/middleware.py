"""What holds for every request: the language that its person chose, and from where it was asked."""

from collections.abc import Callable
from ipaddress import ip_address

from django.http import HttpRequest, HttpResponse
from django.utils import translation

from accounts import asking, audit
from accounts.models import User


class AccountLanguageMiddleware:
    """Comes after authentication; without a choice of the account's, LocaleMiddleware has decided already."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if isinstance(request.user, User) and request.user.language:
            translation.activate(request.user.language)
            request.LANGUAGE_CODE = translation.get_language()
        return self._get_response(request)


class AuditAddressMiddleware:
    """What is recorded while a request is answered was asked for from its address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with audit.asked_from(_address(request)):
            return self._get_response(request)


class AskingMiddleware:
    """What a page offers depends on who asks."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with asking.asked_by(request.user):
            return self._get_response(request)


def _address(request: HttpRequest) -> str | None:
    try:
        return str(ip_address(request.META.get("REMOTE_ADDR", "")))
    except ValueError:
        return None  # a UNIX socket has no address
