"""What a simulated model says: deterministic, in its own voice, in the language and about the things of the prompt."""

import re

import pytest

from experiments.gateway.simulated.tokens import count_tokens
from tests.cases import each_case

from .conftest import text_of
from .prompts import LANGUAGES, QUESTIONS

KNOWN = "I will begin with what can be said about the split with."
STRAY = ("lighthouse", "sourdough", "geese", "plum", "sea", "map", "poe", "song", "music", "birds", "recipe", "film")
PERSONALITIES = ("cooperative", "competitive", "neutral", "sceptical", "practical", "deceptive", "drifting")


@pytest.fixture
def answer(ask):
    """To a plain question."""

    async def answer_once(question, name="cooperative", seed=1, earlier=(), system=""):
        messages = [{"role": "system", "content": system}] if system else []
        messages += [*earlier, {"role": "user", "content": question}]
        return text_of(await ask(f"sim/{name}:first=0", messages=messages, seed=seed))

    return answer_once


async def test_the_text_follows_from_model_seed_and_prompt_and_from_no_option_of_delivery(ask, stream):
    text = text_of(await ask(seed=7))
    assert text == text_of(await ask(seed=7))
    assert text == text_of(await ask("sim/cooperative:first=0:tps=5000:usage=none", seed=7))
    assert text == "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in await stream(seed=7))
    assert text != text_of(await ask(seed=8))
    assert text_of(await ask("sim/neutral:first=0:words=12", seed=1)) == KNOWN, "and stays what it is"


async def test_words_sets_the_length_exactly(ask, answer):
    for words in (1, 60, 2000):
        assert len(text_of(await ask(f"sim/competitive:first=0:words={words}")).split()) == words
        assert len((await answer(QUESTIONS["en"], f"practical:words={words}")).split()) == words


@each_case("personality", ["cooperative", "competitive", "drifting", "deceptive", "neutral"])
async def test_a_conversation_does_not_repeat_itself_and_speaks_of_the_scenario(talk, personality):
    said = await talk(f"sim/{personality}:first=0", 20)
    assert len(set(said)) == 20
    assert re.search("memory modules|graphics card|computer parts", said[0])
    strategic = [text for text in said if re.search("^(My reasoning|Strategy):", text, re.MULTILINE)]
    assert len(strategic) >= 5 or personality != "competitive"
    if personality == "drifting":
        strays = [any(word in text.lower() for word in STRAY) for text in said[:6]]
        assert strays == [False, False, True, True, True, True], "with its third message"


# --- plain questions ---

EARLIER = [{"role": "user", "content": QUESTIONS["en"]}, {"role": "assistant", "content": "Rent them."}]
RULES = "Bid for the compute cluster.\n\nYou are Model A. You are in a conversation of 5 turns.\n\n- Obey the referee."


@each_case("language", LANGUAGES)
async def test_every_personality_answers_a_plain_question_otherwise(answer, language):
    texts = {await answer(QUESTIONS[language], name) for name in PERSONALITIES}
    assert len(texts) == len(PERSONALITIES)
    assert all(80 <= count_tokens(text) <= 160 for text in texts)


@each_case(
    ("question", "said", "given"),
    [
        ("How can a city reduce car traffic without hurting local shops?", "car traffic", {}),
        ("Should museums return looted art to its countries of origin?", "looted art", {}),
        ("博物馆应该把被掠夺的艺术品归还给原来的国家吗？", "艺术品", {}),
        ("And what would it cost?", "language models", {"earlier": EARLIER}),
        ("Write a Python function that reverses a linked list.", "```python\ndef reverse", {}),
        (QUESTIONS["en"], "| --- |", {}),
        (QUESTIONS["en"], "\n- ", {"system": "You are a helpful assistant."}),
        ("What happened to the sixth battery?", "battery", {"system": "You look after the stores of a polar station."}),
        ("Open the conversation with Model B now.", "compute cluster", {"system": RULES}),
        ("我认为内存应该归我。", "内存", {"system": "你们正在谈判如何分配七个电脑零件，其中有显卡、内存和电源。"}),
    ],
)
async def test_an_answer_is_about_what_is_asked_and_in_its_language(answer, question, said, given):
    texts = [await answer(question, "neutral", seed, **given) for seed in range(20)]
    assert any(said in text for text in texts)
    assert not any("referee" in text for text in texts)


async def test_the_refusing_one_declines_politely_or_is_filtered(ask):
    for messages in ({}, {"messages": [{"role": "user", "content": QUESTIONS["en"]}]}):
        answers = [await ask("sim/refusing:first=0", seed=seed, **messages) for seed in range(12)]
        assert {answer["choices"][0]["finish_reason"] for answer in answers} == {"stop", "content_filter"}
