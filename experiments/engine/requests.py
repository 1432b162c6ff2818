"""From a step's seat to a prepared call: which model sits there, what it accepts, and what its call may cost."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from experiments.engine import keys, materials
from experiments.engine.executor import Endpoint
from experiments.engine.reservations import LEAST_ANSWER, Amount
from experiments.gateway.errors import BadKey, GatewayError, NoImages, NoMaterial
from experiments.gateway.types import ChatMessage, ChatRequest, Deadlines, Params, Price, Routing
from experiments.gateway.usage import most_tokens, reserve
from experiments.models import ModelPrice, Participant, ProviderModel, Run
from experiments.models.money import kept_upwards
from experiments.workflows.base.steps import Ask, Cast


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A request ready to be made, with the price it would be made at and the key it is made with. least_tokens: what
    the prompt takes with the shortest answer worth asking for. problem: why it cannot be made at all; nothing is sent
    then, and nothing paid. share: of the price, where it is made in a batch; None for a call of its own.
    """

    model: ProviderModel
    price: ModelPrice | None
    request: ChatRequest
    reserved: Decimal | None
    reserved_tokens: int = 0
    least_tokens: int = 0
    problem: GatewayError | None = None
    key: keys.Key = field(default_factory=keys.Key)
    share: Decimal | None = None

    @property
    def is_batched(self) -> bool:
        return self.share is not None

    @property
    def set_aside(self) -> Amount:
        return Amount(self.reserved, self.reserved_tokens)

    @property
    def endpoint(self) -> Endpoint:
        return endpoint_of(self.model, self.key)


def endpoint_of(model: ProviderModel, key: keys.Key) -> Endpoint:
    provider = model.provider
    return Endpoint(
        base_url=provider.base_url,
        api_key=key.text,
        allow_private=provider.allow_private,
        model=model.upstream,
        concurrency=provider.concurrency,
        is_simulated=provider.is_simulated,
        provider=provider.name,
        model_id=model.pk,
        requests_per_minute=provider.requests_per_minute,
        tokens_per_minute=provider.tokens_per_minute,
    )


