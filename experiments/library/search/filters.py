"""The filters of a search, as conditions on the passages that are searched."""

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from accounts.models import Project, User
from experiments.library.search.asked import MARKED, Asked
from experiments.library.search.passages import MESSAGE, REASONING, SETUP
from experiments.library.search.sought import Sought, mark
from experiments.models import LIVE_STATES, TERMINAL_STATES, Passage, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

STATES = {"live": LIVE_STATES, "ended": TERMINAL_STATES}
PLACES = {
    "messages": (MESSAGE,),
    "reasoning": (REASONING,),
    "setup": (SETUP,),
    "notes": (Passage.Kind.NOTE,),
    "all": tuple(Passage.Kind.values),
}
USUALLY = tuple(kind for kind in Passage.Kind.values if kind != REASONING)


def sought(asked: Asked) -> Sought:
    """What the index is asked for."""
    marks = [_marks(name, asked.filters[name]) for name in MARKED if name in asked.filters]
    excluded = [one for name in MARKED for one in _marks(name, asked.excluded.get(name, ()))]
    return Sought(asked.phrases, tuple(marks), asked.without, tuple(excluded))


def conditions(asked: Asked, person: "User | AnonymousUser") -> Q:
    """What the rows are asked for beside it. Raises Invalid."""
    found = Q(kind__in=USUALLY) if "in" not in asked.filters else Q()
    for name, read in CONDITIONS.items():
        if values := asked.filters.get(name):
            found &= _any(read(value, person) for value in values)
        if values := asked.excluded.get(name):
            found &= ~_any(read(value, person) for value in values)
    return found


def _any(choices: Iterable[Q]) -> Q:
    found = Q(pk__in=[])
    for choice in choices:
        found |= choice
    return found


def _marks(name: str, values: Iterable[str]) -> tuple[str, ...]:
    if name != "by":
        return tuple(mark(name, value) for value in values)
    people = User.objects.filter(username__in=list(values)).values_list("pk", flat=True)
    return tuple(mark(name, str(pk)) for pk in people) or (mark(name, "nobody"),) if values else ()


def _state(value: str, person: "User | AnonymousUser") -> Q:
    states = STATES.get(value.lower()) or ((value.lower(),) if value.lower() in Run.State.values else ())
    if not states:
        offered = ", ".join([*Run.State.values, *STATES])
        raise Invalid(q=_("There is no state %(value)s: choose one of %(offered)s.") % _said(value, offered))
    return Q(run__state__in=states)


def _since(value: str, person: "User | AnonymousUser") -> Q:
    return Q(created__gte=_midnight(value))


def _until(value: str, person: "User | AnonymousUser") -> Q:
    return Q(created__lt=_midnight(value) + timedelta(days=1))


def _midnight(value: str) -> datetime:
    try:
        day = date.fromisoformat(value)
    except ValueError as error:
        raise Invalid(q=_("%(value)s is no day: write it as 2026-01-31.") % {"value": value}) from error
    if not 2000 <= day.year <= 2200:
        raise Invalid(q=_("%(value)s is no day between the years 2000 and 2200.") % {"value": value})
    return datetime.combine(day, time(), UTC)


def _project(value: str, person: "User | AnonymousUser") -> Q:
    return Q(experiment__project__in=Project.objects.visible_to(person).filter(name__iexact=value))


def _place(value: str, person: "User | AnonymousUser") -> Q:
    if value.lower() not in PLACES:
        offered = ", ".join(PLACES)
        raise Invalid(q=_("It cannot be searched in %(value)s: choose one of %(offered)s.") % _said(value, offered))
    return Q(kind__in=PLACES[value.lower()])


def _said(value: str, offered: str) -> dict[str, str]:
    return {"value": value, "offered": offered}


CONDITIONS: dict[str, Callable[[str, "User | AnonymousUser"], Q]] = {
    "state": _state,
    "from": _since,
    "to": _until,
    "project": _project,
    "in": _place,
}
