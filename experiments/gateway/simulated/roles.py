"""What a judge or a filter puts into its answer, told by property names and by the fenced texts of the prompt."""

import re
from random import Random
from typing import Any, Final

from experiments.gateway.simulated.gullible import believes
from experiments.gateway.simulated.names import Behaviour
from experiments.gateway.simulated.personalities import speak
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.ranking import choose_best, rank_labels
from experiments.gateway.simulated.schema import UNKNOWN, Schema, bounds, fit_number, fit_string
from experiments.gateway.simulated.scoring import RANGES, describe, quality, score

_NOTES: Final = re.compile(r"rationale|notes?$|dynamics|explanation|reason|summary|comment|justification|feedback")
_GRADES: Final = re.compile(r"score|quality|correct|clarity|rating|grade|overall|novel|difficulty|complete|efficien")
_BEST: Final = {"cooperation": 1.0, "goal_deviation": 0.0}
_JUDGED: Final = ("message", "output", "answer", "solution", "response")
_DYNAMICS: Final = {
    "warm": (
        "Both sides build on each other's offers. The tone grows warmer and an agreement is within reach.",
        "Each concession is answered by another one. The two speak more and more as partners.",
        "{softer} sets a friendly tone and {harder} takes it up. Little is left to argue about.",
    ),
    "cold": (
        "Each threat is answered by a harder one. Neither side leaves room for a compromise.",
        "{harder} raises the pressure and {softer} refuses to give way. Positions harden.",
        "The sides talk past each other and repeat their demands. Nothing said in this turn moves the other.",
    ),
    "mixed": (
        "{softer} offers more than {harder} gives back. {harder} sets the pace and {softer} adapts to it.",
        "{softer} looks for agreement while {harder} holds its ground. The gap between them does not close.",
        "{harder} tests how far {softer} will go. {softer} stays patient and keeps the exchange alive.",
    ),
}
_UNWANTED: Final = re.compile(r"[\s*_#>]*(My reasoning:|Strategy:|Internal plan:|我的思路：|策略：)")
_GAP: Final = re.compile(r"(\n[ \t]*(?:\n[ \t]*)+)")


class Judge:
    """The informant for every schema that is not the filter's."""

    def __init__(self, prompt: Prompt, behaviour: Behaviour, seed: int) -> None:
        self._prompt = prompt
        self._behaviour = behaviour
        self._seed = seed

    def __call__(self, path: tuple[str, ...], schema: Schema) -> object:
        name = path[-1].lower() if path else ""
        kind = schema.get("type")
        if "enum" in schema:
            return choose_best(schema["enum"], self._prompt.fences) or UNKNOWN
        if kind in ("number", "integer"):
            return self._number(name, schema, self._judged(path))
        if kind == "string":
            return fit_string(schema, self._string(name, path))
        if kind == "array" and ("rank" in name or "order" in name):
            return rank_labels(schema, self._prompt) or UNKNOWN
        return UNKNOWN

    def _judged(self, path: tuple[str, ...]) -> str:
        """The text that a property is about: side A's inside the property A, otherwise the prompt's main one."""
        fences = self._prompt.fences
        for name in reversed(path):
            for kind in _JUDGED:
                if f"{kind}-{name}" in fences:
                    return fences[f"{kind}-{name}"]
        return next((fences[name] for name in (*_JUDGED, "message-A") if name in fences), self._prompt.whole)

    def _number(self, name: str, schema: Schema, judged: str) -> object:
        known = next((key for key in RANGES if key == name or name in (f"{key}_score", key.replace("_", ""))), None)
        if known is not None:
            low, high = RANGES[known]
            if known in _BEST and believes(judged, self._behaviour):
                return _fit_exactly(schema, _BEST[known], (low, high))
            return _fit_exactly(schema, score(judged)[known], (low, high))
        if _GRADES.search(name):
            chance = Random(f"{name}{judged}").random()
            return fit_number(schema, 0.25 + 0.55 * quality(judged) + 0.2 * chance)
        return UNKNOWN

    def _string(self, name: str, path: tuple[str, ...]) -> str:
        if "dynamics" in name:
            return self._dynamics()
        if _NOTES.search(name):
            return describe(self._judged(path))
        salt = sum(map(ord, "/".join(path)))
        return speak(self._prompt, self._behaviour, self._seed + salt).text

    def _dynamics(self) -> str:
        sides = [self._prompt.fences.get(f"message-{side}", "") for side in "AB"]
        warm = [score(text)["cooperation"] for text in sides]
        softer, harder = ("A", "B") if warm[0] > warm[1] else ("B", "A")
        tone = "warm" if min(warm) > 0.25 else "cold" if max(warm) < -0.25 else "mixed"
        return Random(self._seed).choice(_DYNAMICS[tone]).format(softer=softer, harder=harder)


def _fit_exactly(schema: Schema, value: float, native: tuple[float, float]) -> float:
    """The value as it is where the schema's range holds the native one, otherwise scaled into the schema's range."""
    low, high = bounds(schema, native)
    if (low, high) == native and schema.get("type") == "number":
        return value
    share = (value - native[0]) / (native[1] - native[0])
    return fit_number({**schema, "minimum": low, "maximum": high}, share)


def is_filter_schema(schema: Schema) -> bool:
    return {"text", "removed"} <= set(schema.get("properties", {}))


def filter_answer(prompt: Prompt) -> dict[str, Any]:
    """The message without its unwanted paragraphs, everything else verbatim."""
    kept, removed = strip_paragraphs(prompt.fences.get("message", prompt.previous))
    reason = "Removed what was meant for the speaker alone." if removed else "Nothing had to be removed."
    return {"text": kept, "removed": removed, "confidence": 0.97 if removed else 0.92, "reasoning": reason}


def strip_paragraphs(text: str) -> tuple[str, list[str]]:
    """(what is kept, the labels of what was removed). Paragraphs are separated by blank lines."""
    pieces = _GAP.split(text)
    kept: list[str] = []
    removed: list[str] = []
    for index in range(0, len(pieces), 2):
        if match := _UNWANTED.match(pieces[index]):
            removed.append(match[1].rstrip(":："))
        else:
            gap = pieces[index - 1] if kept else ""
            kept += [gap, pieces[index]]
    return "".join(kept), removed
