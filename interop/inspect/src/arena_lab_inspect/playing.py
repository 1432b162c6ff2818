"""Plays a workflow's generator with Inspect's models: every question is a model call that Inspect logs.

The generator is the platform's own, unchanged. What the platform's engine does beside it is not done here: nothing is
recorded but in Inspect's log, nothing is resumed, and the retries are Inspect's.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    get_model,
)
from inspect_ai.util import LimitExceededError, span

from experiments.workflows.base.records import Record
from experiments.workflows.base.replay import Replay, passed
from experiments.workflows.base.steps import Ask, Cast, End, Execute, Listen, Outcome, Prompt, Seat
from experiments.workflows.base.workflow import Workflow

MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
FINISHED = {"stop": "stop", "max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
EMPTY = "empty_answer"
PARAMS = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "top_logprobs")


@dataclass(slots=True)
class Played:
    """records: what the workflow found, in order. said: its messages, {key, seat, turn, purpose, text, model}."""

    records: list[Record] = field(default_factory=list)
    said: list[dict[str, Any]] = field(default_factory=list)
    end: End = field(default_factory=lambda: End("nothing_to_do"))


def models_of(seats: tuple[str, ...]) -> dict[str, Model]:
    """The model of each seat: the one of the model role of that name (`--model-role A=…`), else that of the task."""
    return {seat: get_model(role=seat) for seat in seats}


async def play(workflow: Workflow, config: Any, models: Mapping[str, Model], seed: int = 0) -> Played:
    """To its end, or to the first pause at which a person would have to speak. models: by seat. Raises ValueError for
    a workflow that runs code.
    """
    names = {seat: tuple(dict.fromkeys((model.name, str(model)))) for seat, model in models.items()}
    cast = Cast({seat: Seat(seat, called=names[seat]) for seat in models}, seed)
    replay, played, under_way = Replay(workflow.run(config, cast), {}), Played(), 0
    send, receive = anyio.create_memory_object_stream[tuple[Ask, Outcome]](math.inf)
    async with anyio.create_task_group() as group, send, receive:

        async def answer(ask: Ask) -> None:
            await send.send((ask, await _answer(ask, models, cast)))

        todos = deque([replay.start()])
        while True:
            while todos:
                todo = todos.popleft()
                for step in todo.steps:
                    if isinstance(step, Record):
                        played.records.append(step)
                    elif isinstance(step, Ask):
                        under_way += 1
                        group.start_soon(answer, step)
                    elif isinstance(step, Listen) and step.may_pass:
                        todos.append(replay.resolve(step.key, passed(step)))
                    elif isinstance(step, Execute):
                        raise ValueError(f"The workflow {workflow.slug} runs code, which only the platform does.")
                    elif isinstance(step, Listen):
                        played.end = End("completed" if step.is_offer else "waits_for_a_person")
                if todo.end:
                    played.end = todo.end
            if not under_way:
                return played
            ask, outcome = await receive.receive()
            under_way -= 1
            if ask.is_spoken and outcome.ok:
                model = str(models[ask.played_by or ask.seat])
                place = {"key": ask.key, "seat": ask.seat, "turn": ask.turn, "purpose": ask.purpose}
                played.said.append({**place, "text": outcome.text, "model": model})
            todos.append(replay.resolve(ask.key, outcome))


async def _answer(ask: Ask, models: Mapping[str, Model], cast: Cast) -> Outcome:
    """A failure is data, as on the platform; limits of Inspect end the sample."""
    params = {name: value for name, value in ask.params.items() if name in PARAMS}
    if ask.is_spoken:
        params = {"seed": cast.random(ask.draw or ask.key).getrandbits(31), **params}
    config = GenerateConfig(**params, logprobs=True if "top_logprobs" in params else None)
    async with span(f"{ask.seat} {ask.key}", type=ask.purpose):
        try:
            output = await models[ask.played_by or ask.seat].generate(_messages(ask.messages), config=config)
        except LimitExceededError:
            raise
        except Exception as error:  # of whatever provider
            return Outcome(ok=False, error_kind="failed", error=f"{type(error).__name__}: {error}")
    if output.error or not output.choices:
        return Outcome(ok=False, error_kind="failed", error=output.error or "The model gave no choice.")
    reasoning = output.message.content if isinstance(output.message.content, list) else []
    thought = "\n".join(part.reasoning for part in reasoning if part.type == "reasoning")
    if not output.completion.strip():
        return Outcome(ok=False, reasoning=thought, error_kind=EMPTY, error="The model returned no text.")
    finish = FINISHED.get(output.stop_reason, "")
    return Outcome(text=output.completion, reasoning=thought, finish_reason=finish)


def _messages(prompts: tuple[Prompt, ...]) -> list[ChatMessage]:
    return [MESSAGES[one.role](content=one.content) for one in prompts]
