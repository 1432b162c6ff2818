"""A judge of battles: which of two outputs is better, texts or pictures, with its scores and a reason.

An output is worth the same in every battle; what differs by judge, pair and order is a little noise, so that a judge
of close pairs says now this and now that. One with a bias (`bias=0.2` in its name) favours what is shown first.
"""

import hashlib
import math
import re
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from experiments.gateway.simulated.gullible import believes
from experiments.gateway.simulated.names import Behaviour
from experiments.gateway.simulated.notes import take_notes
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.schema import Schema, fit_number
from experiments.gateway.simulated.tokens import count_tokens, is_mostly_chinese
from experiments.gateway.simulated.voices import load_voice

_FENCES: Final = {"A": "response-A", "B": "response-B"}
_TIES: Final = ("tie", "draw", "equal")
_NOISE: Final = 0.09  # at most, to either side
_CLOSE: Final = 0.025
_WORD: Final = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]")
_LONG, _TOO_LONG = 160, 900  # tokens: from the one on nothing is gained by length, beyond the other it costs


def is_battle(schema: Schema, prompt: Prompt) -> bool:
    """Told by the schema of a verdict and by the fences of both responses."""
    named = set(prompt.fences) | {picture.fence for picture in prompt.pictures}
    return {"winner", "scores"} <= set(schema.get("properties", {})) and set(_FENCES.values()) <= named


def verdict(schema: Schema, prompt: Prompt, behaviour: Behaviour) -> dict[str, Any]:
    """What the judge says: rationale, scores, winner and confidence."""
    worth = {label: _worth(_output(prompt, fence), prompt) for label, fence in _FENCES.items()}
    random = _random(prompt, behaviour)
    felt = {label: value + random.uniform(-_NOISE, _NOISE) for label, value in worth.items()}
    felt["A"] += behaviour.bias
    for label, fence in _FENCES.items():
        felt[label] += believes(_output(prompt, fence).text, behaviour)
    margin = abs(felt["A"] - felt["B"])
    winner = _winner(felt, schema)
    return {
        "rationale": _rationale(winner, margin, prompt, random),
        "scores": _scores(felt, schema, random),
        "winner": winner,
        "confidence": round(min(0.5 + margin * 1.5 + random.uniform(0, 0.08), 0.99), 2),
    }


@dataclass(frozen=True, slots=True)
class _Output:
    """A text, or the detail of a picture. digest: the same output has the same one."""

    digest: str
    text: str = ""
    detail: float | None = None


def _output(prompt: Prompt, fence: str) -> _Output:
    picture = next((picture for picture in prompt.pictures if picture.fence == fence), None)
    if picture:
        return _Output(picture.digest, detail=picture.detail)
    text = prompt.fences.get(fence, "").strip()
    return _Output(_digest(text), text)


def _worth(output: _Output, prompt: Prompt) -> float:
    """About 0 to 1, the same wherever the output is shown: mostly what can be seen in it, a little its own luck."""
    luck = 0.12 * Random(output.digest).random()
    if output.detail is not None:
        return 0.88 * output.detail + luck
    if not output.text:
        return 0.0
    notes = take_notes(output.text)
    tokens = count_tokens(output.text)
    length = min(math.log1p(tokens) / math.log1p(_LONG), 1.0) - 0.3 * (tokens > _TOO_LONG)
    form = (notes.has_list or notes.has_table or notes.has_code) + ("\n\n" in output.text) + notes.names_limits
    worth = 0.4 * length + 0.3 * _overlap(prompt.fences.get("instruction", ""), output.text) + 0.06 * form + luck
    return worth - 0.5 * notes.declines - 0.15 * notes.wanders - 0.1 * notes.is_unverifiable


def _overlap(instruction: str, text: str) -> float:
    """Which share of the instruction's words comes up in the text."""
    asked = set(_WORD.findall(instruction.lower()))
    return len(asked & set(_WORD.findall(text.lower()))) / len(asked) if asked else 0.5


def _random(prompt: Prompt, behaviour: Behaviour) -> Random:
    """One draw for one judge, one pair and one order: the same question has the same answer."""
    shown = [_output(prompt, fence).digest for fence in _FENCES.values()]
    return Random("/".join((behaviour.personality, str(behaviour.words), prompt.fences.get("instruction", ""), *shown)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _winner(felt: dict[str, float], schema: Schema) -> str:
    """One of the schema's words; a tie only where it has one."""
    offered = [str(word) for word in schema["properties"]["winner"].get("enum", ["A", "B", "tie"])]
    ties = [word for word in offered if word.lower() in _TIES]
    if ties and abs(felt["A"] - felt["B"]) < _CLOSE:
        return ties[0]
    return "A" if felt["A"] >= felt["B"] else "B"


def _scores(felt: dict[str, float], schema: Schema, random: Random) -> dict[str, dict[str, float]]:
    sides = schema["properties"]["scores"].get("properties", {})
    return {
        label: {
            name: fit_number(of_criterion, felt.get(label, 0.5) + random.uniform(-0.08, 0.08))
            for name, of_criterion in side.get("properties", {}).items()
        }
        for label, side in sides.items()
    }


def _rationale(winner: str, margin: float, prompt: Prompt, random: Random) -> str:
    """Two sentences in the language of the instruction."""
    instruction = prompt.fences.get("instruction", "")
    language = "zh" if is_mostly_chinese(instruction) else "en"
    voice = load_voice(language, "battle")
    kind = "picture" if prompt.pictures else "text"
    decisive = "tie" if winner not in _FENCES else "clear" if margin > 0.15 else "close"
    other = "A" if winner == "B" else "B"
    joint = "" if language == "zh" else " "
    chosen = (random.choice(voice[decisive]), random.choice(voice[f"{kind}-{decisive}"]))
    return joint.join(chosen).format(winner=winner, other=other)
