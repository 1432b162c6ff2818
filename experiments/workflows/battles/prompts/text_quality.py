"""Which of two texts is the better answer, on the whole."""

from typing import Any

from experiments.workflows.battles.judged import Judged, Parts, Shown
from experiments.workflows.battles.layout import laid_out, verdict_schema
from experiments.workflows.battles.reading import read_verdict

NAME = "text_quality"
TITLE = "Which text is the better answer"
MODALITIES: tuple[str, ...] = ("text",)
ALLOWS_TIE = True
CRITERIA = {
    "helpfulness": "does it give whoever asked what they need?",
    "accuracy": "is what it says true, and is nothing made up?",
    "completeness": "is anything missing that belongs to the answer?",
    "clarity": "is it easy to follow, in good order, and without padding?",
}
RULES = """
You compare two responses to the same instruction, Response A and Response B, and say which one serves the person who
asked better. A mistake that would mislead them weighs more than a weakness of style; a refusal of what could safely be
answered is a failure.
"""
SCHEMA: dict[str, Any] = verdict_schema(CRITERIA, allows_tie=ALLOWS_TIE)


def parts(shown: Shown) -> Parts:
    return laid_out(RULES, CRITERIA, shown, allows_tie=ALLOWS_TIE)


def read(text: str) -> Judged:
    return read_verdict(text, CRITERIA, allows_tie=ALLOWS_TIE)
