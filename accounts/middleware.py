"""The language a signed-in person chose holds in every browser of theirs."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation

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
