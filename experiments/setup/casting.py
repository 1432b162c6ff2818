"""From what somebody asks for to an experiment that can be played: configuration and cast, validated."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Any, Literal

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from accounts.errors import Errors, Invalid
from accounts.models import User
from experiments.engine.keys import where
from experiments.engine.text import is_storable
from experiments.models import InstrumentVersion, Participant, Provider, ProviderModel, SeatedPerson
from experiments.tasks import clock
from experiments.workflows import REGISTRY
from experiments.workflows.base.measuring import instrument_of

BY_TYPE = {
    "missing": gettext_noop("Field required"),
    "extra_forbidden": gettext_noop("Extra inputs are not permitted"),
    "string_type": gettext_noop("Input should be a valid string"),
    "string_too_long": gettext_noop("String should have at most %(max_length)s characters"),
    "string_too_short": gettext_noop("String should have at least %(min_length)s character"),
    "bool_type": gettext_noop("Input should be a valid boolean"),
    "bool_parsing": gettext_noop("Input should be a valid boolean, unable to interpret input"),
    "int_type": gettext_noop("Input should be a valid integer"),
    "int_parsing": gettext_noop("Input should be a valid integer, unable to parse string as an integer"),
    "int_from_float": gettext_noop("Input should be a valid integer, got a number with a fractional part"),
    "float_type": gettext_noop("Input should be a valid number"),
    "float_parsing": gettext_noop("Input should be a valid number, unable to parse string as a number"),
    "finite_number": gettext_noop("Input should be a finite number"),
    "greater_than": gettext_noop("Input should be greater than %(gt)s"),
    "greater_than_equal": gettext_noop("Input should be greater than or equal to %(ge)s"),
    "less_than": gettext_noop("Input should be less than %(lt)s"),
    "less_than_equal": gettext_noop("Input should be less than or equal to %(le)s"),
    "literal_error": gettext_noop("Input should be %(expected)s"),
    "list_type": gettext_noop("Input should be a valid list"),
    "dict_type": gettext_noop("Input should be a valid dictionary"),
    "too_long": gettext_noop("List should have at most %(max_length)s items"),
    "too_short": gettext_noop("List should have at least %(min_length)s item"),
    "string_pattern_mismatch": gettext_noop("String should match pattern '%(pattern)s'"),
    "uuid_parsing": gettext_noop("Input should be a valid id"),
    "date_from_datetime_parsing": gettext_noop("Write the date as year-month-day, such as 2026-02-28."),
    "scale_values": gettext_noop("a scale has 2 to %(most)s values, in whole steps from its low end to its high one"),
    "anchor_nowhere": gettext_noop("an anchor is at no value of the scale: %(value)s"),
    "choices_too_many": gettext_noop("a rubric has at most %(most)s choices, as many as there are letters for them"),
    "named_twice": gettext_noop("a name is used twice: %(name)s"),
    "two_prompts": gettext_noop("only one factor can have prompts as its levels"),
    "no_square": gettext_noop("a Latin square has three factors with equally many levels"),
    "conditions_listed": gettext_noop("conditions are listed for the arrangement “list”, and for no other"),
    "condition_unknown": gettext_noop("condition %(number)s does not name one level of each factor"),
    "study_too_large": gettext_noop("a study has at most %(conditions)s conditions and %(runs)s runs"),
    "kind_of_outcome": gettext_noop(
        "a rate is read over “any”, a time over “first_turn”, a score over “mean”, “last” or “most”"
    ),
    "outcome_unknown": gettext_noop("there is no outcome of this name: %(name)s"),
    "looks_rise": gettext_noop("looks are shares of the runs that rise up to 1"),
    "name_reserved": gettext_noop("this name has another meaning in replies: %(name)s"),
    "placeholder_unknown": gettext_noop("the prompt has an unknown placeholder; write $$ for a dollar sign"),
    "placeholder_missing": gettext_noop("the prompt lacks the placeholder $%(name)s"),
}

# Sentences of the workflows, which know no Django: named here so that they are translated.
OF_WORKFLOWS = [
    gettext_noop("The prompt is empty. Write what the two models should talk about."),
    gettext_noop("The instructions for Model A are empty."),
    gettext_noop("The instructions for Model B are empty."),
    gettext_noop("The instructions for Model A and Model B are empty."),
    gettext_noop("Enter names of upstream providers, separated by commas."),
    gettext_noop("The text of the intervention is empty."),
    gettext_noop("Write the first message. The researcher begins."),
    gettext_noop("A message of the script is empty."),
    gettext_noop("Enter the words to look for in the answer."),
    gettext_noop("The script has more messages than there are turns for."),
    gettext_noop("Write the addendum as the first message of the script."),
    gettext_noop("There is nothing to judge yet."),
    gettext_noop("An instrument for spans can only scan runs that are over."),
    gettext_noop("An instrument for pairs needs messages in order; these are written side by side."),
    gettext_noop("Choose the instrument by which the judge measures."),
    gettext_noop("Write the question for the council."),
    gettext_noop("Enter the number of samples per pair."),
    gettext_noop("The minimum of battles per pair is above the maximum."),
    gettext_noop("The left contestant of a battle is the one with the smaller key."),
    gettext_noop("A subset or a contestant is named twice."),
    gettext_noop("Name at least two contestants, or none for all of them."),
    gettext_noop("A version is a name and a valid date, such as spring_20260401."),
    gettext_noop("There is no judge prompt with this name."),
]


OF_REVIEWS = [
    gettext_noop("holds characters that cannot be stored"),
    gettext_noop("a rubric has a scale or a label"),
    gettext_noop("there is no workflow of this name"),
    gettext_noop("the last day is before the first one"),
]


def complaint(problem: Mapping[str, Any]) -> str:
    """The sentence of one of pydantic's problems; as pydantic says it where we have none."""
    own = problem["msg"].removeprefix("Value error, ")
    if known := BY_TYPE.get(problem["type"]):
        return str(_(known) % problem.get("ctx", {}))
    return _(own)


