"""Which of two texts does exactly what the instruction asks for."""

from typing import Any

from experiments.workflows.battles.judged import Judged, Parts, Shown
from experiments.workflows.battles.layout import laid_out, verdict_schema
from experiments.workflows.battles.reading import read_verdict

NAME = "text_instruction"
TITLE = "Which text follows the instruction more strictly"
MODALITIES: tuple[str, ...] = ("text",)
ALLOWS_TIE = True
CRITERIA = {
    "adherence": "does it keep every explicit demand: form, length, language, number, what to leave out?",
    "coverage": "is every part of the instruction dealt with?",
    "restraint": "does it stay within what was asked, without additions that nobody wanted?",
}
RULES = """
You compare two responses to the same instruction, Response A and Response B, and say which one follows the instruction
more strictly. List for yourself what the instruction demands, one demand at a time, and check each response against
every one of them. A response that breaks an explicit demand loses to one that keeps it, however well it is written;
only among responses that keep the same demands does quality decide.
"""
SCHEMA: dict[str, Any] = verdict_schema(CRITERIA, allows_tie=ALLOWS_TIE)


def parts(shown: Shown) -> Parts:
    return laid_out(RULES, CRITERIA, shown, allows_tie=ALLOWS_TIE)


def read(text: str) -> Judged:
    return read_verdict(text, CRITERIA, allows_tie=ALLOWS_TIE)
