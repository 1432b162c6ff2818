"""What scenarios and presets have in common: rules for their texts, their owner, and where they come from."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from accounts.errors import Errors, Forbidden
from experiments.engine.text import is_storable
from experiments.models import Preset, Scenario

if TYPE_CHECKING:
    from accounts.models import User


def complaints(field: str, text: Any, longest: int, *, is_needed: bool = False) -> Errors:
    """What is wrong with a text, by its field; nothing where it may be stored."""
    if not isinstance(text, str):
        return {field: [_("Enter a text.")]}
    if not is_storable(text):
        return {field: [_("The text has characters that cannot be stored (NUL or half a surrogate pair).")]}
    if len(text) > longest:
        return {field: [_("This is longer than %(most)s characters.") % {"most": longest}]}
    return {field: [_("This field cannot be empty.")]} if is_needed and not text.strip() else {}


def with_plain_line_ends(text: str) -> str:
    """Browsers send each line end as two characters, whichever was typed."""
    return text.replace("\r\n", "\n").strip()


def require_owner(row: Scenario | Preset, by: "User") -> None:
    if row.owner_id != by.pk:
        raise Forbidden(_("This belongs to another person. Copy it, and change the copy."))


def origin_of(*, is_builtin: bool, is_mine: bool) -> str:
    return "builtin" if is_builtin else "mine" if is_mine else "shared"


def by_origin(choices: Iterable[Any]) -> dict[str, list[Any]]:
    """By their origin; empty ones included."""
    groups: dict[str, list[Any]] = {"builtin": [], "mine": [], "shared": []}
    for choice in choices:
        groups[choice.origin].append(choice)
    return groups
