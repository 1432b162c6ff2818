"""From where a request comes, and which path it asks for, as others may read it."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest

NOWHERE = "0.0.0.0"  # noqa: S104 - what stands for an address where a column must have one


def address_of(request: HttpRequest) -> str | None:
    """The address that asks. None for a UNIX socket."""
    return _seen_from(request.headers.get("X-Forwarded-For", ""), request.META.get("REMOTE_ADDR", ""))


def address_in(scope: Mapping[str, Any]) -> str | None:
    """The address that asks for a WebSocket."""
    forwarded = [value for name, value in scope.get("headers", ()) if name == b"x-forwarded-for"]
    return _seen_from(b",".join(forwarded).decode("latin-1"), str((scope.get("client") or [""])[0]))


def _seen_from(forwarded: str, peer: str) -> str | None:
    """As the outermost of our own proxies (ARENA_PROXIES) saw it. What stands further left in X-Forwarded-For was
    written by the client.
    """
    seen = [part.strip() for part in forwarded.split(",")]
    count = settings.TRUSTED_PROXIES
    try:
        return str(ip_address(seen[-count] if 0 < count <= len(seen) else peer))
    except ValueError:
        return None


def shown_path(request: Any) -> str:
    """The path, as long as nothing but ids is in it; otherwise its route, since a part may be a secret, such as a link
    that was shared. Never the query.
    """
    match = getattr(request, "resolver_match", None)
    if match is None or all(isinstance(value, int | UUID) for value in match.kwargs.values()):
        return str(request.path)
    return f"/{match.route}"


def route_of(request: Any) -> str:
    """The name of a request's address; one of as many as there are addresses."""
    match = getattr(request, "resolver_match", None)
    return (match.view_name if match else None) or "unknown"
