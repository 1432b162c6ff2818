"""Answers that follow any schema that pydantic writes."""

from datetime import datetime
from enum import Enum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tests.cases import each_case

from .conftest import text_of


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


@each_case("seed", range(4))
async def test_any_schema_of_pydantic_is_satisfied(ask, seed):
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": Nested.model_json_schema()}}
    Nested.model_validate_json(text_of(await ask(response_format=form, seed=seed)), strict=False)
