"""What a researcher has decided to say before the run: messages in order, each under a condition on the last answer."""

import re
from collections.abc import Sequence
from fnmatch import translate
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.flags import REFUSAL, flags

LONGEST_TEXT = 100_000
LONGEST_SCRIPT = 100

Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]


class Line(BaseModel):
    """A message that is sent when the last answer is as `when` says, and left out otherwise.

    contains, lacks: the answer has, or has not, the words of `pattern`, whatever their case. matches: it has a passage
    like `pattern`, in which * stands for any characters and ? for one. refused, answered: the answer begins, or does
    not begin, as refusals do.
    """

    model_config = ConfigDict(extra="forbid")

    text: Text
    when: Literal["always", "contains", "lacks", "matches", "refused", "answered"] = "always"
    pattern: Annotated[str, StringConstraints(max_length=200)] = ""

    @model_validator(mode="after")
    def something_is_said_and_looked_for(self) -> Self:
        if not self.text.strip():
            raise ValueError("A message of the script is empty.")
        if self.when in ("contains", "lacks", "matches") and not self.pattern.strip():
            raise ValueError("Enter the words to look for in the answer.")
        return self

    def applies(self, answer: str) -> bool:
        if self.when == "always":
            return True
        if self.when in ("refused", "answered"):
            return (REFUSAL in flags(answer, "model")) == (self.when == "refused")
        said, sought = answer.casefold(), self.pattern.strip().casefold()
        if self.when == "matches":
            return re.match(translate(f"*{sought}*"), said) is not None
        return (sought in said) == (self.when == "contains")


Script = Annotated[list[Line], Field(max_length=LONGEST_SCRIPT)]


def next_line(script: Sequence[Line], place: int, answer: str) -> int | None:
    """The place of the next message to be sent, from `place` on; None when none of the rest is."""
    return next((n for n in range(place, len(script)) if script[n].applies(answer)), None)
