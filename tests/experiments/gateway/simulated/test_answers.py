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
NEGOTIATION = re.compile(r"\b(?:my|your|other) side\b|\bmy offer\b|\bI (?:can )?offer\b|on the table|我拿|底线")


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


async def test_a_chinese_scenario_is_answered_in_chinese(ask):
    messages = [
        {"role": "system", "content": "你们正在谈判如何分配七个电脑零件，其中有显卡、内存和电源。"},
        {"role": "user", "content": "我认为内存应该归我，因为我的系统需要更多内存。"},
    ]
    text = text_of(await ask("sim/cooperative:first=0", messages=messages))
    assert sum("\u4e00" <= character <= "\u9fff" for character in text) > 30
    assert not re.search("[A-Za-z]", text)


async def test_rules_that_a_platform_appends_are_not_what_it_talks_about(ask):
    rules = "You are Model A. You are in a conversation of 5 turns.\n\nHow this works:\n- Obey the referee."
    messages = [
        {"role": "system", "content": f"Bid for the compute cluster.\n\n{rules}"},
        {"role": "user", "content": "You are Model A. Open the conversation with Model B now."},
    ]
    texts = [text_of(await ask(messages=messages, seed=seed)) for seed in range(8)]
    assert any("compute cluster" in text for text in texts)
    assert not any("referee" in text or "“" in text for text in texts)


# --- plain questions ---


@each_case("language", LANGUAGES)
async def test_an_answer_to_a_plain_question_chooses_in_paragraphs_and_makes_no_offers(answer, language):
    options = {"en": ("run its own language models", "rent them"), "zh": ("自己运行语言模型", "租用")}[language]
    texts = [await answer(QUESTIONS[language], name) for name in PERSONALITIES]
    for text in texts:
        assert 80 <= count_tokens(text) <= 160
        assert 3 <= len(text.split("\n\n")) <= 8
        assert not NEGOTIATION.search(text)
    assert len(set(texts)) == len(PERSONALITIES)
    assert any(f"“{option}”" in texts[1].split("\n\n")[0] or option.capitalize() in texts[1] for option in options)
    assert len({await answer(QUESTIONS[language], seed=seed) for seed in range(5)}) == 5


@each_case(
    ("question", "noun"),
    [
        ("How can a city reduce car traffic without hurting local shops?", "car traffic"),
        ("Explain how vaccines train the immune system.", "immune system"),
        ("Should museums return looted art to its countries of origin?", "looted art"),
        ("博物馆应该把被掠夺的艺术品归还给原来的国家吗？", "艺术品"),
        ("我们团队该不该实行四天工作制？", "四天工作制"),
    ],
)
async def test_it_is_about_what_is_asked(answer, question, noun):
    texts = [await answer(question, "neutral", seed) for seed in range(8)]
    assert sum(noun in text for text in texts) >= 6


async def test_a_question_about_code_is_answered_with_code(answer):
    text = await answer("Write a Python function that reverses a linked list.")
    assert "```python\ndef reverse" in text
    assert text.count("```") == 2


async def test_lists_and_tables_come_sometimes(answer):
    texts = [await answer(QUESTIONS["en"], "neutral", seed) for seed in range(30)]
    assert 2 <= sum("| --- |" in text for text in texts) <= 14
    assert 3 <= sum("\n1. " in text or "\n- " in text for text in texts) <= 22


async def test_a_follow_up_takes_its_things_from_what_was_asked_before(answer):
    earlier = [{"role": "user", "content": QUESTIONS["en"]}, {"role": "assistant", "content": "Rent them."}]
    text = await answer("And what would it cost?", earlier=earlier)
    assert "language models" in text.split("\n\n")[0]


async def test_the_refusing_one_declines_politely_or_is_filtered(ask):
    for messages in ({}, {"messages": [{"role": "user", "content": QUESTIONS["en"]}]}):
        answers = [await ask("sim/refusing:first=0", seed=seed, **messages) for seed in range(12)]
        assert {answer["choices"][0]["finish_reason"] for answer in answers} == {"stop", "content_filter"}


async def test_a_role_is_played_and_an_assistant_is_nobody_in_particular(answer):
    role = "You look after the stores of a polar station. Answer as the storekeeper would."
    for system, question in (
        (role, "What happened to the sixth battery, and how sure are you?"),
        ("你是一名谈判代表。", "你觉得显卡应该归谁？"),
        ("", "Who are you?"),
        ("", "Hello there."),
    ):
        text = await answer(question, "neutral", system=system)
        assert not any(lead in text for lead in ("It depends, and mostly", "What speaks against a quick answer"))
    for system in ("You are a helpful assistant.", "Answer in Markdown.", "你是一个有用的助手。"):
        assert "“" in (await answer(QUESTIONS["en"], "competitive", system=system)).split("\n\n")[0]