USUAL = {"judge": "is_default_judge", "filter": "is_default_filter", "title": "is_default_filter"}


UPSTREAM = re.compile(r"[\w.-]{1,60}(/[\w.-]{1,60})?")


def _upstreams(text: str) -> str:
    """Names as the provider has them, with commas between."""
    names = [name.strip() for name in text.split(",")]
    if not all(UPSTREAM.fullmatch(name) for name in names):
        raise ValueError("Enter names of upstream providers, separated by commas.")
    return ", ".join(names)


class SeatParams(BaseModel):
    """Sampling parameters of one seat. What is left out is the workflow's default. served_by: which upstreams of a
    provider that routes may answer, in this order, and no others; as it calls them: "deepinfra/fp8, together".
    A quantization among them ("bf16") is the only one that they may use; by itself, any upstream with it may answer.
    """

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
    served_by: Annotated[str, StringConstraints(max_length=300), AfterValidator(_upstreams)] | None = None


class SeatRequest(BaseModel):
    """Who is to sit in a seat: a provider model by its slug."""

    model_config = ConfigDict(extra="forbid")

    model: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    persona: Annotated[str, StringConstraints(max_length=100)] = ""
    params: SeatParams = SeatParams()


class PersonRequest(BaseModel):
    """A person in a seat. user: a username; without one, whoever opens the invitation link within `link_hours`, who is
    called `name`. seconds: that each answer may take. blind: see `SeatedPerson`.
    """

    model_config = ConfigDict(extra="forbid")

    user: Annotated[str, StringConstraints(max_length=150, strip_whitespace=True)] = ""
    name: Annotated[str, StringConstraints(max_length=100, strip_whitespace=True)] = ""
    link_hours: Annotated[int, Field(ge=1, le=2160)] = 72
    seconds: Annotated[int, Field(ge=10, le=604_800)] = 600
    blind: bool = False


