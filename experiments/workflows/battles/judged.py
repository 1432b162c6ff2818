"""What a judge prompt is given, and what it makes of the judge's reply. Every prompt of `prompts/` speaks in these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from experiments.workflows.base.steps import Stored

Choice = Literal["first", "second", "tie"]
Scores = Mapping[str, Mapping[str, float]]  # "first" and "second" to the criteria's names to numbers
Parts = tuple[str | Stored, ...]
Range = tuple[float, float]  # the least and the greatest number of a scale


@dataclass(frozen=True, slots=True)
class Shown:
    """Whose outputs a judge is shown, by their keys: `first` as Response A, `second` as Response B.

    token: what the fences around material are made with; it is taken out of material that contains it.
    """

    sample: int
    first: int
    second: int
    token: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reply says. winner: None when nothing certain could be read, and `unread_reason` says why.

    scores: those that were given within their range; None when none was. absent: why the others were not taken, a
    sentence each. confidence: 0 to 1; None when it was not given.
    """

    winner: Choice | None
    scores: Scores | None = None
    confidence: float | None = None
    rationale: str = ""
    unread_reason: str = ""
    absent: tuple[str, ...] = ()


class JudgePrompt(Protocol):
    """A plug-in: a module of `prompts/` with these names. MODALITIES: which kinds of output it judges.

    ALLOWS_TIE: whether a tie may be said; one that is said all the same cannot be read. SCHEMA: the JSON schema of the
    reply. parts: the whole message. read: never raises.
    """

    NAME: str
    TITLE: str
    MODALITIES: tuple[str, ...]
    ALLOWS_TIE: bool
    SCHEMA: dict[str, object]
    parts: Callable[[Shown], Parts]
    read: Callable[[str], Judged]
