"""Set-ups that people save under a name, each for itself or for the lab: the cast, and a few settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.http import HttpRequest

from accounts.errors import NotFound
from experiments.lab.catalog.menu import speaking_models
from experiments.models import Preset
from experiments.setup.forms import DeclaredForm
from experiments.setup.initial import find_preset
from experiments.workflows.base.surface import SeatRows

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


@dataclass(frozen=True, slots=True)
class Choice:
    """A set-up that was saved. models: labels or, of models that are gone, slugs."""

    id: str
    name: str
    models: tuple[str, ...]
    owner: str
    is_mine: bool
    shared: bool


def choices(user: "User | AnonymousUser", workflow: str) -> list[Choice]:
    """One's own first, then those that others share."""
    rows = Preset.objects.visible_to(user).filter(workflow=workflow).select_related("owner").order_by("name", "pk")
    labels = dict(speaking_models())
    return sorted((_choice(row, user, labels) for row in rows), key=lambda choice: not choice.is_mine)


def mine(request: HttpRequest, workflow: str, wanted: str) -> Preset:
    """Raises NotFound for what others own."""
    found = find_preset(request.user, workflow, wanted)
    if found.owner_id != request.user.pk:
        raise NotFound
    return found


def content(form: DeclaredForm) -> dict[str, object]:
    """What a preset holds of a form as it was typed: {cast, config}. Raises ValidationError for too few models."""
    cast: dict[str, Any] = {}
    for rows in form.page.rows:
        cast |= _rows(form, rows)
    for seat in form.page.seats:
        if slug := form[f"seat-{seat.seat}-model"].value():
            given = {name: form[f"seat-{seat.seat}-{name}"].value() for name in seat.params}
            cast[seat.seat] = {"model": slug, "params": {name: value for name, value in given.items() if value}}
    return {"cast": cast, "config": {name: form[name].value() for name in form.page.of_preset}}


def _rows(form: DeclaredForm, rows: SeatRows) -> dict[str, Any]:
    typed = form[rows.name].value()
    if len(typed) < rows.least:
        raise forms.ValidationError(str(rows.too_few) % {"least": rows.least})
    given = ({name: row[name] for name in rows.params if row[name]} for row in typed)
    numbered = enumerate(zip(typed, given, strict=True), 1)
    return {f"{rows.seat}-{number}": {"model": row["model"], "params": params} for number, (row, params) in numbered}


def _choice(row: Preset, user: "User | AnonymousUser", labels: Mapping[str, str]) -> Choice:
    models = (one["model"] for one in row.config.get("cast", {}).values())
    return Choice(
        id=str(row.pk),
        name=row.name,
        models=tuple(dict.fromkeys(labels.get(slug, slug) for slug in models)),
        owner=row.owner.get_username(),
        is_mine=row.owner_id == user.pk,
        shared=row.shared,
    )
