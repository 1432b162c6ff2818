"""Who asks."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from accounts.models import User


def person(request: HttpRequest) -> User:
    """Whoever is signed in. Raises PermissionDenied when nobody is, which `login_required` has seen to before."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
