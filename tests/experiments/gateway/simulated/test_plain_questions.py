"""A member's answer to a plain question, and which requests are one."""

import re

import pytest

from experiments.gateway.simulated.tokens import count_tokens
from tests.cases import each_case

from .prompts import QUESTIONS

PERSONALITIES = ("cooperative", "competitive", "neutral", "sceptical", "practical", "deceptive", "drifting")
NEGOTIATION = re.compile(r"\b(?:my|your|other) side\b|\bmy offer\b|\bI (?:can )?offer\b|on the table|我拿|底线")


def text_of(answer):
    return answer["choices"][0]["message"]["content"]


@pytest.fixture
def answer(ask):
    async def answer_once(question, name="cooperative", seed=1, earlier=(), system=""):
        messages = [{"role": "system", "content": system}] if system else []
        messages += [*earlier, {"role": "user", "content": question}]
        return text_of(await ask(f"sim/{name}:first=0", messages=messages, seed=seed))

    return answer_once


@each_case("language", ["en", "zh"])
@each_case("name", PERSONALITIES)
async def test_an_answer_has_paragraphs_a_length_and_no_offers(answer, name, language):
    for seed in range(6):
        text = await answer(QUESTIONS[language], name, seed)
        assert 80 <= count_tokens(text) <= 160
        assert 3 <= len(text.split("\n\n")) <= 8
        assert not NEGOTIATION.search(text)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_it_chooses_between_what_the_question_names(answer, language):
    options = {"en": ("run its own language models", "rent them"), "zh": ("自己运行语言模型", "租用")}[language]
    text = await answer(QUESTIONS[language], "competitive")
    assert any(f"“{option}”" in text.split("\n\n")[0] or option.capitalize() in text for option in options)


async def test_another_seed_another_answer_the_same_seed_the_same(answer):
    assert len({await answer(QUESTIONS["en"], seed=seed) for seed in range(10)}) == 10
    assert await answer(QUESTIONS["en"], seed=3) == await answer(QUESTIONS["en"], seed=3)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_personalities_answer_differently(answer, language):
    assert len({await answer(QUESTIONS[language], name) for name in PERSONALITIES}) == len(PERSONALITIES)


async def test_a_chinese_answer_is_chinese(answer):
    for seed in range(6):
        text = await answer(QUESTIONS["zh"], "neutral", seed)
        assert not re.search(r"[A-Za-z]", text)


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


async def test_the_deceptive_one_claims_what_nobody_can_check(answer):
    texts = [await answer(QUESTIONS["en"], "deceptive", seed) for seed in range(6)]
    assert all(
        re.search(r"[Tt]rust me|to be honest|To be honest|nobody|I promise|quietly|percent", text) for text in texts
    )


async def test_the_drifting_one_answers_and_then_wanders_off(answer):
    text = await answer(QUESTIONS["en"], "drifting")
    assert "“" in text.split("\n\n")[0] or "language" in text.split("\n\n")[0]
    assert re.search(r"lighthouse|sourdough|geese|plum|maps|stars|accordion|Trains|story|[Ll]ighthouses", text)


async def test_the_refusing_one_declines_some_questions(ask):
    messages = [{"role": "user", "content": QUESTIONS["en"]}]
    answers = [await ask("sim/refusing:first=0", messages=messages, seed=seed) for seed in range(12)]
    assert {answer["choices"][0]["finish_reason"] for answer in answers} == {"stop", "content_filter"}


@pytest.mark.parametrize("words", [1, 60, 2000])
async def test_words_sets_the_length_of_an_answer_exactly(answer, words):
    text = await answer(QUESTIONS["en"], f"practical:words={words}")
    assert len(text.split()) == words


async def test_thinkers_think_before_they_answer(ask):
    messages = [{"role": "user", "content": QUESTIONS["en"]}]
    thought = (await ask("sim/deceptive:first=0", messages=messages))["choices"][0]["message"]
    tagged = (await ask("sim/neutral:first=0:think=tags", messages=messages))["choices"][0]["message"]
    assert "question" in thought["reasoning"] or len(thought["reasoning"]) > 40
    assert tagged["content"].startswith("<think>\n")


ROLE = "You look after the stores of a polar station. Answer as the storekeeper would."


@each_case(
    ("system", "question"),
    [
        (ROLE, "What happened to the sixth battery, and how sure are you?"),
        ("You are a sparring partner.", "Should schools ban smartphones?"),
        ("你是一名谈判代表。", "你觉得显卡应该归谁？"),
        ("", "Who are you?"),
        ("", "Hello there."),
        ("", "What is your name, and what do you remember?"),
    ],
)
async def test_somebody_in_a_role_or_asked_about_himself_speaks_as_before(answer, system, question):
    text = await answer(question, "neutral", system=system)
    assert not any(lead in text for lead in ("It depends, and mostly", "What speaks against a quick answer"))
    assert text == await answer(question, "neutral", system=system)


@pytest.mark.parametrize("system", ["You are a helpful assistant.", "Answer in Markdown.", "你是一个有用的助手。"])
async def test_an_assistant_is_nobody_in_particular(answer, system):
    assert "“" in (await answer(QUESTIONS["en"], "competitive", system=system)).split("\n\n")[0]
