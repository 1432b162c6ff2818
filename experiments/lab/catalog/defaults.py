"""Which model the lab puts into which seat at first: its judge, its filter, and the seats of each workflow's form."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.models import User
from accounts.people import once
from experiments.models import ProviderModel
from experiments.models.catalog import Person
from experiments.workflows import REGISTRY, surface_of

JUDGE, FILTER = "judge", "filter"
FIELDS = {JUDGE: "is_default_judge", FILTER: "is_default_filter"}


@dataclass(frozen=True, slots=True)
class Role:
    """A seat that can have a default. key: as it is stored. is_tool: models that only judge and filter can take it."""

    key: str
    label: Any
    hint: Any = ""
    is_tool: bool = False


@dataclass(frozen=True, slots=True)
class Roles:
    """The seats of one workflow, or those that all share."""

    title: Any
    roles: list[Role]


SHARED = (
    Role(JUDGE, _("Judge"), _("Scores messages where a run names no other judge."), is_tool=True),
    Role(FILTER, _("Filter"), _("Keeps notes to oneself from the other side; also writes titles."), is_tool=True),
)


def role_key(workflow: str, seat: str) -> str:
    return f"{workflow}/{seat}"


def all_roles() -> list[Roles]:
    groups = [Roles(surface_of(slug).name, list(_roles_of(slug))) for slug in REGISTRY]
    return [Roles(_("All workflows"), list(SHARED)), *(group for group in groups if group.roles)]


def _roles_of(workflow: str) -> Iterator[Role]:
    """Each seat that its form fills at first."""
    page = surface_of(workflow).setup
    for seat in page.seats if page else ():
        if not seat.is_tool and (seat.is_usual or not seat.nobody):
            yield Role(role_key(workflow, seat.seat), seat.label)
    for rows in page.rows if page else ():
        for number in range(1, min(rows.usual, rows.most) + 1):
            yield Role(role_key(workflow, f"{rows.seat}-{number}"), _NUMBERED % {"name": rows.row, "n": number})


_NUMBERED = _("%(name)s %(n)s")


def chosen() -> dict[str, ProviderModel]:
    """The default of each seat that has one. It may not be there to be asked now."""
    found: dict[str, ProviderModel] = {}
    for model in ProviderModel.objects.select_related("provider"):
        found |= dict.fromkeys(roles_of_model(model), model)
    return found


def roles_of_model(model: ProviderModel) -> list[str]:
    return [*(key for key, field in FIELDS.items() if getattr(model, field)), *model.default_for]


def default_slugs() -> Mapping[str, str]:
    """The slug of each seat's default, of those that the current person can ask."""
    return once(_askable)


def _askable(person: Person) -> dict[str, str]:
    models = ProviderModel.objects.askable(person).exclude(default_for=[])
    return {key: model.slug for model in models for key in model.default_for}


def choose(wanted: Mapping[str, ProviderModel | None], *, by: User) -> None:
    """Set the defaults of these seats, and leave those of others as they are. None: there is no default."""
    models = {model.pk: model for model in ProviderModel.objects.all()}
    before = {key: model.pk for model in models.values() for key in roles_of_model(model)}
    changed = {key: model for key, model in wanted.items() if before.get(key) != (model.pk if model else None)}
    if not changed:
        return
    with transaction.atomic():
        for key in changed:
            if previous := models.get(before.get(key, 0)):
                _put(previous, key, chosen=False)
        for key, model in changed.items():
            if model:
                _put(models[model.pk], key, chosen=True)
        named = [f"{key}: {model.slug if model else '–'}" for key, model in changed.items()]
        audit.record(audit.Action.DEFAULTS_CHANGED, by=by, defaults=named)


def _put(model: ProviderModel, key: str, *, chosen: bool) -> None:
    if field := FIELDS.get(key):
        setattr(model, field, chosen)
    else:
        model.default_for = [one for one in model.default_for if one != key] + ([key] if chosen else [])
    model.save(update_fields=[FIELDS.get(key, "default_for")])