def checked_config(workflow: str, config: Any) -> Any:
    """The workflow's Config. Raises Invalid naming each field at fault."""
    if workflow not in REGISTRY:
        raise Invalid({"workflow": [_("There is no workflow of this name.")]})
    refuse_unstorable("config", config)
    try:
        return REGISTRY[workflow].config.model_validate(config)
    except ValidationError as error:
        raise invalid("config", error) from error


class Lookups:
    """What casts need from the database, looked up once for all of them: models, which of them the owner has no key
    for, and which instruments the owner sees.
    """

    def __init__(self, owner: User) -> None:
        self._owner = owner

    @cached_property
    def models(self) -> dict[str, ProviderModel]:
        """Available ones, by slug."""
        return {model.slug: model for model in ProviderModel.objects.available()}

    @cached_property
    def keyless(self) -> set[int]:
        """The ids of providers."""
        return set(Provider.objects.lacking_key(self._owner))

    @cached_property
    def instruments(self) -> dict[str, str]:
        """The digests of versions, by id."""
        rows = InstrumentVersion.objects.visible_to(self._owner).order_by().values_list("pk", "digest")
        return {str(pk): digest for pk, digest in rows}


def checked_cast(
    workflow: str, config: Any, cast: Mapping[str, Any], *, owner: User, lookups: Lookups | None = None
) -> list[Participant]:
    """Unsaved participants, one per seat that a model takes; the judge and the filter default to the lab's. The seats
    of people are checked, too: `checked_people` has them. owner: in whose name the models are asked. lookups: of this
    cast among others.
    """
    refuse_unstorable("cast", dict(cast))
    if unknown := sorted(set(cast) - set(REGISTRY[workflow].seats)):
        raise Invalid({f"cast.{seat}": [_("This workflow has no such participant.")] for seat in unknown})
    checked_people(workflow, config, cast)
    lookups = lookups or Lookups(owner)
    errors: Errors = {}
    participants = []
    optional = [seat for seat in config.optional_seats() if cast.get(seat) is not None]
    for seat in dict.fromkeys((*config.seats(cast), *optional)):
        if is_person(cast.get(seat)):
            continue
        try:
            participants.append(_participant(seat, cast.get(seat), lookups, config))
        except Invalid as error:
            errors |= error.errors
    if errors := errors or _faults(config, participants):
        raise Invalid(errors)
    return participants


def is_person(asked: Any) -> bool:
    """Whether a seat is asked for a person."""
    return isinstance(asked, Mapping) and asked.get("person") is not None


def checked_people(workflow: str, config: Any, cast: Mapping[str, Any]) -> list[SeatedPerson]:
    """The people of a cast, unsaved, where the configuration has their seats. Raises Invalid."""
    people = []
    errors: Errors = {}
    taken = {*config.seats(cast), *config.optional_seats()}
    for seat, asked in cast.items():
        if is_person(asked) and seat in taken:
            try:
                people.append(_seated_person(workflow, seat, asked))
            except Invalid as error:
                errors |= error.errors
    if errors:
        raise Invalid(errors)
    return people


def _seated_person(workflow: str, seat: str, asked: Mapping[str, Any]) -> SeatedPerson:
    field = f"cast.{seat}"
    if seat not in REGISTRY[workflow].people:
        raise Invalid({field: [_("Only a model can take this part.")]})
    if asked.get("model"):
        raise Invalid({field: [_("Choose a model or a person, not both.")]})
    try:
        request = PersonRequest.model_validate(asked["person"])
    except ValidationError as error:
        raise invalid(f"{field}.person", error) from error
    same = {"seat": seat, "name": request.name, "seconds": request.seconds, "is_blind": request.blind}
    if not request.user:
        return SeatedPerson(expires=clock.now() + timedelta(hours=request.link_hours), **same)
    person = User.objects.filter(username=request.user, is_active=True).first()
    if person is None:
        message = _("There is no active account “%(name)s”.") % {"name": request.user}
        raise Invalid({f"{field}.person.user": [message]})
    return SeatedPerson(person=person, **same)


