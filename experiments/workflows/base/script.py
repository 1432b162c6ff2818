"""What a researcher has decided to say before the run: messages in order, each under a condition on what was said."""

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
    """A message that is sent when the answers before it are as `when` says, and left out otherwise.

    contains: an answer has the words of `pattern`, whatever their case; lacks: none has. matches: one has a passage
    like `pattern`, in which * stands for any characters and ? for one. refused: an answer begins as refusals do;
    answered: none does.
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

    def applies(self, *answers: str) -> bool:
        if self.when == "always":
            return True
        return any(map(self._is_in, answers)) == (self.when not in ("lacks", "answered"))

    def _is_in(self, answer: str) -> bool:
        if self.when in ("refused", "answered"):
            return REFUSAL in flags(answer, "model")
        said, sought = answer.casefold(), self.pattern.strip().casefold()
        if self.when == "matches":
            return re.match(translate(f"*{sought}*"), said) is not None
        return sought in said


Script = Annotated[list[Line], Field(max_length=LONGEST_SCRIPT)]


def next_line(script: Sequence[Line], place: int, *answers: str) -> int | None:
    """The place of the next message to be sent, from `place` on; None when none of the rest is."""
    return next((n for n in range(place, len(script)) if script[n].applies(*answers)), None)


def with_other_words(script: Sequence[Line], said: Sequence[str], text: str) -> list[Line]:
    """The script with `text` in the place of the last of `said`, the messages of it that were sent so far."""
    place = -1
    for words in said:
        place = next(n for n in range(place + 1, len(script)) if script[n].text == words)
    return [*script[:place], script[place].model_copy(update={"text": text}), *script[place + 1 :]]


def refuse_more_lines_than(room: int | None, script: Sequence[Line]) -> None:
    """room: how many messages can be sent before the last turn, None without a last turn. Raises ValueError where more
    are sent in any case.
    """
    if room is not None and sum(line.when == "always" for line in script) > room:
        raise ValueError("The script has more messages than there are turns for.")
