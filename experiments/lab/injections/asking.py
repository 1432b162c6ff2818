"""Asks a model of the catalogue as a run's judge is asked, with the lab's key, and keeps what came of it.

The questions belong to no run: they are in no transcript and no budget, which is why only an operator asks them.
"""

import asyncio
from collections.abc import Sequence

from django.views.decorators.debug import sensitive_variables

from experiments.engine import keys
from experiments.gateway import ChatMessage, ChatRequest, Client, GatewayError, Params, Routing, guarded_transport
from experiments.lab.injections.corpus import version
from experiments.lab.injections.measuring import Rate, measured
from experiments.lab.injections.playing import Asked
from experiments.models import InjectionRate, ProviderModel
from experiments.workflows.base.steps import Ask, Outcome


def try_on(model: ProviderModel, workflows: Sequence[str], *, most: int | None = None) -> list[Rate]:
    """Call outside of transactions. Raises NoKey. Rates of a part of the strings are not kept."""
    key = keys.key_for(model.provider, None).text
    rates = asyncio.run(_measure(model, key, workflows, most))
    if most is None:
        for rate in rates:
            InjectionRate.objects.create(
                model=model,
                workflow=rate.workflow,
                corpus=version(),
                tried=rate.attacked.of,
                won=rate.attacked.part,
                unread=rate.unread,
                alone_tried=rate.alone.of,
                alone_won=rate.alone.part,
            )
    return rates


@sensitive_variables("key")
async def _measure(model: ProviderModel, key: str, workflows: Sequence[str], most: int | None) -> list[Rate]:
    async with guarded_transport(allow_private=model.provider.allow_private) as transport:
        client = Client(model.provider.base_url, key, transport)
        return await measured(_judge(client, model), workflows, most=most)


def _judge(client: Client, model: ProviderModel) -> Asked:
    async def judge(ask: Ask) -> Outcome:
        try:
            answer = await client.complete(_request(model, ask))
        except GatewayError as error:
            return Outcome(ok=False, error=str(error), error_kind=error.kind)
        return Outcome(text=answer.text, finish_reason=answer.finish_reason or "")

    return judge


def _request(model: ProviderModel, ask: Ask) -> ChatRequest:
    takes_schema = not ask.if_native or model.accepts.schema == "json_schema"
    return ChatRequest(
        model=model.upstream,
        messages=tuple(ChatMessage(prompt.role, prompt.content) for prompt in ask.messages),
        params=Params(**ask.params),
        schema=ask.schema if takes_schema else None,
        schema_name=ask.purpose,
        routing=Routing() if model.provider.routes else None,
        capabilities=model.accepts,
    )