def _faults(config: Any, participants: Sequence[Participant]) -> Errors:
    """What a workflow has against this cast as a whole."""
    faults_of_cast = getattr(config, "faults_of_cast", None)
    if faults_of_cast is None:
        return {}
    errors: Errors = {}
    for seat, fault in faults_of_cast({one.seat: one.model.slug for one in participants}).items():
        if fault == "seated_twice":
            errors[f"cast.{seat}"] = [_("This model already takes part. Each model takes part once.")]
        else:
            words = _("A quorum of %(quorum)s votes is not possible: a solution has %(most)s judges.")
            errors["config.quorum"] = [
                words % {"quorum": config.quorum, "most": sum(one.seat != "judge" for one in participants) - 1}
            ]
    return errors


def _participant(seat: str, asked: Any, lookups: Lookups, config: Any) -> Participant:
    field = f"cast.{seat}"
    if asked is None:
        if seat not in USUAL:
            raise Invalid({field: [_("Choose a model.")]})
        usual = usual_model(seat, config, lookups.models.values())
        if usual is None:
            raise Invalid({field: [_("The lab has no default model for this role. Choose one.")]})
        _refuse_keyless(usual, field, lookups)
        return Participant(seat=seat, model=usual)
    try:
        request = SeatRequest.model_validate(asked)
    except ValidationError as error:
        raise invalid(field, error) from error
    model = lookups.models.get(request.model)
    if model is None:
        raise Invalid({field: [_("There is no available model “%(slug)s”.") % {"slug": request.model}]})
    _refuse_keyless(model, field, lookups)
    if request.params.served_by and not model.provider.routes:
        message = _("%(provider)s answers itself: there is nothing to choose.") % {"provider": model.provider.name}
        raise Invalid({f"{field}.params.served_by": [message]})
    params = request.params.model_dump(exclude_none=True)
    return Participant(seat=seat, model=model, persona=request.persona, params=params)


def _refuse_keyless(model: ProviderModel, field: str, lookups: Lookups) -> None:
    if model.provider_id in lookups.keyless:
        message = _("%(model)s needs a key of %(provider)s, and you have none. %(where)s")
        raise Invalid({field: [message % {"model": model.label, **where(model.provider)}]})


def usual_model(
    seat: str, config: Any = None, available: Collection[ProviderModel] | None = None
) -> ProviderModel | None:
    """The model of a seat for which none was chosen: of a judge, the one kept with the configuration's instrument if it
    is available; otherwise the lab's default. available: all that are, where they are at hand.
    """
    instrument, usual = instrument_of(config) if seat == "judge" else None, USUAL.get(seat)
    kept = instrument.definition.model if instrument else ""
    if available is None:
        defaults = Q(slug=kept) | Q(is_default_judge=True) | Q(is_default_filter=True)
        available = list(ProviderModel.objects.available().filter(defaults))
    found = [one for one in available if one.slug == kept]
    found = found or [one for one in available if usual and getattr(one, usual)]
    return found[0] if found else None


def require_visible_instrument(config: Any, *, lookups: Lookups) -> None:
    """Raises Invalid where a configuration has an instrument that the owner may not see, or another definition."""
    instrument = instrument_of(config)
    if instrument is not None and lookups.instruments.get(instrument.version) != instrument.definition.digest:
        place = "config.version" if instrument is config else "config.instrument.version"
        raise Invalid({place: [_("You can see no instrument with this version and definition.")]})


def refuse_unstorable(field: str, value: Any) -> None:
    """Of a JSON value with a text, or a name, that no database can hold. Raises Invalid at the field."""
    waiting = [value]  # without recursion, because strangers decide how deep it is
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            waiting += item
        elif isinstance(item, str) and not is_storable(item):
            message = _("The text has characters that cannot be stored (NUL or half a surrogate pair).")
            raise Invalid({field: [message]})


def invalid(prefix: str, error: ValidationError) -> Invalid:
    """What pydantic refuses, as a refusal. prefix: of the names of the fields."""
    errors: Errors = {}
    for problem in error.errors(include_url=False, include_input=False):
        field = ".".join([prefix, *map(str, problem["loc"])])
        errors.setdefault(field, []).append(complaint(problem))
    return Invalid(errors)
