"""Who asks."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from accounts.errors import Refusal
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
        except (Http404, PermissionDenied, Refusal):
            return redirect_to_login(request.get_full_path())

    return shown


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
        if request.method != "POST" or not is_reauthentication_required(request, app="account"):
            return view(request, *args, **kwargs)
        messages.info(request, _("Confirm that it is you, then send it once more: what you typed was not kept."))
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': request.path})}")

    return guarded


def for_admins(view: View) -> View:
    """To everybody else there is no such page."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not person(request).is_admin:
            raise Http404
        return view(request, *args, **kwargs)

    return login_required(guarded)
