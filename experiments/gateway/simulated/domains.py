"""What is known of the domain that a question belongs to: criteria, risks, figures, steps, facts and efforts."""

import re
from functools import cache
from typing import Final

from experiments.gateway.simulated.voices import Voice, load_voice, voice_files

GENERAL: Final = "general"
PARTS: Final = ("criterion", "risk", "measure", "step", "fact", "burden")
_LONG: Final = 4  # Chinese characters


def find_domain(text: str, *, chinese: bool) -> str:
    """The one with most of its words in the text; several at once are decided by the alphabet, none is general."""
    language = "zh" if chinese else "en"
    hits = {path.stem: _hits(language, path.stem, text.lower()) for path in voice_files(f"{language}/domains")}
    best = max(hits, key=lambda name: hits[name])
    return best if hits[best] else GENERAL


def load_domain(name: str, *, chinese: bool) -> Voice:
    return load_voice("zh" if chinese else "en", f"domains/{name}")


def _hits(language: str, name: str, text: str) -> int:
    if language == "zh":
        return sum(text.count(word.lower()) * (1 + (len(word) >= _LONG)) for word in _words(language, name))
    return sum(1 + (" " in hit or "-" in hit) for pattern in _pattern(name) for hit in pattern.findall(text))


@cache
def _pattern(name: str) -> tuple[re.Pattern[str], ...]:
    words = sorted(_words("en", name), key=len, reverse=True)
    parts = "|".join(re.escape(word).replace(r"\-", "[ -]") for word in words)
    return (re.compile(rf"\b(?:{parts})\b"),) if parts else ()


@cache
def _words(language: str, name: str) -> tuple[str, ...]:
    return tuple(word for line in load_voice(language, f"domains/{name}")["word"] for word in line.split())
