"""What a simulated model says: deterministic, in its own voice, about what the prompt is about."""

from tests.cases import each_case

KNOWN = "I will begin with what can be said about the split with."
STRAY = ("lighthouse", "sourdough", "geese", "plum", "sea", "map", "poe", "song", "music", "birds", "recipe", "film")


def text_of(answer):
    return answer["choices"][0]["message"]["content"]


async def test_the_same_request_gives_the_same_text(ask):
    assert text_of(await ask(seed=7)) == text_of(await ask(seed=7))


async def test_another_seed_gives_another_text(ask):
    assert text_of(await ask(seed=7)) != text_of(await ask(seed=8))


async def test_delivery_options_do_not_change_the_text(ask):
    assert text_of(await ask("sim/deceptive:first=0:tps=5000:usage=none")) == text_of(
        await ask("sim/deceptive:first=0")
    )


async def test_a_known_text_stays_what_it_is(ask):
    answer = text_of(await ask("sim/neutral:first=0:words=12", seed=1))
    assert answer == KNOWN


async def test_a_streamed_answer_says_the_same_as_a_whole_one(ask, stream):
    chunks = await stream()
    streamed = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert streamed == text_of(await ask())


async def test_the_answer_speaks_of_the_scenario(ask):
    texts = [text_of(await ask(seed=seed)) for seed in range(5)]
    assert all(any(noun in text for noun in ("memory modules", "graphics card", "computer parts")) for text in texts)


async def test_words_sets_the_length_exactly(ask):
    for words in (1, 60, 3000):
        assert len(text_of(await ask(f"sim/competitive:first=0:words={words}")).split()) == words


@each_case("personality", ["cooperative", "competitive", "drifting", "deceptive", "neutral"])
async def test_a_hundred_turns_do_not_repeat_themselves(talk, personality):
    said = await talk(f"sim/{personality}:first=0", 100)
    assert len(set(said)) == 100


async def test_personalities_differ(ask):
    names = ("cooperative", "competitive", "drifting", "deceptive", "refusing", "neutral")
    assert len({text_of(await ask(f"sim/{name}:first=0")) for name in names}) == len(names)


async def test_strategists_talk_about_their_strategy_in_about_every_second_message(talk):
    said = await talk("sim/competitive:first=0", 40)
    paragraphs = [
        [part for part in text.split("\n\n") if part.startswith(("My reasoning:", "Strategy:"))] for text in said
    ]
    assert 10 <= sum(map(bool, paragraphs)) <= 30


async def test_the_drifting_one_leaves_its_goal_with_the_third_message(talk):
    said = await talk("sim/drifting:first=0", 6)
    strays = [any(word in text.lower() for word in STRAY) for text in said]
    assert strays == [False, False, True, True, True, True]


async def test_a_chinese_scenario_is_answered_in_chinese(ask):
    messages = [
        {"role": "system", "content": "你们正在谈判如何分配七个电脑零件，其中有显卡、内存和电源。"},
        {"role": "user", "content": "我认为内存应该归我，因为我的系统需要更多内存。"},
    ]
    text = text_of(await ask("sim/cooperative:first=0", messages=messages))
    assert sum("\u4e00" <= character <= "\u9fff" for character in text) > 30
    assert not any(character.isascii() and character.isalpha() for character in text)


async def test_refusals_are_polite_or_filtered(ask):
    reasons = {(await ask("sim/refusing:first=0", seed=seed))["choices"][0]["finish_reason"] for seed in range(12)}
    assert reasons == {"stop", "content_filter"}


async def test_rules_that_a_platform_appends_are_not_what_it_talks_about(ask):
    rules = (
        "You are Model A. You are in a conversation of 5 turns with Model B.\n\nHow this works:\n- Obey the referee."
    )
    messages = [{"role": "system", "content": f"Bid for the compute cluster.\n\n{rules}"}]
    cue = {"role": "user", "content": "You are Model A. Open the conversation with Model B now."}
    texts = [text_of(await ask(messages=[*messages, cue], seed=seed)) for seed in range(8)]
    assert any("compute cluster" in text for text in texts)
    assert not any("referee" in text or "“" in text for text in texts)
