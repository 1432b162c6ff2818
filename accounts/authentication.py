"""Bearer tokens of the API: hashed at rest, expiring, void as soon as their owner is deactivated."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from accounts.tokens import note_first_use


class BearerAuthentication(TokenAuthentication):  # type: ignore[misc]
    """`Authorization: Bearer TOKEN`, as knox checks it, which takes for granted that a header is text."""

    def authenticate_credentials(self, token: bytes) -> tuple[Any, Any]:
        if not token.isascii() or b"\0" in token:
            raise AuthenticationFailed(_("Invalid token."))
        user, found = super().authenticate_credentials(token)
        note_first_use(user, found)
        return user, found


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
