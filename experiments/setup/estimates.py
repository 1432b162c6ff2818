"""What a run may come to before it is started: calls, tokens, money and time, typically and at most.

The workflow's own rules are played for it, without a model and without a text: see `workflows.base.dry_run`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError

from accounts.errors import Invalid
from accounts.people import person
from experiments.gateway.types import Price
from experiments.lab.budgets import standing as budget_standing
from experiments.lab.catalog.menu import available_models
from experiments.models import ModelPrice, Participant, ProviderModel
from experiments.setup.casting import USUAL, checked_cast, checked_config, is_person, usual_model
from experiments.setup.form_fields import LineListField, LinesField
from experiments.setup.forms import DeclaredForm
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.base.dry_run import LONGEST_ANSWER, Model, Planned, Played, Sample, Usage, mark_of, play

if TYPE_CHECKING:
    from accounts.models import User

Roles = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Amounts:
    """Of all runs together; cost in US dollars, None when a price is not known. seconds: of one run, without waiting
    for people.
    """

    calls: int
    tokens: int
    cost: Decimal | None
    seconds: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """is_per_turn: there is no last turn, and the amounts are those of the first. unpriced: models without a price.
    lead, note, warnings: what the workflow says of its plan before, below and beside the figures; assumed: of what it
    takes for granted.
    """

    runs: int
    typical: Amounts
    most: Amounts
    is_per_turn: bool
    unpriced: tuple[str, ...] = ()
    assumed: Any = ""
    lead: Sequence[Any] = ()
    note: Any = ""
    warnings: Sequence[str] = ()


def estimate(
    workflow: str,
    config: Any,
    seated: Sequence[Participant],
    *,
    by: "User",
    runs: int = 1,
    people: Collection[str] = (),
    prices: Mapping[str, Price | None] | None = None,
) -> Estimate:
    """Of a valid configuration. seated: participants, saved or not. people: seats that people take. by: who asks.
    prices: as `prices_of` these participants and others, where they are known.
    """
    surface = surface_of(workflow)
    planned = surface.plan(config, seated, by) if surface.plan else Planned((Sample(config),))
    by_seat = {one.seat: one for one in seated}
    prices = prices_of(seated) if prices is None else prices
    models = {seat: _model(one, prices[one.model.slug]) for seat, one in by_seat.items()}
    models |= {seat: Model(is_person=True) for seat in people}
    typical, most = (list(_played(workflow, planned, models, at_most=at_most)) for at_most in (False, True))
    of_seat = {seat: prices[one.model.slug] for seat, one in by_seat.items()}
    asked = {seat for _share, played in most for seat in played.by_seat}
    unpriced = [one.model.label for seat, one in by_seat.items() if seat in asked and of_seat[seat] is None]
    return Estimate(
        runs=runs,
        typical=_amounts(typical, of_seat, planned.at_once, runs),
        most=_amounts(most, of_seat, planned.at_once, runs),
        is_per_turn=not all(played.is_whole for _share, played in typical),
        unpriced=tuple(dict.fromkeys(unpriced)),
        assumed=surface.assumed,
        lead=planned.lead,
        note=planned.note,
        warnings=planned.warnings,
    )


def of_form(form: DeclaredForm, *, by: "User") -> Estimate | None:
    """Of whatever the form says now, finished or not; None while models have to be chosen."""
    for is_filled in (False, True):
        draft = _draft(form, is_filled=is_filled)
        asked = draft.asked()
        if config := _config(form.workflow, asked["config"]):
            seated = _seated(form.workflow, config, asked["cast"])
            runs = draft.cleaned_data.get("repeats") or 1
            people = _people(asked["cast"])
            return None if seated is None else estimate(form.workflow, config, seated, by=by, runs=runs, people=people)
    return None


def first_complaint(form: forms.Form) -> str:
    """Of a form that is not valid, with the field that it is about."""
    name, errors = next(iter(form.errors.items()))
    return f"{form.fields[name].label}: {errors[0]}" if name in form.fields else str(errors[0])


def of_whole_form(form: DeclaredForm, *, by: "User") -> Estimate | None:
    """Of a plan over a dataset, for which all of the form has to be right; None where nothing can be started with it.
    Raises Invalid with what is missing.
    """
    if form.page.instead and form.page.instead(form):
        return None
    filled = form.filled()
    if not filled.is_valid():
        missing = {"missing": first_complaint(filled)}
        raise Invalid({"form": [_("The estimate appears here when the form is complete. %(missing)s") % missing]})
    asked = filled.asked()
    config = checked_config(form.workflow, asked["config"])
    seated = checked_cast(form.workflow, config, asked["cast"], owner=by)
    return estimate(form.workflow, config, seated, by=by, people=_people(asked["cast"]))


def _people(cast: Mapping[str, Any]) -> list[str]:
    return [seat for seat, asked in cast.items() if is_person(asked)]


def context(request: HttpRequest, form: DeclaredForm) -> dict[str, object]:
    """What stands beside Start: the estimate, what is left of the budgets that would apply, and the page's remarks."""
    remarks, missing, who = form.page.remarks, "", person(request)
    try:
        found = of_whole_form(form, by=who) if REGISTRY[form.workflow].is_sharded else of_form(form, by=who)
    except Invalid as error:
        found, missing = None, str(error)
    return {
        "estimate": found,
        "missing": missing,
        "budget_notes": budget_standing.beside(request, found),
        "remarks": list(remarks(form)) if remarks else [],
    }


