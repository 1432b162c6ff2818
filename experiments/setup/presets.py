"""What fills a set-up form at first: the models used last, a run's set-up, or a preset that was saved under a name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.errors import NotFound
from accounts.people import person
from experiments.lab.catalog.defaults import default_slugs, role_key
from experiments.lab.catalog.menu import askable_models, general_models, speaking_models
from experiments.library.annotations.cloning import source
from experiments.models import Experiment, Participant, Preset
from experiments.models.labels import seat_name
from experiments.setup.forms import DeclaredForm, declared, setup_form
from experiments.workflows.base.surface import SeatRows, Setup

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

Values = dict[str, Any]
Cast = Mapping[str, Mapping[str, Any]]  # {model, params, persona} by seat


def initial(request: HttpRequest, workflow: str) -> Values:
    """What the form shows at first. `?clone=` and `?preset=` that one may not see are not found."""
    page = declared(workflow)
    values = seated(page, _usual(request.user, workflow))
    if wanted := request.GET.get("clone"):
        values |= _of_source(request, workflow, wanted)
    elif page.of_preset and (wanted := request.GET.get("preset")):
        values |= of_preset(request, workflow, wanted)
    return values | (dict(page.initial(request, values)) if page.initial else {})


def refilled(request: HttpRequest, workflow: str) -> Values | None:
    """The form as it was typed, with what a button of it fills in; None where it is to be started."""
    page = declared(workflow)
    if not (page.refill or page.of_preset or any(rows.everybody for rows in page.rows)):
        return None
    typed = setup_form(workflow)(request.POST, reader=person(request)).typed()
    if page.refill:
        found = page.refill(request, typed)
        return None if found is None else dict(found)
    if page.of_preset and (wanted := request.POST.get("load")):
        return typed | of_preset(request, workflow, wanted)
    for rows in page.rows:
        if rows.everybody and "everybody" in request.POST:
            return typed | {rows.name: _everybody(request, rows, typed[rows.name])}
    return None


def of_preset(request: HttpRequest, workflow: str, wanted: str) -> Values:
    page = declared(workflow)
    row = find_preset(request.user, workflow, wanted)
    cast: Cast = row.config.get("cast", {})
    _tell_of_lost(request, [one["model"] for one in cast.values()])
    return {**row.config.get("config", {}), **seated(page, cast)}


def find_preset(user: "User | AnonymousUser", workflow: str, wanted: str) -> Preset:
    """Raises NotFound where there is none of this id that the user may see."""
    try:
        found = Preset.objects.visible_to(user).filter(workflow=workflow, pk=UUID(wanted)).first()
    except ValueError as error:
        raise NotFound from error
    if found is None:
        raise NotFound
    return found


def seated(page: Setup, cast: Cast) -> Values:
    """A cast under the names of the form's fields. Where nobody has to sit and nobody does, the field is emptied."""
    values: Values = {}
    for rows in page.rows:
        seats = [f"{rows.seat}-{number}" for number in range(1, rows.most + 1)]
        values[rows.name] = [
            {**cast[seat].get("params", {}), "model": cast[seat]["model"]} for seat in seats if seat in cast
        ]
    for seat in page.seats:
        if one := cast.get(seat.seat):
            given = {"model": one["model"], "persona": one.get("persona", ""), **one.get("params", {})}
            values |= {f"seat-{seat.seat}-{name}": value for name, value in given.items()}
        elif seat.nobody:
            values[f"seat-{seat.seat}-model"] = ""
    return values


def cast_of(participants: Iterable[Participant]) -> Cast:
    return {one.seat: {"model": one.model.slug, "persona": one.persona, "params": one.params} for one in participants}


def _usual(user: "User | AnonymousUser", workflow: str) -> Cast:
    """The models of the last experiment, where all of them can be asked; otherwise different ones."""
    page = declared(workflow)
    last = Experiment.objects.owned_by(user).filter(workflow=workflow).order_by("-created").first()
    if last:
        cast = cast_of(last.participants.select_related("model"))
        needed = {seat.seat for seat in page.seats if not (seat.nobody or seat.needs or seat.is_tool)}
        speaking = [one["model"] for seat, one in cast.items() if not _is_tool(page, seat)]
        if needed <= cast.keys() and set(speaking) <= set(general_models()):
            return {seat: one for seat, one in cast.items() if not _is_tool(page, seat)}
    return first_cast(workflow)


def _is_tool(page: Setup, seat: str) -> bool:
    return any(one.is_tool for one in page.seats if one.seat == seat)


