"""What fills the form of a council at first: the council asked last, a preset, or what a run was set up with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from experiments.catalog.menu import general_models, speaking_models
from experiments.library.shelf import flat
from experiments.models import Experiment, Participant, Preset
from experiments.shelves.cloning import Source, source
from experiments.workflows.council.config import CHAIRS, MEMBERS
from experiments.workflows.council.pages.forms import SETTINGS, CouncilForm, council_form

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

Values = dict[str, Any]
Seat = Mapping[str, Any]

USUAL_MEMBERS = 4
OF_A_PRESET = ("system_prompt", "own_answers", "truncated")


@dataclass(frozen=True, slots=True)
class Choice:
    """A council that was kept. members and chair: labels or, of models that are gone, slugs."""

    id: str
    name: str
    members: tuple[str, ...]
    chair: str
    owner: str
    is_mine: bool
    shared: bool


def initial(request: HttpRequest) -> Values:
    """What the form shows at first. `?clone=` and `?preset=` that one may not see are not found."""
    usual = _usual(request.user)
    if wanted := request.GET.get("clone"):
        found = source(request.user, wanted, "council")
        return {**usual, **_of_source(request, found), "title": found.title}
    if preset_id := request.GET.get("preset"):
        return {**usual, **_of_preset(request, preset_id)}
    return usual


def as_typed(request: HttpRequest) -> CouncilForm:
    """The form with what was typed, before anybody says what is wrong with it."""
    return council_form()(initial=_typed(request))


def with_preset(request: HttpRequest, preset_id: str) -> CouncilForm:
    """The form with a preset's council; the question that was typed stays."""
    return council_form()(initial={**_typed(request), **_of_preset(request, preset_id)})


def content_of(request: HttpRequest) -> Values:
    """What a preset is to hold of a form that was sent: {cast, config}."""
    form = council_form()(request.POST)
    form.is_valid()
    members = [
        {"model": row["model"], "params": {n: row[n] for n in ("temperature", "max_tokens") if row[n]}}
        for row in form["members"].value()
    ]
    others = {seat: {"model": slug} for seat in (*CHAIRS, "title") if (slug := form[f"seat-{seat}-model"].value())}
    cast = {**dict(zip(MEMBERS, members, strict=False)), **others}
    return {"cast": cast, "config": {name: form[name].value() for name in OF_A_PRESET}}


def presets_for(user: "User | AnonymousUser") -> list[Choice]:
    """One's own first, then those that others share."""
    rows = Preset.objects.visible_to(user).filter(workflow="council").select_related("owner").order_by("name", "pk")
    labels = dict(speaking_models())
    return sorted((_choice(row, user, labels) for row in rows), key=lambda choice: not choice.is_mine)


def as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _choice(row: Preset, user: "User | AnonymousUser", labels: Mapping[str, str]) -> Choice:
    cast: Mapping[str, Seat] = row.config.get("cast", {})
    named = {seat: labels.get(one["model"], one["model"]) for seat, one in cast.items()}
    return Choice(
        id=str(row.pk),
        name=row.name,
        members=tuple(named[seat] for seat in MEMBERS if seat in named),
        chair=named.get("chair", ""),
        owner=row.owner.get_username(),
        is_mine=row.owner_id == user.pk,
        shared=row.shared,
    )


def _typed(request: HttpRequest) -> Values:
    form = council_form()(request.POST)
    return {name: form[name].value() for name in form.fields}


def _usual(user: "User | AnonymousUser") -> Values:
    """The council that was asked last, as far as its models are there; otherwise the first few models."""
    offered = general_models()
    last = Experiment.objects.owned_by(user).filter(workflow="council").order_by("-created").first()
    if last:
        seated = list(last.participants.select_related("model"))
        if all(one.model.slug in offered for one in seated):
            return _seated(_cast_of(seated))
    return _seated(_first(offered))


def _first(offered: Sequence[str]) -> dict[str, Seat]:
    """Up to four different members, or one model twice; somebody else as the chair where there is somebody else."""
    if not offered:
        return {}
    members = list(offered[:USUAL_MEMBERS]) if len(offered) > 1 else [offered[0]] * 2
    chair = next((slug for slug in offered if slug not in members), members[0])
    second = next((slug for slug in members if slug != chair), "")
    cast: dict[str, Seat] = {seat: {"model": slug} for seat, slug in zip(MEMBERS, members, strict=False)}
    return {**cast, "chair": {"model": chair}, **({"chair-2": {"model": second}} if second else {})}


def _of_source(request: HttpRequest, found: Source) -> Values:
    config = dict(flat(found.config))
    settings = {name: config[name] for name in (*SETTINGS, "question") if name in config}
    cast = _cast_of(found.participants)
    _tell_of_lost(request, cast)
    return {**settings, "find_title": config.get("title", True), **_seated(cast)}


def _of_preset(request: HttpRequest, preset_id: str) -> Values:
    wanted = as_id(preset_id)
    rows = Preset.objects.visible_to(request.user).filter(workflow="council")
    row = rows.filter(pk=wanted).first() if wanted else None
    if row is None:
        raise Http404
    cast = row.config.get("cast", {})
    _tell_of_lost(request, cast)
    return {**row.config.get("config", {}), **_seated(cast)}


def _cast_of(participants: Sequence[Participant]) -> dict[str, Seat]:
    return {one.seat: {"model": one.model.slug, "params": one.params} for one in participants}


def _seated(cast: Mapping[str, Seat]) -> Values:
    """Seats under the names of the form's fields; a seat in which nobody sits is emptied."""
    rows = [{**cast[seat].get("params", {}), "model": cast[seat]["model"]} for seat in MEMBERS if seat in cast]
    values: Values = {"members": rows}
    for seat in (*CHAIRS, "title"):
        one = cast.get(seat, {})
        values[f"seat-{seat}-model"] = one.get("model", "")
        values |= {f"seat-{seat}-{name}": value for name, value in one.get("params", {}).items()}
    return values


def _tell_of_lost(request: HttpRequest, cast: Mapping[str, Seat]) -> None:
    """Models that cannot be chosen any more would be missing without a word."""
    offered = {slug for slug, _label in speaking_models()}
    if lost := list(dict.fromkeys(one["model"] for one in cast.values() if one["model"] not in offered)):
        words = _("Not available now: %(models)s. Choose other models in their place.")
        messages.warning(request, words % {"models": ", ".join(lost)})
