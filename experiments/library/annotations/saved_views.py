"""Saved views: the filters of the list of runs under a name, one's own or a project's."""

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.utils.translation import gettext as _

from accounts.errors import Forbidden, Invalid
from accounts.models import Project
from experiments.engine.text import is_storable
from experiments.models import SavedView
from experiments.models.library import LONGEST_QUERY
from experiments.runs.sharing.sharing import checked_project

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_NAME = 60
MOST_VIEWS = 100
OF_A_PAGE = ("page", "cursor", "after", "before", "csrfmiddlewaretoken")  # which part of the list, not which list


def save(*, by: "User", name: str, query: str, project: str = "", is_default: bool = False) -> SavedView:
    """A view of one's own. project: the id of one whose members find it, too. Raises Invalid naming fields,
    and Forbidden.
    """
    if SavedView.objects.filter(owner=by).count() >= MOST_VIEWS:
        raise Forbidden(_("You already have %(most)s views. Delete some.") % {"most": MOST_VIEWS})
    return _store(SavedView(owner=by), name, query, checked_project(project, owner=by), is_default)


def revise(
    view: SavedView, *, by: "User", name: str, query: str | None = None, project: str = "", is_default: bool = False
) -> SavedView:
    """query: as it is where none is given."""
    _require_owner(view, by)
    place = view.project if project == str(view.project_id or "") else checked_project(project, owner=by)
    return _store(view, name, view.query if query is None else query, place, is_default)


def remove(view: SavedView, *, by: "User") -> None:
    _require_owner(view, by)
    view.delete()


def normal(query: str) -> str:
    """The filters alone, so that equal lists have equal queries."""
    asked = QueryDict(query, mutable=True)
    for name in list(asked):
        kept = [value.strip() for value in asked.getlist(name) if value.strip() and name not in OF_A_PAGE]
        asked.setlist(name, kept)
    return "&".join(sorted(asked.urlencode().split("&"))).strip("&")


def _store(view: SavedView, name: str, query: str, project: Project | None, is_default: bool) -> SavedView:
    words = " ".join(name.split())
    if not 0 < len(words) <= LONGEST_NAME or not words.isprintable() or not is_storable(words):
        raise Invalid(name=_("A view has a name of 1 to %(most)s characters.") % {"most": LONGEST_NAME})
    view.name, view.query, view.project, view.is_default = words, normal(query), project, is_default
    if len(view.query) > LONGEST_QUERY:
        raise Invalid(query=_("These filters are too long to save."))
    try:
        with transaction.atomic():
            if is_default:
                SavedView.objects.filter(owner=view.owner, is_default=True).exclude(pk=view.pk).update(is_default=False)
            view.save()
    except IntegrityError as error:
        raise Invalid(name=_("You already have a view with this name.")) from error
    return view


def _require_owner(view: SavedView, by: "User") -> None:
    if view.owner_id != by.pk:
        raise Forbidden(_("Only its owner can change a view."))
