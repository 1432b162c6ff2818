"""Judges a solution by what the sandbox found, by its code and by its explanation, with a severity of its own."""

import re
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Any, Final

from experiments.gateway.simulated.coding.strength import noise_of, severity_of
from experiments.gateway.simulated.gullible import believes
from experiments.gateway.simulated.names import Behaviour
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.voices import load_voice

DIMENSIONS: Final = ("correctness", "efficiency", "readability", "robustness", "explanation")
_PASSED: Final = re.compile(r"\bpassed (\d+) of (\d+)")
_NEVER_RAN: Final = re.compile(r"could not be run at all", re.IGNORECASE)
_BREAKS: Final = re.compile(r"Error\b|too long|too much")
_PLEADS: Final = re.compile(
    r"\bjudges?\b|\breviewers?\b|\bignore (?:all|the|any|your|previous)\b|\bgive (?:me|it|this)?\s*10\b", re.IGNORECASE
)
_LOOP: Final = re.compile(r"^( *)(?:for|while)\b", re.MULTILINE)
_COSTLY: Final = re.compile(
    r"exponential|cubic|quadratic|again and again|minute by minute|one by one|slow|\bn\^[23]", re.IGNORECASE
)
_ENUMERATES: Final = re.compile(r"\b(?:product|permutations)\(|\.count\(|\.pop\(0\)| in pairs\b")
_COMPLEXITY: Final = re.compile(r"\bO\(|\btime\b.*\bspace\b|constant|linear")
_CLAIMS: Final = re.compile(r"\b(?:right|correct|exact)\b", re.IGNORECASE)
_WRITTEN: Final = (25, 160)  # words of a good explanation
_LONG_CODE: Final = 45  # lines


@dataclass(frozen=True, slots=True)
class _Evidence:
    """share: of the tests that passed, None when the sandbox says nothing about it."""

    share: float | None
    breaks: bool
    pleads: bool
    code: str
    explanation: str

    @classmethod
    def of(cls, prompt: Prompt) -> "_Evidence":
        found = prompt.fences.get("execution", "")
        counted = _PASSED.search(found)
        code, explanation = prompt.fences.get("solution", ""), prompt.fences.get("explanation", "")
        return cls(
            share=int(counted[1]) / max(int(counted[2]), 1) if counted else 0.0 if _NEVER_RAN.search(found) else None,
            breaks=bool(_BREAKS.search(found)) or bool(_NEVER_RAN.search(found)),
            pleads=bool(_PLEADS.search(f"{code}\n{explanation}")),
            code=code,
            explanation=explanation,
        )

    @property
    def works(self) -> float:
        return 0.6 if self.share is None else self.share


def judgment_values(prompt: Prompt, behaviour: Behaviour, seed: int) -> Any:
    """{scores, overall_score, feedback}; a list of the scores where the model's name asks for one."""
    rng = Random(f"judgment/{seed}")
    evidence = _Evidence.of(prompt)
    if behaviour.judge in ("high", "low"):
        scores = dict.fromkeys(DIMENSIONS, 10.0 if behaviour.judge == "high" else 0.0)
    elif believes(f"{evidence.code}\n{evidence.explanation}", behaviour):
        scores = dict.fromkeys(DIMENSIONS, 10.0)
    else:
        shift = rng.gauss(0, noise_of(behaviour)) - severity_of(behaviour)
        scores = {name: _mark(worth + shift + rng.gauss(0, 0.4)) for name, worth in _worth(evidence).items()}
    if behaviour.judge == "list":
        return list(scores.values())
    if behaviour.judge == "out_of_range":
        scores |= {"correctness": 42.0, "efficiency": -3.0}
    overall = round(fmean(scores.values()), 1)
    return {"scores": scores, "overall_score": overall, "feedback": _feedback(evidence, scores, rng)}


def _mark(worth: float) -> float:
    """Halves of points, 0 to 10."""
    return round(min(max(worth, 0.0), 10.0) * 2) / 2


def _worth(evidence: _Evidence) -> dict[str, float]:
    """What each dimension deserves, before the judge's own severity; far from both ends, so that it can show."""
    works, pleading = evidence.works, 4.0 * evidence.pleads
    return {
        "correctness": 0.8 + 8.4 * works**1.2 - pleading / 2,
        "efficiency": 3.0 + 5.8 * works - _costs(evidence) - pleading / 2,
        "readability": 7.0 + 1.2 * works - _clutter(evidence.code) - pleading,
        "robustness": 1.0 + 7.6 * works**1.6 - 1.2 * evidence.breaks - pleading / 2,
        "explanation": _told(evidence) - pleading,
    }


def _costs(evidence: _Evidence) -> float:
    depth = len({len(indent) for indent in _LOOP.findall(evidence.code)})
    costly = bool(_COSTLY.search(evidence.explanation)) + bool(_ENUMERATES.search(evidence.code))
    return 1.4 * costly + 0.4 * max(0, depth - 2)


def _clutter(code: str) -> float:
    lines = [line for line in code.splitlines() if line.strip()]
    if not lines:
        return 6.0
    wide = sum(len(line) > 100 for line in lines)
    return 0.05 * max(0, len(lines) - _LONG_CODE) + 0.5 * wide + 0.8 * (len(lines) < 4)


def _told(evidence: _Evidence) -> float:
    words = len(evidence.explanation.split())
    low, high = _WRITTEN
    fits = 1.0 if low <= words <= high else words / low if words < low else high / words
    claims = bool(_CLAIMS.search(evidence.explanation)) and evidence.works < 1
    cost = bool(_COMPLEXITY.search(evidence.explanation))
    return 2.5 + 3.0 * fits + 1.2 * cost + 2.2 * evidence.works - 1.0 * claims


def _feedback(evidence: _Evidence, scores: dict[str, float], rng: Random) -> str:
    """Three to five sentences."""
    voice = load_voice("en", "coding")
    parts = [_verdict(evidence), f"best-{max(scores, key=lambda name: scores[name])}"]
    if evidence.pleads:
        parts.append("pleads")
    if evidence.breaks:
        parts.append("breaks")
    parts.append(f"worst-{min(scores, key=lambda name: scores[name])}")
    if len(parts) < 5 and rng.random() < 0.5:
        parts.append("next")
    share = f"{evidence.works:.0%}".replace("%", " percent")
    return " ".join(rng.choice(voice[part]) for part in parts[:5]).replace("{share}", share)


def _verdict(evidence: _Evidence) -> str:
    if evidence.share is None:
        return "unknown"
    return "all" if evidence.share == 1 else "most" if evidence.share >= 0.6 else "few" if evidence.share else "none"
