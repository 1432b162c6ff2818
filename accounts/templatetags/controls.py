"""Inputs of forms and icons. Every template has them without a `load`: they are among the built-in libraries."""

from typing import Any

from django import template
from django.forms import BaseForm, BoundField
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag
def control(form: BaseForm, name: str, described_by: str = "", **attributes: Any) -> SafeString:
    """The input of a field, tied to its hint and to its errors. Underscores in attribute names become dashes."""
    bound = form[name]
    given = {key.replace("_", "-"): value for key, value in attributes.items()}
    given |= described(bound, described_by) | {key: value for key, value in given.items() if key == "aria-invalid"}
    return bound.as_widget(attrs=given)


def described(bound: BoundField, described_by: str) -> dict[str, str]:
    """Django would name only its own help text; our hints and errors come from the template."""
    ids = [described_by, error_id(bound) if bound.errors else ""]
    names = " ".join(filter(None, ids))
    invalid = {"aria-invalid": "true"} if bound.errors else {}
    return ({"aria-describedby": names} if names else {}) | invalid


@register.filter
def error_id(bound: BoundField) -> str:
    return f"{bound.id_for_label}-error"


@register.simple_tag
def icon(name: str) -> SafeString:
    """A 16 px drawing beside a word; never a sign by itself."""
    return format_html(
        '<svg class="icon icon-{}" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{}</svg>',
        name,
        mark_safe(ICONS[name]),  # noqa: S308 - a constant of this file
    )


ICONS = {
    "queued": '<circle cx="8" cy="8" r="6.25"/><path d="M8 4.5V8l2.4 1.6"/>',
    "running": '<path class="solid" d="M5 3.2v9.6l7.6-4.8z"/>',
    "waiting": '<path d="M5.5 3.5v9M10.5 3.5v9"/>',
    "stopping": '<rect x="4" y="4" width="8" height="8" rx="1"/>',
    "stopped": '<rect class="solid" x="4" y="4" width="8" height="8" rx="1"/>',
    "completed": '<path d="m3 8.5 3.2 3.2L13 4.8"/>',
    "failed": '<path d="M8 2.2 14.3 13.2H1.7zM8 6.5v3M8 11.3v.4"/>',
    "auto": '<circle cx="8" cy="8" r="5.75"/><path class="solid" d="M8 2.25a5.75 5.75 0 0 1 0 11.5z"/>',
    "light": '<circle cx="8" cy="8" r="3"/><path d="M8 1v1.7M8 13.3V15M1 8h1.7M13.3 8H15"/>'
    '<path d="m3 3 1.2 1.2M11.8 11.8 13 13M13 3l-1.2 1.2M4.2 11.8 3 13"/>',
    "dark": '<path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z"/>',
    "search": '<circle cx="7" cy="7" r="4.5"/><path d="m10.4 10.4 3.6 3.6"/>',
    "call": '<path d="M2.5 4.5h11M2.5 8h7M2.5 11.5h9"/>',
    "copy": '<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M3 10.5h-.5v-8h8V3"/>',
    "down": '<path d="M8 3v9.5M4 8.8l4 4 4-4"/>',
    "back": '<path d="M13 8H3.5M7.5 4l-4 4 4 4"/>',
    "cut": '<path d="M2.5 8h5M9.5 4v8M12 8h.3M14 8h.2"/>',
    "person": '<circle cx="8" cy="5" r="2.75"/><path d="M2.75 13.5a5.25 5.25 0 0 1 10.5 0"/>',
    "people": '<circle cx="5.75" cy="5.5" r="2.25"/><path d="M1.5 13a4.25 4.25 0 0 1 8.5 0"/>'
    '<path d="M10 3.6a2.25 2.25 0 0 1 0 3.9M11.7 9.4A4.25 4.25 0 0 1 14.5 13"/>',
    "judge": '<path d="M8 2.5v11M5 13.5h6M3 4.5h10M3 4.5 1.5 9h3zM13 4.5 11.5 9h3z"/>',
    "filter": '<path d="M2.5 3.5h11L9.3 8.6v4.2l-2.6-1.4V8.6z"/>',
    "branch": '<circle cx="4.5" cy="3.5" r="1.6"/><circle cx="4.5" cy="12.5" r="1.6"/>'
    '<circle cx="11.5" cy="5.5" r="1.6"/>'
    '<path d="M4.5 5.1v5.8M11.5 7.1c0 2.6-4.4 1.6-6.6 3.8"/>',
    "expand": '<path d="M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5 9.3 6.7M2.5 13.5l4.2-4.2"/>',
    "collapse": '<path d="M13.5 6.5h-4v-4M2.5 9.5h4v4M9.5 6.5l4-4M6.5 9.5l-4 4"/>',
    "up": '<path d="M8 13V3.5M4 7.2l4-4 4 4"/>',
    "robot": '<rect x="3" y="5" width="10" height="8" rx="2"/><path d="M8 2.5V5M6 8.5v1M10 8.5v1"/>',
    "lock": '<rect x="3.5" y="7" width="9" height="6.5" rx="1.5"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
    "leave": '<path d="M6.5 2.5h-4v11h4M6.5 8h7M10.5 5l3 3-3 3"/>',
    "retry": '<path d="M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3"/>',
}
