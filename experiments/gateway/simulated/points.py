"""The points of a debate as later speakers see them: `A1.p2` is speaker A's second perspective of round 1."""

import re
from dataclasses import dataclass
from typing import Final

from experiments.gateway.simulated.notes import shortened
from experiments.gateway.simulated.prompt import Prompt

_POINT: Final = re.compile(r"^[\W_]*([A-Z]\d+\.[a-z]+_?\d+)\b[\])*:：.\s–—-]*(.*)$", re.MULTILINE)
_REFERENCE: Final = re.compile(r"\b[A-Z]\d+\.[a-z]+_?\d+\b")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")
_WORDS, _CHARACTERS = 10, 24


@dataclass(frozen=True, slots=True)
class Point:
    reference: str
    text: str

    @property
    def speaker(self) -> str:
        return self.reference[0]

    @property
    def is_counterpoint(self) -> bool:
        return ".c" in self.reference

    def quote(self, words: int = _WORDS) -> str:
        """The beginning of what it says, without the words by which it quotes another point."""
        sentences = [part for part in _SENTENCE_END.split(self.text) if part]
        own = next((part for part in sentences if not _REFERENCE.search(part) and "“" not in part), self.text)
        return shortened(own, words, words * _CHARACTERS // _WORDS)


def has_points(prompt: Prompt) -> bool:
    return any(name.startswith("points") for name in prompt.fences)


def read_points(prompt: Prompt) -> list[Point]:
    """All of them, in the order of the prompt. A reference within a sentence begins no point."""
    texts = [text for name, text in prompt.fences.items() if name.startswith("points")]
    found = [Point(match[1], match[2].strip()) for text in texts for match in _POINT.finditer(text)]
    named = {reference: Point(reference, text) for text in texts for reference in _REFERENCE.findall(text)}
    return list({point.reference: point for point in found if point.text}.values()) or list(named.values())
