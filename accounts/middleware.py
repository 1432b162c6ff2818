"""What depends on who asks: the language of the account, and the choices on offer."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin

from accounts.models import User
from accounts.people import asked_by


class AccountLanguageMiddleware(MiddlewareMixin):
    """Comes after authentication; without a choice of the account's, LocaleMiddleware has decided already."""

    def process_request(self, request: HttpRequest) -> None:
        if isinstance(request.user, User) and request.user.language:
            translation.activate(request.user.language)
            request.LANGUAGE_CODE = translation.get_language()


class AskingMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with asked_by(request.user):
            return self._get_response(request)
