"""What pages about people need."""

from typing import Any

from django import template
from django.http import HttpRequest

from accounts import invitations
from accounts.models import AuditEntry, Invitation

register = template.Library()
BY_ITSELF = ("localhost", "127.0.0.1", "[::1]")


@register.filter
def takes_security_keys(request: HttpRequest) -> bool:
    """Browsers use a security key over TLS, and on localhost by its name; never for a bare address."""
    host = request.get_host().rpartition(":")[0] if ":" in request.get_host() else request.get_host()
    return host == "localhost" or (request.is_secure() and host not in BY_ITSELF)


@register.filter
def held_invitation(request: HttpRequest) -> Invitation | None:
    """The invitation whose link was opened in this browser."""
    return invitations.held(request)


@register.filter
def told(entry: AuditEntry) -> list[tuple[str, Any]]:
    """The details of an entry, as they are to be read: what is missing is left out."""
    return [(name.replace("_", " "), _plain(value)) for name, value in entry.detail.items() if _says(value)]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        said = ((name.replace("_", " "), inner) for name, inner in value.items() if _says(inner))
        return ", ".join(name if inner is True else f"{name} {inner}" for name, inner in said)
    return value


def _says(value: Any) -> bool:
    return value is not None and value is not False and value != ""
