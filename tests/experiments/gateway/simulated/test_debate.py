"""The parts of a debate: the refined request, the debaters' turns and the summary."""

import json
import re

import pytest
from pydantic import BaseModel, ConfigDict, Field

from tests.cases import each_case

from . import prompts
from .conftest import text_of
from .prompts import LANGUAGES, SPOILED, shape

REFERENCES = {"A1.p1", "A1.p2", "B1.p1", "B1.c1"}


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Point(Strict):
    id: str
    contents: str


class Action(Point):
    sources: list[str]


class Refined(Strict):
    objective: str
    context: str
    preferences: list[str]
    missing: list[str]
    clarifying_questions: list[str] = Field(max_length=3)


class Turn(Strict):
    speaker: str
    new_perspectives: list[Point]
    counterpoints: list[Point]


class Summary(Strict):
    recommended: list[Action]
    discouraged: list[Action]


@pytest.fixture
def given(ask):
    async def give(schema, messages, model="sim/neutral:first=0", **changes):
        return text_of(await ask(model, messages=messages, response_format=shape(schema), **changes))

    return give


@pytest.fixture
def turn(given):
    async def take(language, speaker, *, seed=1, **how):
        return Turn.model_validate_json(await given(Turn, prompts.debater(language, speaker, **how), seed=seed))

    return take


def is_chinese(text):
    return len(re.findall(r"[\u4e00-\u9fff]", text)) > len(re.findall(r"[A-Za-z]{2,}", text))


@each_case("language", LANGUAGES)
async def test_a_refined_request_says_what_is_known_and_what_is_not(given, language):
    text = await given(Refined, prompts.asking("Refine.", prompts.fence("request", prompts.REQUESTS[language])))
    refined = Refined.model_validate_json(text)
    station, money, wish = {
        "en": ("small weather station", "200 euros", "open source"),
        "zh": ("气象站", "两千元", "开源"),
    }[language]
    assert station in refined.context
    assert money in refined.context
    assert any(wish in preference for preference in refined.preferences)
    assert 1 <= len(refined.clarifying_questions) == len(refined.missing) <= 3
    assert is_chinese(refined.objective) == (language == "zh")


@each_case("language", LANGUAGES)
@each_case("speaker", ["A", "B", "C"])
async def test_a_first_turn_has_three_perspectives_and_answers_what_was_said(turn, speaker, language):
    for seed in range(3):
        taken = await turn(language, speaker, seed=seed)
        assert taken.speaker == speaker
        assert [point.id for point in taken.new_perspectives] == ["p1", "p2", "p3"]
        assert [point.id for point in taken.counterpoints] == ["c1", "c2"]
        texts = [point.contents for point in (*taken.new_perspectives, *taken.counterpoints)]
        assert len(set(texts)) == 5
        for text in texts:
            assert is_chinese(text) == (language == "zh")
            assert 36 <= len(text) <= 105 if language == "zh" else 18 <= len(text.split()) <= 48


async def test_counterpoints_name_the_points_of_others_where_there_are_some(turn):
    for seed in range(3):
        taken = await turn("en", "B", seed=seed)
        named = [set(re.findall(r"[A-Z]\d\.[pc]\d", point.contents)) for point in taken.counterpoints]
        assert all(names and names <= {"A1.p1", "A1.p2"} for names in named)
    assert (await turn("en", "A", points=False)).counterpoints == []


@each_case("language", LANGUAGES)
async def test_a_second_turn_is_shorter_and_takes_up_the_addendum(turn, language):
    addendum = {"en": "Nobody may climb on the roof.", "zh": "任何人都不能上屋顶。"}[language]
    taken = await turn(language, "C", round_=2, addendum=addendum)
    assert len(taken.new_perspectives) == 2
    assert addendum.rstrip(".。") in taken.new_perspectives[0].contents


async def test_turns_differ_by_seed_and_part(turn):
    taken = [(await turn("en", speaker, seed=seed)).model_dump_json() for speaker in "ABC" for seed in range(4)]
    assert len(set(taken)) == 12
    assert taken[0] == (await turn("en", "A", seed=0)).model_dump_json()


@each_case("language", LANGUAGES)
async def test_a_summary_rests_on_points_that_were_made(given, language):
    for seed in range(3):
        summary = Summary.model_validate_json(await given(Summary, prompts.summary(language), seed=seed))
        assert [action.id for action in summary.recommended] == ["action_1", "action_2", "action_3"]
        assert [action.id for action in summary.discouraged] == ["avoid_1", "avoid_2"]
        for action in (*summary.recommended, *summary.discouraged):
            assert action.sources
            assert set(action.sources) <= REFERENCES
            assert all(source in action.contents for source in action.sources)
            assert is_chinese(action.contents) == (language == "zh")


async def test_a_summary_of_nothing_names_no_sources(given):
    messages = prompts.asking("Sum up.", prompts.fence("task", prompts.REQUESTS["en"]))
    summary = Summary.model_validate_json(await given(Summary, messages))
    assert {source for action in summary.recommended for source in action.sources} == set()


@each_case("manner", SPOILED)
async def test_a_spoiled_turn_is_no_good_turn(given, manner):
    text = await given(Turn, prompts.debater("en", "B"), f"sim/neutral:first=0:json={manner}")
    try:
        turn = Turn.model_validate(json.loads(text))
    except ValueError:
        return
    points = turn.new_perspectives + turn.counterpoints
    assert any(not point.contents for point in points) or len(points) > 5


async def test_a_summary_can_lack_contents_deep_inside(given):
    text = await given(Summary, prompts.summary("en"), "sim/neutral:first=0:json=missing")
    assert [sorted(item) for item in json.loads(text)["recommended"]][-1] == ["id", "sources"]
