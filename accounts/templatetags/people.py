"""What pages about people need."""

from typing import Any

from django import template
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import invitations
from accounts.models import AuditEntry, Invitation

register = template.Library()
BY_ITSELF = ("localhost", "127.0.0.1", "[::1]")
DETAILS = {  # of entries of the audit log, by the names under which they are stored
    "active": gettext_lazy("active"),
    "added": gettext_lazy("added"),
    "after": gettext_lazy("after"),
    "allow_private": gettext_lazy("private addresses allowed"),
    "allows_unknown_prices": gettext_lazy("allows unknown prices"),
    "archived": gettext_lazy("archived"),
    "base_url": gettext_lazy("address"),
    "before": gettext_lazy("before"),
    "by_command": gettext_lazy("by a command"),
    "by_mail": gettext_lazy("by e-mail"),
    "by_means_of": gettext_lazy("signed in with"),
    "bytes": gettext_lazy("bytes"),
    "changed": gettext_lazy("changed"),
    "command": gettext_lazy("command"),
    "cost": gettext_lazy("cost"),
    "cycles": gettext_lazy("cycles"),
    "days": gettext_lazy("days"),
    "deed": gettext_lazy("action"),
    "defaults": gettext_lazy("defaults"),
    "elsewhere": gettext_lazy("sessions elsewhere"),
    "encrypted": gettext_lazy("encrypted again"),
    "events": gettext_lazy("events"),
    "expired": gettext_lazy("expired"),
    "fields": gettext_lazy("fields"),
    "first_admin_link": gettext_lazy("by the link for the first administrator"),
    "format": gettext_lazy("format"),
    "invited_by": gettext_lazy("invited by"),
    "key": gettext_lazy("key"),
    "kind": gettext_lazy("kind"),
    "lab": gettext_lazy("whole lab"),
    "link": gettext_lazy("link"),
    "lost": gettext_lazy("lost"),
    "members": gettext_lazy("members"),
    "method": gettext_lazy("method"),
    "now": gettext_lazy("now"),
    "of_lab": gettext_lazy("of the lab"),
    "opened": gettext_lazy("opened"),
    "outcome": gettext_lazy("result"),
    "owner": gettext_lazy("owner"),
    "path": gettext_lazy("path"),
    "period": gettext_lazy("period"),
    "person": gettext_lazy("person"),
    "project": gettext_lazy("project"),
    "reason": gettext_lazy("reason"),
    "removed": gettext_lazy("removed"),
    "role": gettext_lazy("role"),
    "run": gettext_lazy("run"),
    "runs": gettext_lazy("runs"),
    "sessions": gettext_lazy("sessions"),
    "submitted": gettext_lazy("submitted"),
    "tokens": gettext_lazy("tokens"),
    "verified": gettext_lazy("verified"),
    "votes": gettext_lazy("votes"),
}


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
    return [(_name(name), _plain(value)) for name, value in entry.detail.items() if _says(value)]


def _name(stored: str) -> str:
    return str(DETAILS.get(stored, stored.replace("_", " ")))


def _plain(value: Any) -> Any:
    if value is True:
        return _("yes")
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        said = ((_name(name), inner) for name, inner in value.items() if _says(inner))
        return ", ".join(name if inner is True else f"{name} {inner}" for name, inner in said)
    return value


def _says(value: Any) -> bool:
    return value is not None and value is not False and value != ""