# --- what is played ---


def _played(
    workflow: str, planned: Planned, models: Mapping[str, Model], *, at_most: bool
) -> Iterator[tuple[Fraction, Played]]:
    """Each sample with how many like it there are."""
    roles = tuple((role, min(limit, settings.ROLE_TOKENS_CAP)) for role, limit in settings.ROLE_TOKENS.items())
    rest: dict[str, Any] = {"at_most": at_most, "roles": roles}
    for sample in planned.samples:
        if share := sample.most if at_most else sample.typical:
            if planned.is_all_in_the_configuration(sample):
                alone = _Alone(workflow, sample.config.model_dump_json(), tuple(models.items()), sample)
                yield share, _played_alone(alone, **rest)
            else:
                yield share, _play(workflow, sample, models, stored=planned.stored, **rest)


@dataclass(frozen=True, slots=True)
class _Alone:
    """What says all of a play. config: JSON of the sample's."""

    workflow: str
    config: str
    models: tuple[tuple[str, Model], ...]
    sample: Sample = field(compare=False)


@lru_cache(maxsize=128)
def _played_alone(one: _Alone, **rest: Any) -> Played:
    """Kept, for the same form is opened again and again."""
    return _play(one.workflow, one.sample, dict(one.models), **rest)


def _play(workflow: str, sample: Sample, models: Mapping[str, Model], *, roles: Roles, **rest: Any) -> Played:
    assuming = sample.assuming(surface_of(workflow).assumptions)
    return play(REGISTRY[workflow], sample.config, models, assuming, roles=dict(roles), **rest)


def _amounts(
    played: Sequence[tuple[Fraction, Played]], prices: Mapping[str, Price | None], at_once: int, runs: int
) -> Amounts:
    used = [(prices.get(seat), share, one) for share, each in played for seat, one in each.by_seat.items()]
    costs = [_cost(price, share, one) for price, share, one in used]
    known = [cost for cost in costs if cost is not None]
    lasting = sum(share * Fraction(each.busy / at_once if at_once else each.seconds) for share, each in played)
    return Amounts(
        calls=runs * round(sum(share * one.calls for _price, share, one in used)),
        tokens=runs * ceil(sum(share * (one.read + one.written) for _price, share, one in used)),
        cost=runs * sum(known, Decimal(0)) if len(known) == len(costs) else None,
        seconds=round(max([lasting, *(Fraction(each.seconds) for _share, each in played)])),
    )