def first_cast(workflow: str) -> Cast:
    """The cast that a form shows to somebody who has set up no run of this workflow yet: the lab's defaults, and a
    different model for each other seat, as far as there are enough; a box may leave out those that come last.
    """
    page, offered = declared(workflow), general_models()
    if not offered:
        return {}
    defaults = {key: slug for key, slug in default_slugs().items() if slug in offered}
    cast: dict[str, Mapping[str, Any]] = {}
    for rows in page.rows:
        keys = [role_key(workflow, f"{rows.seat}-{number}") for number in range(1, rows.usual + 1)]
        models = [slug for slug, _label in speaking_models()] if rows.has_specialists else list(offered)
        models = list(dict.fromkeys([*(defaults[key] for key in keys if key in defaults), *models]))
        chosen = models[: rows.usual] if rows.is_distinct or len(models) > 1 else models * rows.least
        cast |= {f"{rows.seat}-{number}": {"model": slug} for number, slug in enumerate(chosen, 1)}
    seats = {seat.seat: defaults.get(role_key(workflow, seat.seat)) for seat in page.seats}
    others = [slug for slug in offered if slug not in seats.values()] or offered
    before = ""
    for seat in sorted(page.seats, key=lambda one: bool(one.needs)):
        if seat.is_tool or (seat.nobody and not seat.is_usual):
            continue
        slug = seats[seat.seat] or others[len(cast) % len(others)]
        if not seat.nobody or slug != before:
            cast[seat.seat] = {"model": slug}
        before = slug
    return cast


def _of_source(request: HttpRequest, workflow: str, wanted: str) -> Values:
    page, found = declared(workflow), source(request.user, wanted, workflow)
    _tell_of_lost(request, [one.model.slug for one in found.participants])
    shown = {seat.seat: seat.params for seat in page.seats}
    for one in found.participants:
        if others := sorted(set(one.params) - set(shown.get(one.seat, one.params))):
            words = _("Not carried over for %(seat)s: %(names)s.")
            messages.warning(request, words % {"seat": seat_name(one.seat), "names": ", ".join(others)})
    config = setup_form(workflow).values_of(found.config)
    people = [
        {"seat": seat, "user": one["user"], "minutes": -(-int(one["seconds"]) // 60), "blind": one["blind"]}
        for seat, one in found.people.items()
    ]
    return {**config, **seated(page, cast_of(found.participants)), "people": people, "title": found.title}


def _everybody(request: HttpRequest, rows: SeatRows, typed: Sequence[Values]) -> list[Values]:
    """Every model that can take part; those that were chosen keep their parameters and their place."""
    chosen = {row["model"]: row for row in typed}
    others = [{"model": slug} for slug, _label in speaking_models() if slug not in chosen]
    if len(chosen) + len(others) > rows.most:
        words = _("At most %(most)s models can take part. Some were left out.")
        messages.info(request, words % {"most": rows.most})
    return [*chosen.values(), *others][: rows.most]


def _tell_of_lost(request: HttpRequest, models: Sequence[str]) -> None:
    """Models that cannot be chosen any more would be missing without a word."""
    offered = {model.slug for model in askable_models()}
    if lost := list(dict.fromkeys(slug for slug in models if slug not in offered)):
        words = _("Not available: %(models)s. Choose other models instead.")
        messages.warning(request, words % {"models": ", ".join(lost)})


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
    found = [
        Choice(
            id=str(row.pk),
            name=row.name,
            models=tuple(
                dict.fromkeys(labels.get(one["model"], one["model"]) for one in row.config.get("cast", {}).values())
            ),
            owner=row.owner.get_username(),
            is_mine=row.owner_id == user.pk,
            shared=row.shared,
        )
        for row in rows
    ]
    return sorted(found, key=lambda choice: not choice.is_mine)


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
        typed = form[rows.name].value()
        if len(typed) < rows.least:
            raise forms.ValidationError(str(rows.too_few) % {"least": rows.least})
        for number, row in enumerate(typed, 1):
            params = {name: row[name] for name in rows.params if row[name]}
            cast[f"{rows.seat}-{number}"] = {"model": row["model"], "params": params}
    for seat in form.page.seats:
        if slug := form[f"seat-{seat.seat}-model"].value():
            given = {name: form[f"seat-{seat.seat}-{name}"].value() for name in seat.params}
            cast[seat.seat] = {"model": slug, "params": {name: value for name, value in given.items() if value}}
    return {"cast": cast, "config": {name: form[name].value() for name in form.page.of_preset}}
