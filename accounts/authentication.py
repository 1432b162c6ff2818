"""Bearer tokens of the API: hashed at rest, expiring, void as soon as their owner is deactivated."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication


class BearerAuthentication(TokenAuthentication):  # type: ignore[misc]
    """`Authorization: Bearer TOKEN`, as knox checks it."""


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