def _cost(price: Price | None, share: Fraction, used: Usage) -> Decimal | None:
    if price is None:
        return None
    once = price.per_request * used.calls + price.input * used.read + price.output * used.written
    return once * share.numerator / share.denominator


def prices_of(seated: Sequence[Participant]) -> dict[str, Price | None]:
    """Today's, by the slugs of models."""
    slugs: dict[str, Price | None] = dict.fromkeys(one.model.slug for one in seated)
    known = ModelPrice.objects.filter(
        model__in={one.model.pk for one in seated if one.model.pk}, since__lte=timezone.now()
    )
    return slugs | {price.model.slug: price.value for price in known.select_related("model").order_by("since")}


def _model(one: Participant, price: Price | None) -> Model:
    accepts = one.model.accepts
    return Model(
        max_tokens=one.params.get("max_tokens"),
        longest=accepts.max_output_tokens or LONGEST_ANSWER,
        reasons=accepts.reasoning_effort,
        takes_schema=accepts.schema == "json_schema",
        weight=float(price.output) if price else 0.0,
        persona=one.persona,
    )


# --- what a form says ---


def _draft(form: DeclaredForm, *, is_filled: bool) -> DeclaredForm:
    """The form as if all of it could be read: what cannot is as at first, and of texts only the length is there.

    is_filled: texts that are empty are there, too, for some of them are needed.
    """
    draft = copy(form)
    values = {name: form[name].value() for name in form.fields}
    draft.cleaned_data = {name: _read(form.fields[name], value, is_filled) for name, value in values.items()}
    draft.data = form.data if form.is_bound else values
    return draft


def _read(field: forms.Field, value: Any, is_filled: bool) -> Any:
    """A choice as it was sent: the Config knows whether it is one."""
    if isinstance(field, forms.ChoiceField):
        return value
    try:
        read = deepcopy(field).clean(value)  # rows keep their complaints
    except forms.ValidationError:
        read = field.initial() if callable(field.initial) else field.initial
    if isinstance(field, LinesField):
        return mark_of(str(read or "")) if read or field.required or is_filled else ""
    if isinstance(field, LineListField):
        return list(map(mark_of, read or [""])) if read or field.required or is_filled else []
    return read


def _config(workflow: str, asked: Any) -> BaseModel | None:
    """What is out of range is as the workflow has it."""
    kind = REGISTRY[workflow].config
    try:
        return kind.model_validate(asked)
    except ValidationError as error:
        places = [problem["loc"] for problem in error.errors(include_url=False, include_input=False)]
    try:
        return kind.model_validate(_without(asked, places)) if all(places) else None
    except ValidationError:
        return None


def _without(asked: Any, places: Sequence[tuple[int | str, ...]]) -> Any:
    pruned = deepcopy(asked)
    for first, *rest in places:
        if rest and isinstance(pruned.get(first), dict):
            pruned[first].pop(rest[0], None)
        else:
            pruned.pop(first, None)
    return pruned


def _seated(workflow: str, config: Any, cast: Mapping[str, Any]) -> list[Participant] | None:
    """Who would be asked; None while a model has to be chosen."""
    chosen = {seat: str(one["model"]) for seat, one in cast.items() if one and one.get("model")}
    offered = {model.slug: model for model in available_models()}
    optional = [seat for seat in config.optional_seats() if seat in chosen]
    people = _people(cast)
    seated = []
    for seat in dict.fromkeys((*config.seats((*chosen, *people)), *optional)):
        if seat in people:
            continue
        if seat in chosen:
            model = offered.get(chosen[seat]) or ProviderModel(slug=chosen[seat], label=chosen[seat])
        elif seat in USUAL:
            model = usual_model(seat, config, offered.values()) or ProviderModel(slug=seat, label=seat)
        else:
            return None
        details = cast.get(seat) or {}
        params, persona = details.get("params", {}), details.get("persona", "")
        seated.append(Participant(seat=seat, model=model, params=params, persona=persona))
    return seated
