"""What of the lab's usage somebody may see, and of which time they ask."""

from collections.abc import Mapping
from datetime import UTC, date, timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from accounts.models import Project, User
from experiments.lab.usage.spent import LONGEST, Scope

USUAL_DAYS = 30


def scope_of(person: User, asked: Mapping[str, str]) -> Scope | None:
    """What `scope` and `project` ask for; None for what the person may not see, or not know of."""
    kind = asked.get("scope") or ("project" if asked.get("project") else "me")
    if kind == "me":
        return Scope("me", person)
    if kind == "lab":
        return Scope("lab", person) if person.role == User.Role.ADMIN else None
    if kind != "project":
        return None
    try:
        wanted = UUID(asked.get("project", ""))
    except ValueError:
        return None
    project = projects_of(person).filter(pk=wanted).first()
    return Scope("project", person, project) if project else None


def projects_of(person: User) -> QuerySet[Project]:
    """Those whose usage a person may see."""
    return Project.objects.all() if person.role == User.Role.ADMIN else Project.objects.led_by(person)


def days_of(asked: Mapping[str, str]) -> tuple[date, date]:
    """From `since` to `until`, the last thirty days by default. Raises Invalid."""
    today = timezone.now().astimezone(UTC).date()
    try:
        until = date.fromisoformat(asked["until"]) if asked.get("until") else today
        usual = until - timedelta(days=USUAL_DAYS - 1)
        since = date.fromisoformat(asked["since"]) if asked.get("since") else usual
    except (ValueError, OverflowError) as error:
        raise _no_range() from error
    if not 0 <= (until - since).days < LONGEST or not 2000 <= since.year <= until.year <= 2200:
        raise _no_range()
    return since, until


def _no_range() -> Invalid:
    return Invalid(since=_("Choose two days, the first before the last and at most three years apart."))
