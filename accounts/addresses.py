"""From where a request comes."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest

NOWHERE = "0.0.0.0"  # noqa: S104 - what stands for an address where a column must have one


def address_of(request: HttpRequest) -> str | None:
    """The address that asks. None for a UNIX socket."""
    return seen_from(request.headers.get("X-Forwarded-For", ""), request.META.get("REMOTE_ADDR", ""))


def address_in(scope: Mapping[str, Any]) -> str | None:
    """The address that asks for a WebSocket."""
    forwarded = [value for name, value in scope.get("headers", ()) if name == b"x-forwarded-for"]
    return seen_from(b",".join(forwarded).decode("latin-1"), str((scope.get("client") or [""])[0]))


def seen_from(forwarded: str, peer: str) -> str | None:
    """As the outermost of our own proxies (ARENA_PROXIES) saw it. What stands further left in X-Forwarded-For was
    written by the client.
    """
    seen = [part.strip() for part in forwarded.split(",")]
    count = settings.TRUSTED_PROXIES
    told = seen[-count] if 0 < count <= len(seen) else peer
    try:
        return str(ip_address(told))
    except ValueError:
        return None
