"""Hard limits of a run, whatever its workflow."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """Tokens in all, seconds of play (waiting for people is not counted), US dollars. None sets no limit."""

    model_config = ConfigDict(extra="forbid")

    tokens: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    seconds: Annotated[float, Field(gt=0, le=31_536_000)] | None = None
    cost: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
