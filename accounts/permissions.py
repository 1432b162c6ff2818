"""Whether a token has the scope that a view of the API needs, and whether a browser was confirmed of late."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAuthenticated
from rest_framework.request import Request

from accounts.models import ApiToken
from accounts.people import is_confirmed
from accounts.scopes import Scope


class LacksScope(PermissionDenied):
    """The header is that of RFC 6750, so that a program can tell it from a missing right of its person."""

    def __init__(self, scope: str) -> None:
        super().__init__(
            _("This token lacks the scope “%(scope)s”. Create a token with it on the account page.") % {"scope": scope}
        )
        self.auth_header = f'Bearer error="insufficient_scope", scope="{scope}"'


class HasScope(BasePermission):
    """`scope` of a view is what its changes need, `read_scope` what reading needs (`read` unless it says otherwise);
    `accounts.scopes.needs` names it for one handler. What says nothing is carried out for nobody.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        if not hasattr(view, str(request.method).lower()):
            return True  # there is no such method, which is what will be said
        scope = scope_of(view, str(request.method))
        if scope is None:
            return False
        if isinstance(request.auth, ApiToken) and scope not in request.auth.scopes:
            raise LacksScope(scope)
        return True


class Confirmed(BasePermission):
    """As on the pages: what is grave needs a browser in which the person was confirmed a moment ago. A token was made
    by somebody who was.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.method in SAFE_METHODS or request.auth is not None or not request.user.is_authenticated:
            return True
        if not is_confirmed(request._request):
            raise PermissionDenied(_("Confirm that it is you on your account page first, or use a token."))
        return True


GRAVE = [IsAuthenticated, HasScope, Confirmed]


def scope_of(view: Any, method: str) -> Scope | None:
    """What a method of a view needs. None when nobody has said."""
    handler = getattr(view, method.lower(), None)
    if found := getattr(handler, "scope", None):
        return Scope(found)
    if method in SAFE_METHODS:
        return Scope(getattr(view, "read_scope", Scope.READ))
    found = getattr(view, "scope", None)
    return Scope(found) if found else None