class Catalogue:
    """Models with today's prices. An entry may be `seconds` old: a run that asks one model again and again need not
    look it up for every call.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self._found: dict[int, tuple[float, ProviderModel, ModelPrice | None]] = {}

    def entry(self, model_id: int) -> tuple[ProviderModel, ModelPrice | None]:
        known = self._found.get(model_id)
        if known is None or time.monotonic() - known[0] >= self._seconds:
            model = ProviderModel.objects.select_related("provider").get(pk=model_id)
            known = self._found[model_id] = (time.monotonic(), model, model.price_at(timezone.now()))
        return known[1], known[2]


def seats_of(run: Run) -> dict[str, Participant]:
    participants = run.experiment.participants.select_related("model__provider")
    return {participant.seat: participant for participant in participants}


def prepare_call(
    participant: Participant,
    ask: Ask,
    call_id: UUID,
    share: int | None,
    run_seed: int,
    catalogue: Catalogue | None = None,
    owner_id: int | None = None,
    empties: int = 0,
    run_id: UUID | str = "",
    *,
    in_batch: bool = False,
) -> PreparedCall:
    """The request for `ask`, made to the participant's model as it is catalogued now. owner_id: in whose name it is
    made; None for the lab's. run_id: whose own transcript is meant where an excerpt names none.

    share: tokens that the run's limit leaves for prompt and answer; None when there is no limit. run_seed: a reply's
    sampling follows from it and from the step's key, unless the seat has a seed of its own: repeats differ, and can be
    repeated. empties: how often the step was answered with nothing; each time a seed that was sent becomes another,
    since the same would give nothing again. in_batch: by the batch API of the provider, where it has one and no picture
    is shown.
    """
    model, price = (catalogue or Catalogue()).entry(participant.model_id)
    takes_schema = not ask.if_native or model.accepts.schema == "json_schema"
    draws_seed = ask.is_spoken and model.accepts.seed  # judges and filters are asked the same way in every repeat
    drawn = {"seed": Cast({}, run_seed).random(ask.draw or ask.key).getrandbits(31)} if draws_seed else {}
    params = _params({**drawn, **ask.params}, participant.params, ask)
    if empties and params.seed is not None:
        params = replace(params, seed=Cast({}, params.seed).random(f"empty/{empties}").getrandbits(31))
    shown, problem = _shown(ask, model, owner_id, run_id)
    key = keys.Key()
    try:  # looked up for every call, so that one that was taken back is used for none that begins later
        key = keys.key_for(model.provider, owner_id)
    except keys.NoKey as error:
        problem = problem or BadKey(str(error))
    request = ChatRequest(
        model=model.upstream,
        messages=shown,
        params=params,
        schema=ask.schema if takes_schema else None,
        schema_name=ask.purpose,
        request_id=str(call_id),
        routing=Routing.pinned(participant.params.get("served_by", "")) if model.provider.routes else None,
        capabilities=model.accepts,
        # The first word may come at the end of the time that the question may take.
        deadlines=Deadlines() if ask.deadline is None else Deadlines(first_byte=ask.deadline, total=ask.deadline),
    )
    if problem:
        return PreparedCall(model, price, request, Decimal(0), problem=problem)
    if share is not None:
        request = _within(request, share)
    is_batched = in_batch and model.provider.batch_api and all(message.is_text for message in shown)
    of_price = model.provider.batch_share if is_batched else None
    most = reserve(request, price_at(price, of_price))
    reserved = None if most is None else kept_upwards(most)
    prompt, answer = most_tokens(request)
    least = prompt + min(answer, LEAST_ANSWER)
    return PreparedCall(model, price, request, reserved, prompt + answer, least, key=key, share=of_price)


def price_at(price: ModelPrice | None, share: Decimal | None) -> Price | None:
    """What a call costs, or a share of it; None where that is not known."""
    value = price.value if price else None
    return value if value is None or share is None else value.at(share)


def _within(request: ChatRequest, share: int) -> ChatRequest:
    """The request with an answer no longer than its share of the run's limit leaves beside the prompt."""
    prompt, _ = most_tokens(request)
    asked = request.params.max_tokens or request.capabilities.max_output_tokens
    left = max(share - prompt, LEAST_ANSWER)
    longest = left if asked is None else min(asked, left)
    return replace(request, params=replace(request.params, max_tokens=longest))


def _shown(
    ask: Ask, model: ProviderModel, owner_id: int | None, run_id: UUID | str
) -> tuple[tuple[ChatMessage, ...], GatewayError | None]:
    """What is asked, with its material; or nothing, and why it cannot be shown to this model."""
    try:
        shown = materials.messages(ask.messages, owner_id, run_id)
    except NoMaterial as error:
        return (), error
    if not model.accepts.images and any(message.pictures for message in shown):
        sentence = f"{model.label} cannot look at pictures, and the prompt holds some: choose a model that can."
        return (), NoImages(sentence)
    return shown, None


def _params(of_purpose: Mapping[str, Any], of_seat: Mapping[str, Any], ask: Ask) -> Params:
    """The seat's parameters count before the purpose's. The answer has at least the room that the step needs, and
    at most the server's limit for what the role may write, which the set-up of a run cannot raise.
    """
    merged = {**of_purpose, **{name: value for name, value in of_seat.items() if value is not None}}
    merged.pop("served_by", None)
    if ask.room:
        merged["max_tokens"] = max(of_seat.get("max_tokens") or 0, ask.room)
    limit = settings.ROLE_TOKENS.get(ask.role)
    if limit is not None:
        longest = min(limit, settings.ROLE_TOKENS_CAP)
        merged["max_tokens"] = max(1, min(merged.get("max_tokens") or longest, longest))
    if "stop" in merged:
        merged["stop"] = tuple(merged["stop"])
    return Params(**merged)
