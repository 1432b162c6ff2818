"""Whether a provider accepts a key: one tiny call, and what came of it in plain words."""

import asyncio
from dataclasses import dataclass

from django.views.decorators.debug import sensitive_variables

from accounts.crypto import Undecipherable, decrypt
from experiments.gateway import (
    BadKey,
    ChatMessage,
    ChatRequest,
    Completion,
    Deadlines,
    EmptyAnswer,
    GatewayError,
    OutcomeUnknown,
    OutOfCredit,
    Params,
    RateLimited,
    Unreachable,
)
from experiments.lab.catalog.syncing import SECONDS, client_of, listed
from experiments.models import ProviderKey, ProviderModel

FEW_TOKENS = 16  # some providers refuse to be asked for fewer
LONGEST_WORDS = 400
KEY_REFUSED = (401, 403)

Outcome = ProviderKey.Outcome
NOTHING_LEARNED = (Unreachable, OutcomeUnknown)


@dataclass(frozen=True, slots=True)
class Tried:
    """words: what the provider said to it, without the key; "" when it accepts the key."""

    outcome: ProviderKey.Outcome
    words: str = ""


@sensitive_variables("text")
def tried(key: ProviderKey) -> Tried:
    """Asks now, and waits for the answer. Call outside of transactions."""
    try:
        text = decrypt(key.ciphertext)
    except Undecipherable:
        return Tried(Outcome.UNREADABLE)
    model = key.provider.models.filter(is_active=True).order_by("is_tool", "slug").first()
    try:
        if model:
            asyncio.run(ask(model, text, "Say: yes", max_tokens=FEW_TOKENS))
        else:
            listed(key.provider, text)
    except GatewayError as error:
        outcome = outcome_of(error)
        return Tried(outcome, "" if outcome is Outcome.ACCEPTED else str(error)[:LONGEST_WORDS])
    return Tried(Outcome.ACCEPTED)


def outcome_of(error: GatewayError) -> ProviderKey.Outcome:
    """What a failure says of the key."""
    if isinstance(error, BadKey) or error.status in KEY_REFUSED:
        return Outcome.REFUSED
    if isinstance(error, OutOfCredit):
        return Outcome.NO_CREDIT
    if isinstance(error, RateLimited):
        return Outcome.RATE_LIMITED
    if isinstance(error, NOTHING_LEARNED):
        return Outcome.UNREACHABLE
    return Outcome.ACCEPTED if isinstance(error, EmptyAnswer) else Outcome.UNKNOWN


@sensitive_variables("text")
async def ask(model: ProviderModel, text: str, prompt: str, *, max_tokens: int) -> Completion:
    """A short answer of a model, asked with the key `text`, outside of any run. Raises GatewayError."""
    request = ChatRequest(
        model=model.upstream,
        messages=(ChatMessage("user", prompt),),
        params=Params(max_tokens=max_tokens),
        capabilities=model.accepts,
        deadlines=Deadlines(connect=SECONDS / 2, first_byte=SECONDS, progress=SECONDS, total=SECONDS),
    )
    async with client_of(model.provider, text) as client:
        return await client.complete(request)
