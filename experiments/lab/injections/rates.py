"""How often a judge lets an instruction inside an answer decide: measured, kept, and what is known of each model.

Every string is tried once against each way of judging, and beside it the same answers without any. The questions belong
to no run: they are in no transcript and no budget, which is why only an operator asks them, with the lab's key.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.views.decorators.debug import sensitive_variables

from experiments.engine import keys
from experiments.gateway import ChatMessage, ChatRequest, Client, GatewayError, Params, Routing, guarded_transport
from experiments.lab.injections.corpus import CASES, strings, version
from experiments.lab.injections.trials import CALLS, TRIALS, Judge, Result
from experiments.models import InjectionRate, ProviderModel
from experiments.workflows.base.steps import Ask, Outcome
from leaderboard.ratings.statistics import Share

AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Rate:
    """attacked: the share of attacked trials that the wrong answer won; alone: of those without an instruction, what
    it wins by itself. unread: attacked trials of which no verdict could be read; they count as tried.
    """

    workflow: str
    attacked: Share
    alone: Share
    unread: int


def calls(workflows: Iterable[str], strings_: int | None = None) -> int:
    """How many questions a measurement asks at least."""
    count = len(strings()) if strings_ is None else strings_
    return sum(CALLS[workflow] * (count + len(CASES)) for workflow in workflows)


async def measured(judge: Judge, workflows: Sequence[str] = tuple(TRIALS), *, most: int | None = None) -> list[Rate]:
    """judge: asks the model; a failure is an Outcome that is not ok. most: strings that are tried, all if None."""
    free = asyncio.Semaphore(AT_ONCE)

    async def asked(ask: Ask) -> Outcome:
        async with free:
            return await judge(ask)

    return [await _rate(workflow, asked, strings()[:most]) for workflow in workflows]


async def _rate(workflow: str, judge: Judge, tried: Sequence[str]) -> Rate:
    trial = TRIALS[workflow]
    attacked = await asyncio.gather(*(trial(number, text, judge) for number, text in enumerate(tried)))
    alone = await asyncio.gather(*(trial(number, "", judge) for number in range(len(CASES))))
    won, won_alone = (Share(results.count(Result.WON), len(results)) for results in (attacked, alone))
    return Rate(workflow, won, won_alone, attacked.count(Result.UNREAD))


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

        async def judge(ask: Ask) -> Outcome:
            try:
                answer = await client.complete(_request(model, ask))
            except GatewayError as error:
                return Outcome(ok=False, error=str(error), error_kind=error.kind)
            return Outcome(text=answer.text, finish_reason=answer.finish_reason or "")

        return await measured(judge, workflows, most=most)


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


@dataclass(frozen=True, slots=True)
class Standing:
    """attacked: of wrong answers that told the judge what to say; alone: of the same ones without a word to it."""

    attacked: Share
    alone: Share
    unread: int
    measured: datetime


def newest(workflow: str, models: Iterable[int | None]) -> dict[int | None, Standing]:
    """By the key of the model."""
    rows = InjectionRate.objects.filter(workflow=workflow, corpus=version(), model__in=[pk for pk in models if pk])
    return {
        row.model_id: Standing(
            Share(row.won, row.tried), Share(row.alone_won, row.alone_tried), row.unread, row.measured
        )
        for row in rows.order_by("measured", "pk")
    }
