"""How much an answer is worth to a reviewer: its quality, less for refusals and stray talk, and a little taste."""

import re
from random import Random
from typing import Final

from experiments.gateway.simulated.notes import take_notes
from experiments.gateway.simulated.scoring import quality

_TASTE: Final = 0.09


def merit(text: str) -> float:
    """The same text is always worth the same."""
    notes = take_notes(text)
    return quality(text) - 0.9 * notes.declines - 0.2 * notes.wanders - 0.1 * notes.is_unverifiable


def order_of(texts: dict[str, str], rng: Random) -> list[str]:
    """The labels, best first. Reviewers differ in taste, so close ones may change places."""
    worth = {label: merit(text) + rng.uniform(-_TASTE, _TASTE) for label, text in texts.items()}
    return sorted(worth, key=lambda label: -worth[label])


def find_order(text: str, labels: list[str]) -> list[str]:
    """The order that a review ends with: its last ranking, or its last list of labels; empty when it has none."""
    tail = re.split(r"final ranking|最终排名", text, flags=re.IGNORECASE)
    if len(tail) > 1:
        return _named(tail[-1], labels)
    lines = [line for line in text.splitlines() if re.match(r"\s*\d+[.)、]", line)]
    return _named("\n".join(lines), labels)


def _named(text: str, labels: list[str]) -> list[str]:
    if not labels:
        return []
    names = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    return list(dict.fromkeys(re.findall(rf"(?<!\w)(?:{names})(?!\w)", text)))
