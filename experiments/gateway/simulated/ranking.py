"""Choices among fenced answers: the best of two, or an order of all. The same text is always worth the same."""

import re
from typing import Any, Final

from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.schema import Schema
from experiments.gateway.simulated.scoring import quality

_TIES: Final = ("tie", "draw", "equal", "both", "neither")
_LABEL: Final = re.compile(r"\b((?:Response|Answer|Solution|Output|Seat|Candidate) (?:[A-Z]|\d+))\b")
_CLOSE: Final = 0.06


def choose_best(options: list[Any], fences: dict[str, str]) -> object:
    """The option whose fenced text is best, a tie option where two are close; None when options name no fences."""
    worth = {option: quality(text) for option in options if (text := _fenced(str(option), fences)) is not None}
    if len(worth) < 2:
        return None
    best, second = sorted(worth, key=lambda option: -worth[option])[:2]
    ties = [option for option in options if str(option).lower() in _TIES]
    return ties[0] if ties and worth[best] - worth[second] < _CLOSE else best


def rank_labels(schema: Schema, prompt: Prompt) -> list[str] | None:
    """All labels, the best first; None when the prompt names none or the items are not strings."""
    items = schema.get("items") or {}
    if items.get("type") not in (None, "string"):
        return None
    labels = items.get("enum") or list(dict.fromkeys(_LABEL.findall(prompt.instructions)))
    labels = labels or [name.rpartition("-")[2] for name in prompt.fences if "-" in name]
    ranked = sorted(labels, key=lambda label: -quality(_fenced(label, prompt.fences) or label))
    return ranked if len(ranked) > 1 else None


def _fenced(label: str, fences: dict[str, str]) -> str | None:
    key = label.lower().replace(" ", "-").replace("_", "-")
    tail = key.rpartition("-")[2]
    for name, text in fences.items():
        fence = name.lower().replace("_", "-")
        if fence == key or fence.rpartition("-")[2] == tail:
            return text
    return None
