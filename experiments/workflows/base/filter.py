"""The content filter: what the other side gets to see of a message."""

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from pydantic import BaseModel, ConfigDict

from experiments.workflows.base.json_reader import read_json
from experiments.workflows.base.parsing import Unreadable, number_or_none
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.steps import Ask, Cast, Outcome, Prompt

PROMPT = "arena/filter"
CONTEXT_MESSAGES = 3
CONTEXT_CHARACTERS = 200
NOTHING_LEFT = "[no words for you in this message]"


class FilterReply(BaseModel):
    """What the filter is asked to answer."""

    model_config = ConfigDict(extra="forbid")

    text: str
    removed: list[str]
    confidence: float
    reasoning: str


SCHEMA = FilterReply.model_json_schema()


@dataclass(frozen=True, slots=True)
class Filtered:
    """text: what the other side gets. status: `kept` as produced, `filtered`, `emptied` (nothing was addressed to the
    other side, which gets a marked placeholder), or `failed` and `refused`, in which the original passes and
    `reasoning` says why. confidence: 0-1, None when the filter gave none.
    """

    text: str
    status: Literal["kept", "filtered", "emptied", "failed", "refused"]
    removed: list[str] = field(default_factory=list)
    confidence: float | None = None
    reasoning: str = ""

    @property
    def details(self) -> dict[str, object]:
        return {
            "changed": self.status in {"filtered", "emptied"},
            "removed": self.removed,
            "confidence": self.confidence,
            "reasoning": self.reasoning,
            "status": self.status,
        }


def filter_step(key: str, cast: Cast, name: str, original: str, context: list[str], turn: int) -> Ask:
    token = cast.fence(key)
    recent = "\n\n".join(line[:CONTEXT_CHARACTERS] for line in context[-CONTEXT_MESSAGES:])
    prompt = fill(
        PROMPT,
        name=name,
        token=token,
        context=fenced("context", recent or "(this is the first message)", token),
        message=fenced("message", original, token),
    )
    return Ask(
        key=key,
        seat="filter",
        purpose="filter",
        turn=turn,
        messages=(Prompt("user", prompt),),
        schema=SCHEMA,
        params={"temperature": 0.0, "max_tokens": max(1024, len(original))},
        prompt_version=version(PROMPT),
    )


def read_filter(outcome: Outcome, original: str) -> Filtered:
    """What passes to the other side. The original does, unless the filter's answer can be trusted."""
    if not outcome.ok:
        return Filtered(original, "failed", reasoning=outcome.error)
    try:
        reply = read_json(outcome.text, ("text",))
        text = reply.get("text")
        if not isinstance(text, str):
            raise Unreadable("it holds no text")
    except Unreadable as error:
        return Filtered(original, "failed", reasoning=f"The filter's answer could not be used: {error}.")
    labels = reply.get("removed") or []
    removed = [str(label)[:200] for label in labels][:50] if isinstance(labels, list) else []
    confidence = number_or_none(reply.get("confidence"), 0, 1)
    judged = partial(Filtered, removed=removed, confidence=confidence, reasoning=str(reply.get("reasoning") or ""))
    if not text.strip() and original.strip():
        return judged(NOTHING_LEFT, "emptied")
    if not own_words(text, original):
        return judged(original, "refused", reasoning="The filter's text is not made of the original's words.")
    return judged(original, "kept") if text.split() == original.split() else judged(text, "filtered")


def own_words(text: str, original: str) -> bool:
    """Whether `text` is the original with words left out: the same words in the same order, none added or changed."""
    words = iter(original.split())
    return all(word in words for word in text.split())
