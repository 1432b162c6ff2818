"""Bearer tokens of the API: hashed at rest, expiring, void as soon as their owner is deactivated."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts import logs
from accounts.addresses import address_of
from accounts.models import ApiToken
from accounts.tokens import note_use


class BearerAuthentication(TokenAuthentication):  # type: ignore[misc]  # knox has no types
    """`Authorization: Bearer TOKEN`, as knox checks it, which takes for granted that a header is text."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        user, token = found
        note_use(token, address_of(request._request))
        return user, token

    def authenticate_credentials(self, token: bytes) -> tuple[Any, Any]:
        if not token.isascii() or b"\0" in token:
            raise AuthenticationFailed(_("Invalid token."))
        user, found = super().authenticate_credentials(token)
        logs.note(user=user.pk)
        return user, found

    def _cleanup_token(self, auth_token: ApiToken) -> bool:
        """Whether it has expired, and is no more. Knox fetches all others of its owner besides, with every request;
        `note_use` forgets those.
        """
        if auth_token.expiry is None or auth_token.expiry >= timezone.now():
            return False
        auth_token.delete()
        return True


class KeyHeaderAuthentication(BearerAuthentication):
    """The same token in `X-API-Key: TOKEN`, for clients that can send a key in no other way."""

    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        token = request.META.get("HTTP_X_API_KEY", "").encode(errors="replace").strip()
        if not token:
            return None
        user, found = self.authenticate_credentials(token)
        note_use(found, address_of(request._request))
        return user, found


class KeyHeaderScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # drf-spectacular registers a class untyped
    target_class = KeyHeaderAuthentication
    name = "keyHeader"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": "X-API-Key"}


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # drf-spectacular registers a class untyped
    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
