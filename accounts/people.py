"""Who asks, and which pages are for whom."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from allauth.account.decorators import reauthentication_required
from allauth.core.exceptions import ReauthenticationRequired
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from accounts.errors import Refusal
from accounts.models import User

View = Callable[..., HttpResponseBase]
Found = TypeVar("Found")

_asker: ContextVar[User | AnonymousUser | None] = ContextVar("who asks", default=None)
_found: ContextVar[dict[Callable[..., Any], Any] | None] = ContextVar("what was found for them", default=None)


def person(request: HttpRequest) -> User:
    """The person who is signed in. Raises PermissionDenied for visitors, whom `login_required` has sent away before."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def for_readers(view: Callable[..., Any]) -> Callable[..., Any]:
    """A page that visitors may read where its content is public. What they may not know of, or what does not exist, may
    be known to whoever signs in: so they are asked to.
    """

    @wraps(view)
    def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        try:
            return view(request, *args, **kwargs)
        except (Http404, PermissionDenied, Refusal):
            return redirect_to_login(request.get_full_path())

    return shown


def for_admins(view: View) -> View:
    """404 for everybody else."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not person(request).is_admin:
            raise Http404
        return view(request, *args, **kwargs)

    return login_required(guarded)


# --- confirmed a moment ago ---


def stepped_up(view: View) -> View:
    """Before anything is sent to this page, the password or a second factor is asked for again, unless that was a
    moment ago. What was sent is carried out then. Looking at the page is free.
    """
    guarded: View = reauthentication_required(view, allow_get=True)
    return guarded


def stepped_up_for_secrets(view: View) -> View:
    """As `stepped_up`, for what is sent with a secret in it: that is kept nowhere meanwhile, and typed once more."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST" or is_confirmed(request):
            return view(request, *args, **kwargs)
        messages.info(request, _("Confirm that it is you, then send the form again. What you typed was not kept."))
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': request.path})}")

    return guarded


def confirmed_first(view: View) -> View:
    """As `stepped_up_for_secrets`, and before the form is shown: a secret is typed into it once, then."""
    guarded = stepped_up_for_secrets(view)

    @wraps(view)
    def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "GET" and not is_confirmed(request):
            return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': request.get_full_path()})}")
        return guarded(request, *args, **kwargs)

    return shown


def is_confirmed(request: HttpRequest) -> bool:
    """Whether the person has typed the password or used a second factor a moment ago."""
    try:
        _require_confirmation(request)
    except ReauthenticationRequired:
        return False
    return True


@reauthentication_required  # type: ignore[untyped-decorator]  # allauth has no types
def _require_confirmation(request: HttpRequest) -> None:
    """Nothing by itself: allauth has its check as a decorator alone."""


# --- for whom choices are offered ---
# A list of choices is made deep inside a form, and depends on the person as a word depends on the language. Rights are
# never decided by it: verbs are told who asks.


def once(find: Callable[[User | AnonymousUser | None], Found]) -> Found:
    """What `find` finds for the person who asks, None in a command or a worker: looked up once in a request."""
    found = _found.get()
    if found is None:
        return find(_asker.get())
    if find not in found:
        found[find] = find(_asker.get())
    return found[find]  # type: ignore[no-any-return]  # each function is the key of what it returned


@contextmanager
def asked_by(who: User | AnonymousUser | None) -> Iterator[None]:
    """Choices within are offered to this person."""
    asker, found = _asker.set(who), _found.set({})
    try:
        yield
    finally:
        _found.reset(found)
        _asker.reset(asker)


class AccountLanguageMiddleware(MiddlewareMixin):
    """Comes after authentication; without a choice of the account's, LocaleMiddleware has decided already."""

    def process_request(self, request: HttpRequest) -> None:
        if isinstance(request.user, User) and request.user.language:
            translation.activate(request.user.language)
            request.LANGUAGE_CODE = translation.get_language()


class AskingMiddleware:
    """Choices within a request are offered to the person who asks."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with asked_by(request.user):
            return self._get_response(request)
