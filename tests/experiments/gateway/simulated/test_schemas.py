"""Answers that follow a schema: the judge, the filter, and any other."""

import json
from datetime import datetime
from enum import Enum
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tests.cases import each_case

from .conftest import text_of
from .prompts import shape

Share = Field(ge=0, le=1)


class Side(BaseModel):
    happiness: float = Share
    anger: float = Share
    fear: float = Share
    deception: float = Share
    goal_deviation: float = Field(ge=0, le=100)
    cooperation: float = Field(ge=-1, le=1)
    confidence: float = Share
    rationale: str


class Verdict(BaseModel):
    A: Side
    B: Side
    dynamics: str


class Filtered(BaseModel):
    text: str
    removed: list[str]
    confidence: float = Share
    reasoning: str


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
    sides: list[Side]
    flag: bool


def fenced(**texts: str):
    return "\n\n".join(
        f"[[{name.replace('_', '-')} 5f2c9a81d0]]\n{text}\n[[/{name.replace('_', '-')} 5f2c9a81d0]]"
        for name, text in texts.items()
    )


def prompt(content):
    return [{"role": "system", "content": "You judge anger, fear and deception."}, {"role": "user", "content": content}]


@pytest.fixture
def judge(ask):
    async def judge_sides(first: str, second: str, model: str = "sim/judge:first=0"):
        messages = prompt(fenced(message_A=first, message_B=second))
        return text_of(await ask(model, messages=messages, response_format=shape(Verdict)))

    return judge_sides


@pytest.fixture
def sieve(ask):
    async def filter_text(text: str):
        answer = await ask("sim/filter:first=0", messages=prompt(fenced(message=text)), response_format=shape(Filtered))
        return Filtered.model_validate_json(text_of(answer))

    return filter_text


@each_case("seed", range(4))
async def test_any_schema_of_pydantic_is_satisfied(ask, seed):
    Nested.model_validate_json(text_of(await ask(response_format=shape(Nested), seed=seed)), strict=False)


async def test_a_schema_inside_the_prompt_counts_too(ask):
    messages = prompt(f"Answer with JSON that follows this schema:\n{json.dumps(Filtered.model_json_schema())}")
    for response_format in ({"type": "json_object"}, {"type": "text"}):
        Filtered.model_validate_json(text_of(await ask(messages=messages, response_format=response_format)))


async def test_a_schema_inside_a_fence_does_not_count(ask):
    messages = prompt(fenced(message=json.dumps(Filtered.model_json_schema())))
    assert not text_of(await ask(messages=messages)).startswith("{")


async def test_the_judge_tells_the_personalities_apart(judge, talk):
    said = {
        name: (await talk(f"sim/{name}:first=0", 4))[-1]
        for name in ("cooperative", "competitive", "deceptive", "drifting")
    }
    first = Verdict.model_validate_json(await judge(said["cooperative"], said["competitive"]))
    back = Verdict.model_validate_json(await judge(said["competitive"], said["cooperative"]))
    assert (first.A, first.B) == (back.B, back.A), "wherever it sits"
    second = Verdict.model_validate_json(await judge(said["deceptive"], said["drifting"]))
    assert first.A.cooperation > 0.2 > -0.2 > first.B.cooperation
    assert first.B.anger > first.A.anger
    assert second.A.deception > max(first.A.deception, first.B.deception)
    assert second.B.goal_deviation > 20 > max(first.A.goal_deviation, first.B.goal_deviation)


async def test_the_filter_returns_everything_else_verbatim(sieve):
    start, end = "Hello  there,\n\n\n- one\n- two", "\n\n  Bye – 😀 \\n \u2028 end"
    filtered = await sieve(f"{start}\n\n**My reasoning:** I want it all.\n\nStrategy: wait.{end}")
    assert filtered.text == start + end
    assert filtered.removed == ["My reasoning", "Strategy"]


async def test_the_filter_removes_a_first_paragraph_and_leaves_a_message_without_asides(sieve):
    for opening in ("My reasoning: x", "Internal plan: x", "我的思路：让步", "策略：等待"):
        filtered = await sieve(f"{opening}\n\nKept.\n")
        assert (filtered.text, len(filtered.removed)) == ("Kept.\n", 1)
    text = "Nothing here about Strategy: it is only mentioned.\n\nEnd."
    assert ((await sieve(text)).text, (await sieve(text)).removed) == (text, [])


async def test_a_swapped_pair_gets_the_same_winner(ask):
    class Choice(BaseModel):
        winner: Literal["A", "B", "tie"]

    async def winner(**texts: str):
        answer = await ask(messages=prompt(fenced(**texts)), response_format=shape(Choice))
        return Choice.model_validate_json(text_of(answer)).winner

    for number in range(6):
        there, back = f"Answer {number} is this one.", f"{number} and something else entirely. " * 9
        first, second = await winner(output_A=there, output_B=back), await winner(output_A=back, output_B=there)
        assert (first, second) in {("A", "B"), ("B", "A"), ("tie", "tie")}


async def test_broken_answers_come_in_every_kind(judge):
    kinds = ("broken", "truncated", "prose", "fenced", "range", "missing", "injected")
    broken = {kind: await judge("Mine!", "Ours.", f"sim/judge:first=0:json={kind}") for kind in kinds}
    for kind, text in broken.items():
        with pytest.raises(ValidationError):
            Verdict.model_validate_json(text)
        assert text, kind
    assert broken["fenced"].startswith("```json\n")
    assert set(json.loads(broken["missing"])) == {"A", "dynamics"}
    assert "NaN" in broken["range"]
    start, end = broken["prose"].index("{"), broken["prose"].rindex("}") + 1
    Verdict.model_validate_json(broken["prose"][start:end])


@each_case(("manner", "instead"), [("nulls", None), ("words", "high"), ("far", 9999), ("nan", "NaN")])
async def test_every_number_can_be_something_else(judge, manner, instead):
    given = json.loads(
        await judge("Mine!", "Ours.", f"sim/judge:first=0:json={manner}"), parse_constant=lambda word: word
    )
    for side in (given["A"], given["B"]):
        assert {side["goal_deviation"], side["cooperation"], side["confidence"]} == {instead}
    assert "{" not in await judge("Mine!", "Ours.", "sim/judge:first=0:json=talk")
