"""From what somebody asks for to an experiment that can be played: configuration and cast, validated."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from accounts.errors import Errors, Invalid
from experiments.engine.keys import where
from experiments.engine.text import is_storable
from experiments.models import Participant, Provider, ProviderModel
from experiments.setup.complaints import complaint
from experiments.workflows import REGISTRY

if TYPE_CHECKING:
    from accounts.models import User

USUAL = {"judge": "is_default_judge", "filter": "is_default_filter", "title": "is_default_filter"}


class SeatParams(BaseModel):
    """Sampling parameters of one seat. What is left out is the workflow's default."""

    model_config = ConfigDict(extra="forbid")

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    stop: (
        Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(max_length=4)] | None
    ) = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None


class SeatRequest(BaseModel):
    """Who is to sit in a seat: a provider model by its slug."""

    model_config = ConfigDict(extra="forbid")

    model: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    persona: Annotated[str, StringConstraints(max_length=100)] = ""
    params: SeatParams = SeatParams()


def checked_config(workflow: str, config: Any) -> Any:
    """The workflow's Config. Raises Invalid naming each field at fault."""
    if workflow not in REGISTRY:
        raise Invalid({"workflow": [_("There is no workflow of this name.")]})
    _refuse_unstorable("config", config)
    try:
        return REGISTRY[workflow].config.model_validate(config)
    except ValidationError as error:
        raise Invalid(_errors("config", error)) from error


def checked_cast(workflow: str, config: Any, cast: Mapping[str, Any], *, owner: "User") -> list[Participant]:
    """Unsaved participants, one per seat to be taken; the judge and the filter default to the lab's. owner: in whose
    name the models are asked.
    """
    _refuse_unstorable("cast", dict(cast))
    if unknown := sorted(set(cast) - set(REGISTRY[workflow].seats)):
        raise Invalid({f"cast.{seat}": [_("This workflow has no such seat.")] for seat in unknown})
    errors: Errors = {}
    participants = []
    optional = [seat for seat in config.optional_seats() if cast.get(seat) is not None]
    for seat in dict.fromkeys((*config.seats(cast), *optional)):
        try:
            participants.append(_participant(seat, cast.get(seat), owner))
        except Invalid as error:
            errors |= error.errors
    if errors := errors or _faults(config, participants):
        raise Invalid(errors)
    return participants


def _faults(config: Any, participants: Sequence[Participant]) -> Errors:
    """What a workflow has against this cast as a whole."""
    faults_of_cast = getattr(config, "faults_of_cast", None)
    if faults_of_cast is None:
        return {}
    found = faults_of_cast({participant.seat: participant.model.slug for participant in participants})
    return dict(_fault(seat, fault, config, len(participants)) for seat, fault in found.items())


def _fault(seat: str, fault: str, config: Any, seated: int) -> tuple[str, list[str]]:
    """Where a fault is, and what it is."""
    if fault == "seated_twice":
        return f"cast.{seat}", [_("This model takes part already: every model has one seat.")]
    words = _("A quorum of %(quorum)s votes cannot be reached: a solution has %(most)s judges.")
    return "config.quorum", [words % {"quorum": config.quorum, "most": seated - 1}]


def _participant(seat: str, asked: Any, owner: "User") -> Participant:
    field = f"cast.{seat}"
    if asked is None:
        usual = _usual_or_refused(seat, field)
        _refuse_keyless(usual, field, owner)
        return Participant(seat=seat, model=usual)
    try:
        request = SeatRequest.model_validate(asked)
    except ValidationError as error:
        raise Invalid(_errors(field, error)) from error
    model = ProviderModel.objects.available().filter(slug=request.model).first()
    if model is None:
        raise Invalid({field: [_("There is no available model called %(slug)s.") % {"slug": request.model}]})
    _refuse_keyless(model, field, owner)
    params = request.params.model_dump(exclude_none=True)
    return Participant(seat=seat, model=model, persona=request.persona, params=params)


def _refuse_keyless(model: ProviderModel, field: str, owner: "User") -> None:
    if model.provider_id in Provider.objects.filter(pk=model.provider_id).lacking_key(owner):
        message = _("%(model)s needs a key of %(provider)s, and you have none. %(where)s")
        raise Invalid({field: [message % {"model": model.label, **where(model.provider)}]})


def usual_model(seat: str) -> ProviderModel | None:
    """The lab's choice for a seat in which nobody was seated."""
    usual = USUAL.get(seat)
    return ProviderModel.objects.available().filter(**{usual: True}).first() if usual else None


def _usual_or_refused(seat: str, field: str) -> ProviderModel:
    if seat not in USUAL:
        raise Invalid({field: [_("Choose a model.")]})
    model = usual_model(seat)
    if model is None:
        raise Invalid({field: [_("The lab has no default model for this seat: choose one.")]})
    return model


def _refuse_unstorable(field: str, value: Any) -> None:
    if not all(map(is_storable, _texts(value))):
        message = _("The text holds characters that cannot be stored (NUL or half a surrogate pair).")
        raise Invalid({field: [message]})


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names included; without recursion, because strangers decide how deep it is."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            waiting += item


def _errors(prefix: str, error: ValidationError) -> Errors:
    errors: Errors = {}
    for problem in error.errors(include_url=False, include_input=False):
        field = ".".join([prefix, *map(str, problem["loc"])])
        errors.setdefault(field, []).append(complaint(problem))
    return errors
