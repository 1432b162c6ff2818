"""Favorites: runs, boards and contestants that a user marked, to find them first."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.errors import Forbidden, Invalid
from experiments.engine.text import is_storable
from experiments.models import Favorite
from experiments.models.library import LONGEST_KEY

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

MOST = 200  # of one user


def mark(kind: str, key: str, *, by: "User") -> Favorite:
    """Twice is once. Whether there is such a thing, and the user may see it, is looked at where favorites are shown, so
    that nobody learns of others' runs here. Raises Invalid naming fields, and Forbidden above MOST.
    """
    kept: dict[str, Any] = {"user": by, "kind": kind, "key": _checked(kind, key)}
    if found := Favorite.objects.filter(**kept).first():
        return found
    if Favorite.objects.filter(user=by).count() >= MOST:
        raise Forbidden(_("You already have %(most)s favorites. Remove some.") % {"most": MOST})
    return Favorite.objects.get_or_create(**kept)[0]


def unmark(kind: str, key: str, *, by: "User") -> None:
    Favorite.objects.filter(user=by, kind=kind, key=key).delete()


def marked(user: "User | AnonymousUser") -> dict[str, list[str]]:
    """The keys that a user marked by their kind, the latest first; none of a visitor."""
    found: dict[str, list[str]] = {kind: [] for kind in Favorite.Kind.values}
    for kind, key in Favorite.objects.of(user).values_list("kind", "key"):
        found[kind].append(key)
    return found


def _checked(kind: str, key: str) -> str:
    if kind not in Favorite.Kind.values:
        raise Invalid(kind=_("Favorites are runs, boards and contestants."))
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable() or not is_storable(key):
        raise Invalid(key=_("Name what to mark in 1 to %(most)s characters.") % {"most": LONGEST_KEY})
    if kind == Favorite.Kind.RUN:
        try:
            return str(UUID(key))
        except ValueError as error:
            raise Invalid(key=_("A run is marked by its id.")) from error
    return key
