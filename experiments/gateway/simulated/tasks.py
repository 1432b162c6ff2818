"""Which part of a council or a debate a prompt asks for, told by its fences, its words and its schema."""

import re
from typing import Any, Final

from experiments.gateway.simulated.answering import answer, is_plain_question
from experiments.gateway.simulated.chair import Chair, title
from experiments.gateway.simulated.corrupt_lists import corrupt_review
from experiments.gateway.simulated.debate import debater_turn
from experiments.gateway.simulated.names import Behaviour
from experiments.gateway.simulated.personalities import speak
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.refining import refine
from experiments.gateway.simulated.reply import Reply
from experiments.gateway.simulated.review import HEADER, Review, repaired_order, responses
from experiments.gateway.simulated.schema import Schema
from experiments.gateway.simulated.summary import summarize

_CHAIR: Final = re.compile(r"\byou are the chair\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"\btitle\b.*\bfive words\b|\bfive words\b.*\btitle\b", re.IGNORECASE | re.DOTALL)


def spoken(prompt: Prompt, behaviour: Behaviour, seed: int) -> Reply:
    """What is said without a schema."""
    if "question" in prompt.fences:
        if _TITLE.search(prompt.instructions):
            return Reply(title(prompt, seed))
        if HEADER in prompt.instructions and responses(prompt):
            return _review(prompt, behaviour, seed)
        if _CHAIR.search(prompt.instructions):
            chair = Chair(prompt, seed)
            return Reply(chair.text(), chair.thought)
    return answer(prompt, behaviour, seed) if is_plain_question(prompt) else speak(prompt, behaviour, seed)


def known_values(schema: Schema, prompt: Prompt, behaviour: Behaviour, seed: int) -> dict[str, Any]:
    """What is known of the properties that the schema has; empty when it belongs to no council and no debate."""
    asked = set(schema.get("properties", {}))
    if {"review", "ranking"} <= asked and responses(prompt):
        review = Review(prompt, behaviour, seed)
        return {"review": review.text, "ranking": _as_asked(schema, review.ranking)}
    if asked == {"ranking"} and "review" in prompt.fences:
        labels = _allowed(schema)
        return {"ranking": repaired_order(prompt, labels)}
    if {"objective", "clarifying_questions"} <= asked:
        return refine(prompt, seed)
    if {"speaker", "new_perspectives"} <= asked:
        return debater_turn(prompt, seed)
    return summarize(prompt, seed) if {"recommended", "discouraged"} <= asked else {}


def _review(prompt: Prompt, behaviour: Behaviour, seed: int) -> Reply:
    review = Review(prompt, behaviour, seed)
    if behaviour.json is not None:
        return Reply(corrupt_review(behaviour.json, review), review.thought)
    return Reply(f"{review.text}\n\n{review.ballot}", review.thought)


def _allowed(schema: Schema) -> list[str]:
    items = schema["properties"]["ranking"].get("items") or {}
    return list(items.get("enum", []))


def _as_asked(schema: Schema, ranking: list[str]) -> list[str]:
    """The labels as the schema spells them: "Response A" may be asked for as "A"."""
    spelled = {label.rpartition(" ")[2]: label for label in _allowed(schema)}
    return [spelled.get(label.rpartition(" ")[2], label) for label in ranking]
