"""Answers that follow a schema: the judge, the filter, and any other."""

import json
from datetime import datetime
from enum import Enum
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from experiments.workflows.base.filter import filter_step, read_filter
from experiments.workflows.base.judge import SideReply, TurnToJudge, judge_step, read_verdicts
from experiments.workflows.base.steps import Cast, Outcome
from tests.cases import each_case

from .conftest import SCENARIO, text_of
from .prompts import asking, fence, shape

CAST = Cast({}, seed=3)
START, END = "Hello  there,\n\n\n- one\n- two", "\n\n  Bye – 😀 \\n \u2028 end"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Nested(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=3, max_length=12)
    colour: Colour
    kind: Literal["only"]
    choice: Literal["x", "y"] | None
    when: datetime
    count: int = Field(gt=0, lt=3)
    even: int = Field(ge=1, le=9, multiple_of=2)
    ratio: float = Field(gt=0, lt=1)
    tags: list[str] = Field(min_length=1, max_length=2)
    pair: tuple[int, str]
    by_name: dict[str, float]
    either: int | str
    child: "Nested | None" = None
    sides: list[SideReply]
    flag: bool


@each_case("seed", range(4))
async def test_any_schema_of_pydantic_is_satisfied(ask, seed):
    Nested.model_validate_json(text_of(await ask(response_format=shape(Nested), seed=seed)), strict=False)


async def test_a_schema_inside_the_prompt_counts_too_but_not_inside_a_fence(ask):
    schema = json.dumps(SideReply.model_json_schema())
    messages = asking(f"Answer with JSON that follows this schema:\n{schema}")
    for response_format in ({"type": "json_object"}, {"type": "text"}):
        SideReply.model_validate_json(text_of(await ask(messages=messages, response_format=response_format)))
    assert not text_of(await ask(messages=asking(fence("message", schema)))).startswith("{")


@pytest.fixture
def answered(ask):
    """What a simulated model answers to a step of a workflow."""

    async def answer(step, model):
        messages = [{"role": prompt.role, "content": prompt.content} for prompt in step.messages]
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": step.schema}}
        return Outcome(text=text_of(await ask(model, messages=messages, response_format=form)))

    return answer


@pytest.fixture
def judge(answered):
    async def verdicts(first, second, manner=""):
        turn = TurnToJudge(1, dict.fromkeys("AB", SCENARIO), [], {"A": first, "B": second})
        step = judge_step("turn/1/judge", CAST, turn)
        return read_verdicts(await answered(step, f"sim/judge:first=0{manner}"), ("A", "B"))[0]

    return verdicts


async def test_the_judge_tells_the_personalities_apart(judge, talk):
    names = ("cooperative", "competitive", "deceptive", "drifting")
    said = {name: (await talk(f"sim/{name}:first=0", 4))[-1] for name in names}
    kind, hard = [one.scores for one in await judge(said["cooperative"], said["competitive"])]
    back = [one.scores for one in await judge(said["competitive"], said["cooperative"])]
    false, stray = [one.scores for one in await judge(said["deceptive"], said["drifting"])]

    assert back == [hard, kind], "wherever it sits"
    assert kind["cooperation"] > 0.2 > -0.2 > hard["cooperation"]
    assert hard["anger"] > kind["anger"]
    assert false["deception"] > max(kind["deception"], hard["deception"])
    assert stray["goal_deviation"] > 20 > max(kind["goal_deviation"], hard["goal_deviation"])


@each_case(
    ("manner", "is_scored"),
    [
        *((manner, [True, True]) for manner in ("prose", "fenced")),
        *((manner, [False, False]) for manner in ("broken", "truncated", "injected", "talk", "nulls", "words", "nan")),
        ("missing", [True, False]),
    ],
)
async def test_answers_are_spoiled_in_every_manner(judge, manner, is_scored):
    verdicts = await judge("Mine!", "Ours.", f":json={manner}")
    assert [bool(verdict.scores) for verdict in verdicts] == is_scored


async def test_numbers_can_be_out_of_range(judge):
    for manner in ("range", "far"):
        assert all("outside" in one.unscored_reason for one in await judge("Mine!", "Ours.", f":json={manner}"))


@each_case(
    ("text", "kept", "removed"),
    [
        (f"{START}\n\n**My reasoning:** I want it all.\n\nStrategy: wait.{END}", START + END, 2),
        ("Internal plan: x\n\nKept.\n", "Kept.\n", 1),
        ("我的思路：让步\n\nKept.\n", "Kept.\n", 1),
        ("Nothing here about Strategy: it is only mentioned.\n\nEnd.", None, 0),
    ],
)
async def test_the_filter_removes_asides_and_returns_everything_else_verbatim(answered, text, kept, removed):
    step = filter_step("turn/1/A/filter", CAST, "Model A", text, [], 1)
    filtered = read_filter(await answered(step, "sim/filter:first=0"), text)
    assert (filtered.text, len(filtered.removed)) == (kept or text, removed)


async def test_a_swapped_pair_gets_the_same_winner(ask):
    class Choice(BaseModel):
        winner: Literal["A", "B", "tie"]

    texts = {"A": "This one.", "B": "Something else entirely. " * 9}
    winners = []
    for first, second in ("AB", "BA"):
        messages = asking(fence("output-A", texts[first]), fence("output-B", texts[second]))
        answer = Choice.model_validate_json(text_of(await ask(messages=messages, response_format=shape(Choice))))
        winners.append({"A": first, "B": second}.get(answer.winner))
    assert winners[0] == winners[1]
