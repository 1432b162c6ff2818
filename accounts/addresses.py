"""From where a request comes."""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest

NOWHERE = "0.0.0.0"  # noqa: S104 - what stands for an address where a column must have one


def address_of(request: HttpRequest) -> str | None:
    """The address that asks, as the outermost of our own proxies (ARENA_PROXIES) saw it. What stands further left in
    X-Forwarded-For was written by the client. None for a UNIX socket.
    """
    seen = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",")]
    count = settings.TRUSTED_PROXIES
    told = seen[-count] if 0 < count <= len(seen) else request.META.get("REMOTE_ADDR", "")
    try:
        return str(ip_address(told))
    except ValueError:
        return None
