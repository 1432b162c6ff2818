"""What is checked of a design and a plan before they are stored, and what the runs of a design would come to."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError

from accounts.errors import Errors, Invalid
from experiments.models import InstrumentVersion, Participant, Study
from experiments.setup.casting import (
    Lookups,
    checked_cast,
    checked_config,
    invalid,
    refuse_unstorable,
    require_visible_instrument,
)
from experiments.setup.estimates import Amounts, estimate, prices_of
from experiments.studies.design import Design, Levels
from experiments.studies.plan import Annotation as OfInstrument
from experiments.studies.plan import Plan
from experiments.studies.sizes import Asked, Sizes, sizes
from experiments.workflows import REGISTRY
from experiments.workflows.base.dry_run import waits_for_person

if TYPE_CHECKING:
    from accounts.models import User

Parsed = TypeVar("Parsed", bound=BaseModel)

DEEPEST = 30  # levels of lists and objects


class Checked(NamedTuple):
    """A design, and the configuration and the participants of each of its conditions, in their order."""

    design: Design
    conditions: Sequence[tuple[Any, Sequence[Participant]]]


def checked_design(design: Any, *, owner: "User") -> Checked:
    """Every condition can be played, and its runs come to an end without a person. Raises Invalid naming the fields; of
    a condition as `design.condition-3.config.script`.
    """
    checked = _parsed(Design, design, "design")
    if checked.workflow not in REGISTRY or REGISTRY[checked.workflow].is_sharded:
        raise Invalid({"design.workflow": [_("There is no workflow of this name that a study can play.")]})
    conditions = []
    every = list(checked.combinations())
    lookups = Lookups(owner)
    for number, levels in enumerate(every, 1):
        try:
            conditions.append(_checked_condition(checked, levels, owner, lookups))
        except Invalid as refusal:
            where = ", ".join(levels.values())
            errors: Errors = {
                f"design.condition-{number}.{field}": [f"{where}: {said}" if where else said for said in several]
                for field, several in refusal.errors.items()
            }
            raise Invalid(errors) from refusal
    return Checked(checked, conditions)


def _checked_condition(
    design: Design, levels: Levels, owner: "User", lookups: Lookups
) -> tuple[Any, list[Participant]]:
    config, cast = design.condition(levels)
    parsed = checked_config(design.workflow, config)
    seated = checked_cast(design.workflow, parsed, cast, owner=owner, lookups=lookups)
    require_visible_instrument(parsed, lookups=lookups)
    workflow = REGISTRY[design.workflow]
    if waits_for_person(workflow, parsed, [one.seat for one in seated]):
        if "mode" in workflow.config.model_fields:
            raise Invalid({"config.mode": [_("Its runs would wait for a person. Choose the automatic mode.")]})
        message = _("Its runs would wait for a person. Add a script, or let turn 1 be the last.")
        raise Invalid({"config.script": [message]})
    return parsed, seated


def checked_plan(plan: Any, design: Design, *, owner: "User") -> Plan:
    """Raises Invalid naming the fields, as `plan.contrasts.0.outcome`."""
    checked = _parsed(Plan, plan, "plan")
    for number, outcome in enumerate(checked.outcomes):
        source = outcome.source
        if not isinstance(source, OfInstrument):
            continue
        version = InstrumentVersion.objects.visible_to(owner).filter(pk=source.version).first()
        if version is None or source.dimension not in {one.name for one in version.parsed.dimensions}:
            message = _("There is no version of an instrument with this id and dimension.")
            raise Invalid({f"plan.outcomes.{number}.source": [message]})
    said = {
        "levels": _("names a level that the design does not have"),
        "prompts": _("is meant for further prompts, and the design has no factor of prompts"),
        "mixed": _("is tested by the mixed model, which is for rates over runs, with a factor of prompts"),
    }
    if faults := checked.faults(design):
        raise Invalid({"plan.contrasts": [f"{name}: {said[fault]}" for name, fault in faults.items()]})
    return checked


def _parsed(kind: type[Parsed], value: Any, prefix: str) -> Parsed:
    refuse_unstorable(prefix, value)
    _refuse_odd(prefix, value)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise invalid(prefix, error) from error


def _refuse_odd(field: str, value: Any) -> None:
    """Of a JSON value that is nested without end, or has a number that is none."""
    level = [value]
    for _depth in range(DEEPEST):
        if any(isinstance(one, float) and not math.isfinite(one) for one in level):
            raise Invalid({field: [_("A number in it is too large.")]})
        several = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level = [inner for one in several if isinstance(one, list) for inner in one]
    if level:
        raise Invalid({field: [_("It is nested too deeply.")]})


class Estimated(NamedTuple):
    """Of all runs together; seconds with `at_once` runs at a time. has_no_end: some runs have no last turn. is_batched:
    each answer of some models may take up to 24 hours, which the seconds do not count.
    """

    typical: Amounts
    most: Amounts
    has_no_end: bool
    is_batched: bool


def estimated(checked: Checked, *, by: "User", at_once: int) -> Estimated:
    design = checked.design
    seated_ever = [one for _config, seated in checked.conditions for one in seated]
    prices, shares = prices_of(seated_ever), dict[str, Decimal]()
    if design.batches:
        shares = {one.model.slug: one.model.provider.batch_share for one in seated_ever if one.model.provider.batch_api}
        prices |= {slug: price.at(share) for slug, share in shares.items() if (price := prices[slug])}
    found = [
        estimate(design.workflow, config, seated, by=by, runs=design.repeats, prices=prices)
        for config, seated in checked.conditions
    ]
    typical, most = ([getattr(one, name) for one in found] for name in ("typical", "most"))
    return Estimated(
        typical=_together(typical, at_once, design.repeats),
        most=_together(most, at_once, design.repeats),
        has_no_end=any(one.is_per_turn for one in found),
        is_batched=bool(shares),
    )


def planned_sizes(study: Study, asked: Asked, *, by: "User") -> Sizes:
    """Nothing of a study without a plan. Raises Invalid where its design cannot be played any more."""
    if study.plan is None:
        return Sizes((), {}, ())
    checked = checked_design(study.design, owner=study.owner)
    typical = estimated(checked, by=by, at_once=study.at_once).typical
    return sizes(checked.design, Plan.model_validate(study.plan), typical, asked)


def _together(amounts: list[Amounts], at_once: int, repeats: int) -> Amounts:
    costs = [one.cost for one in amounts]
    known = [cost for cost in costs if cost is not None]
    longest = max((one.seconds for one in amounts), default=0)
    return Amounts(
        calls=sum(one.calls for one in amounts),
        tokens=sum(one.tokens for one in amounts),
        cost=sum(known, Decimal(0)) if len(known) == len(costs) else None,
        seconds=max(longest, round(sum(one.seconds * repeats for one in amounts) / at_once)),
    )
