"""Who asks."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from accounts.models import User


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
