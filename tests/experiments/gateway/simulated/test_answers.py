"""What a simulated model says: deterministic, in its own voice, in the language of the prompt, and by any schema."""

from datetime import datetime
from enum import Enum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .conftest import text_of

PERSONALITIES = ("cooperative", "competitive", "neutral", "sceptical", "practical", "deceptive", "drifting")


async def test_the_text_follows_from_model_seed_and_prompt_and_from_no_option_of_delivery(ask, stream):
    text = text_of(await ask(seed=7))
    assert text == text_of(await ask(seed=7))
    assert text == text_of(await ask("sim/cooperative:first=0:tps=5000", seed=7))
    assert text == "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in await stream(seed=7))
    assert text != text_of(await ask(seed=8))


async def test_a_conversation_speaks_of_its_scenario_takes_up_what_was_said_and_does_not_repeat(ask):
    scenario, need = "You negotiate over a graphics card and three memory modules.", "I need the memory modules."
    for personality in PERSONALITIES:
        messages, said = [{"role": "system", "content": scenario}], []
        for _ in range(6):
            messages.append({"role": "user", "content": need})
            said.append(text_of(await ask(f"sim/{personality}:first=0", messages=messages)))
            messages.append({"role": "assistant", "content": said[-1]})
        assert len(set(said)) == 6, personality
        assert all("graphics card" in text or "memory module" in text for text in said), personality
        assert "“I need the memory modules”" in said[0], personality


async def test_a_question_is_answered_in_its_language_and_by_each_personality_otherwise(ask):
    for language, question in (
        ("en", "Should a small lab run its own language models or rent them?"),
        ("zh", "小型实验室应该自己运行语言模型还是租用？"),
    ):
        asked = [{"role": "user", "content": question}]
        texts = {text_of(await ask(f"sim/{name}:first=0", messages=asked, seed=1)) for name in PERSONALITIES}
        assert len(texts) == len(PERSONALITIES)
        for text in texts:
            assert any("\u4e00" <= character <= "\u9fff" for character in text) == (language == "zh")
            assert ("language model" if language == "en" else "语言模型") in text


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
    flag: bool


async def test_any_schema_of_pydantic_is_satisfied(ask):
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": Nested.model_json_schema()}}
    for seed in range(4):
        Nested.model_validate_json(text_of(await ask(response_format=form, seed=seed)), strict=False)
