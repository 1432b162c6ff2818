"""Tasks and solvers: `inspect eval arena_lab_inspect/arena -T prompt="…" --model-role A=openai/gpt-4.1`.

A sample's input is what the workflow is about (the prompt of an arena or a debate, the question of a council), so that
any dataset of Inspect can be played.
"""

import json
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Dataset, MemoryDataset, Sample
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from arena_lab_inspect.playing import Played, models_of, play
from arena_lab_inspect.ratings import by_rankings, judged
from experiments.workflows import workflow_of
from experiments.workflows.base.workflow import Workflow

PLAYED = "arena_lab"  # in the metadata of a sample: what was played
SUBJECT = {"arena": "prompt", "debate": "prompt", "council": "question", "starchamber": "first_message"}
DEFAULTS: dict[str, dict[str, Any]] = {
    "arena": {"gap_seconds": 0, "max_turns": 3},
    "debate": {"mode": "automatic"},
    "council": {"title": False},
}
MEMBERS = {"council": 3}  # seats of numbered members, where the task names no other number


@solver
def workflow(slug: str, seed: int = 0, members: int | None = None, **config: Any) -> Solver:
    """Plays the workflow `slug` about the input of the sample. config: of the workflow, beside what it is about;
    members: how many a council has. The epoch is added to the seed.
    """
    found = workflow_of(slug)
    if found.is_missing:
        raise ValueError(f"There is no workflow {slug!r} here.")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        asked = {**DEFAULTS.get(slug, {}), **config, SUBJECT.get(slug, "prompt"): state.input_text}
        parsed = found.config.model_validate(asked)
        count = members or MEMBERS.get(slug, 0)
        named = [f"member-{number}" for number in range(1, count + 1)]
        models = models_of(tuple(parsed.seats(named)))
        return _shown(state, found, await play(found, parsed, models, seed + state.epoch))

    return solve


def _shown(state: TaskState, found: Workflow, played: Played) -> TaskState:
    """The state with the transcript as messages, the last words as output, and the findings in the log."""
    findings = [{"type": one.kind, "key": one.key, "turn": one.turn, **one.data} for one in played.records]
    for finding in findings:
        transcript().info(finding, source="arena_lab")
    end = {"reason": played.end.reason, "failed": played.end.failed, "message": played.end.message}
    state.metadata[PLAYED] = {"workflow": found.slug, "findings": findings, "messages": played.said, "end": end}
    state.messages = [ChatMessageUser(content=state.input_text)]
    for said in played.said:
        place = {name: said[name] for name in ("seat", "turn", "purpose", "key")}
        state.messages.append(ChatMessageAssistant(content=said["text"], model=said["model"], metadata=place))
    lead = [said for said in played.said if said["seat"] == (found.leads or said["seat"])]
    if lead:
        state.output = ModelOutput.from_content(lead[-1]["model"], lead[-1]["text"])
    return state


def _dataset(texts: str | None) -> Dataset:
    """texts: one, or a JSON list of several."""
    if not texts:
        raise ValueError("Say what it is about: -T prompt=“…”, or for a council -T question=“…”.")
    many = json.loads(texts) if texts.lstrip().startswith("[") else [texts]
    return MemoryDataset([Sample(input=text, id=number) for number, text in enumerate(many, 1)])


@task
def arena(prompt: str = "", seed: int = 0, **config: Any) -> Task:
    """Two models (roles A and B) converse; the roles judge and filter score and filter what they say."""
    return Task(dataset=_dataset(prompt), solver=workflow("arena", seed, **config), scorer=judged())


@task
def council(question: str = "", members: int = 3, seed: int = 0, **config: Any) -> Task:
    """Roles member-1, member-2 … answer and rank each other; the role chair concludes."""
    chosen = workflow("council", seed, members, **config)
    return Task(dataset=_dataset(question), solver=chosen, scorer=by_rankings())


@task
def debate(prompt: str = "", seed: int = 0, **config: Any) -> Task:
    """Roles refiner, A, B, C and summarizer. It has no scores."""
    return Task(dataset=_dataset(prompt), solver=workflow("debate", seed, **config))
