"""Who asks."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import reauthentication_required
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from accounts.models import User

View = Callable[..., HttpResponseBase]


def person(request: HttpRequest) -> User:
    """Whoever is signed in. Raises PermissionDenied when nobody is, which `login_required` has seen to before."""
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
        except (Http404, PermissionDenied):
            return redirect_to_login(request.get_full_path())

    return shown


def stepped_up(view: View) -> View:
    """Before anything is sent to this page, the password or a second factor is asked for again, unless that was a
    moment ago. What was sent is carried out then. Looking at the page is free.
    """
    guarded: View = reauthentication_required(view, allow_get=True)
    return guarded


def for_admins(view: View) -> View:
    """To everybody else there is no such page."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not person(request).is_admin:
            raise Http404
        return view(request, *args, **kwargs)

    return login_required(guarded)
