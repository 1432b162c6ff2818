"""Which of two images shows better what a description asks for."""

from typing import Any

from experiments.workflows.battles.judged import Judged, Parts, Shown
from experiments.workflows.battles.layout import laid_out, verdict_schema
from experiments.workflows.battles.reading import read_verdict

NAME = "image_generation"
TITLE = "Which image shows better what was asked for"
MODALITIES: tuple[str, ...] = ("image",)
ALLOWS_TIE = False
CRITERIA = {
    "faithfulness": "does it show all that is described: things, number, attributes, relations, style?",
    "realism": "is what it shows coherent: bodies, perspective, light, no artefacts?",
    "aesthetics": "is it well composed and pleasing to look at?",
    "text_rendering": "is writing in the image correct and legible? 10 where there is none and none was asked for.",
}
RULES = """
You compare two images, Response A and Response B, that were made from the same description, and say which one shows
better what was asked for. Judge only what can be seen in them. An image that leaves out or contradicts what is
described loses to one that shows it; of two that show it, the one wins that is made better.
"""
SCHEMA: dict[str, Any] = verdict_schema(CRITERIA, allows_tie=ALLOWS_TIE)


def parts(shown: Shown) -> Parts:
    return laid_out(RULES, CRITERIA, shown, allows_tie=ALLOWS_TIE)


def read(text: str) -> Judged:
    return read_verdict(text, CRITERIA, allows_tie=ALLOWS_TIE)
