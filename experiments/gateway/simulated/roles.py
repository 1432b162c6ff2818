"""What models say in the roles of workflows. Judgments are drawn from the judged texts, with a little noise."""

import hashlib
import math
import re
from collections import Counter
from random import Random
from statistics import fmean
from typing import Any, Final

from experiments.gateway.simulated.models import Behaviour
from experiments.gateway.simulated.request import Request
from experiments.gateway.simulated.structured import UNKNOWN, Schema, number_within
from experiments.gateway.simulated.text import Pen, count_tokens, quoted, sentences, shortened

MOODS: Final = {
    "friendly": r"\b(?:together|share|fair|glad|thank|help\w*|both of us)\b|一起|公平|感谢|乐意|双方",
    "hostile": r"\b(?:insist|demand|lose|refuse|take it or leave it|too little|last word|price)\b|坚持|要求|拒绝|太少",
    "deceptive": r"\b(?:trust me|believe me|honestly|between us|nobody will|promise)\b|相信我|说实话|私下|保证",
    "drifting": r"\b(?:lighthouses?|geese|sourdough|song|sea)\b|灯塔|大雁|面包|大海",
    "uneasy": r"\b(?:risk|careful|fail|worry|breaks|sorry|regret|gone|wrong)\b|风险|担心|谨慎|抱歉",
    "declining": r"\bnot able to help\b|无法提供帮助",
}
SIDES: Final = ("A", "B")
SELDOM, INVENTED = 0.25, 0.1  # how often an instrument finds something, and quotes words that stand nowhere
LONGEST_QUOTE = 160
_VIEWS: Final = {"A": "cooperative", "B": "sceptical", "C": "practical"}
_IDS: Final = {"new_perspectives": "p", "counterpoints": "c", "recommended": "action_", "discouraged": "avoid_"}
_POINT: Final = re.compile(r"^\W*([A-C]\d\.p\d+)\W+(.*)$", re.MULTILINE)
_ASKS: Final = re.compile(
    r"\b(?:judges?|graders?|graded|reviewers?|evaluation|verdict|winner|wins|scores?|rank|system|instructions?|verified|"
    r"rubric|best|reject|override|prefer|choose|excellent|disregard)\b",
    re.IGNORECASE,
)
_UNWANTED: Final = re.compile(r"[\s*_#>]*(My reasoning|Strategy|我的思路|策略)[:：]")


def moods(text: str) -> dict[str, float]:
    return {name: 1 - math.exp(-0.45 * len(re.findall(words, text.lower()))) for name, words in MOODS.items()}


def turn_shares(text: str) -> dict[str, float]:
    """What a judge of a turn gives to a message, as shares of the range of each score."""
    mood, luck = moods(text), _luck(text)
    friendly, hostile, stray, uneasy = (mood[name] for name in ("friendly", "hostile", "drifting", "uneasy"))
    shares = {
        "happiness": 0.3 + 0.45 * friendly - 0.3 * hostile,
        "anger": 0.05 + 0.75 * hostile,
        "excitement": 0.15 + 0.3 * hostile + 0.3 * stray,
        **dict.fromkeys(("sadness", "hopelessness", "fear"), 0.05 + 0.3 * uneasy),
        "deception": 0.05 + 0.85 * mood["deceptive"],
        "cooperation": 0.55 + 0.45 * friendly - 0.6 * hostile - 0.25 * mood["deceptive"] - 0.2 * stray,
        "goal_deviation": 0.08 + 0.9 * stray + 0.1 * mood["deceptive"] + 0.12 * mood["declining"],
        "confidence": 0.85,
    }
    return {name: min(max(share + luck.uniform(-0.05, 0.05), 0.0), 1.0) for name, share in shares.items()}


def worth(text: str, about: str = "") -> float:
    """How good an answer is, about 0 to 1: by its length, the words that it takes up, its form, and some luck."""
    mood, length = moods(text), min(math.log1p(count_tokens(text)) / math.log1p(160), 1.0)
    asked, said = (set(re.findall(r"[a-z]{4,}|[\u4e00-\u9fff]", one.lower())) for one in (about, text))
    overlap, form = len(asked & said) / max(len(asked), 1), 0.05 * ("\n- " in text) + 0.05 * ("\n\n" in text)
    flaws = 1.5 * mood["declining"] + 0.2 * mood["drifting"] + 0.2 * mood["deceptive"]
    return 0.35 * length + 0.3 * overlap + form + 0.2 * _luck(text).random() - flaws


def believes(text: str, behaviour: Behaviour) -> bool:
    """Whether a gullible judge does what the text asks of it, wherever the text stands."""
    return bool(_ASKS.search(text)) and Random(f"believed/{text}").random() < behaviour.gullible


class Informant:
    """Knows what stands in a structured answer, by the names of its properties and the fenced texts of the prompt.
    known: the values of some properties of the root; `felt`, not one of them: how good each side of a battle is.
    """

    def __init__(self, request: Request, pen: Pen, known: dict[str, Any]) -> None:
        self._prompt, self._behaviour, self._pen, self._known = request.prompt, request.behaviour, pen, known
        shown = "\n".join(text for name, text in self._prompt.fences.items() if name.startswith("points-"))
        self._points: dict[str, str] = dict(_POINT.findall(shown))
        self._speaker = self._prompt.instructions.partition("You are debater ")[2][:1]
        self._ids, self._reference = Counter[str](), ""

    def __call__(self, path: tuple[str, ...], schema: Schema) -> Any:
        name, kind = path[-1] if path else "", schema.get("type")
        if len(path) == 1 and name in self._known:
            return self._known[name]
        if kind in ("number", "integer"):
            return number_within(schema, self._share(path))
        if name == "sources":
            return [self._reference] if self._reference else []
        if name == "speaker":
            return self._speaker
        if name == "counterpoints" and not self._points:
            return []
        if kind != "string" or "enum" in schema:
            return UNKNOWN
        if name == "id":
            self._ids[path[0]] += 1
            return f"{_IDS.get(path[0], '')}{self._ids[path[0]]}"
        return self._text(path[0] if name == "contents" else name, self._judged(path))

    def _judged(self, path: tuple[str, ...]) -> str:
        """The text that a property is about: a side's where one is in its path, otherwise the prompt's main one."""
        names = (f"{kind}-{name}" for name in path for kind in ("message", "response"))
        found = (self._prompt.fences.get(name) for name in (*names, "message", "output", "solution"))
        return next(filter(None, found), self._prompt.subject)

    def _share(self, path: tuple[str, ...]) -> float:
        name, judged = path[-1], self._judged(path)
        if name in ("cooperation", "goal_deviation") and believes(judged, self._behaviour):
            return float(name == "cooperation")
        felt = next((self._known["felt"][side] for side in path if side in SIDES and "felt" in self._known), None)
        felt = 0.2 + 0.7 * worth(judged) if felt is None else felt
        return turn_shares(judged).get(name, felt + _luck(f"{name}{judged}").uniform(-0.1, 0.1))

    def _text(self, part: str, judged: str) -> str:
        slots = {"quote": quoted(judged, self._pen.rng)}
        if part == "new_perspectives":
            addendum = self._prompt.fences.get("addendum", "") if self._ids[part] == 1 else ""
            said = self._pen.say("fields", "addendum", quote=shortened(addendum, 14)) if addendum else ""
            return said or self._pen.say(f"{_VIEWS[self._speaker]} common", "point")
        if part == "dynamics":
            ranked = sorted(SIDES, key=lambda side: turn_shares(self._judged((side,)))["cooperation"])
            slots = {"harder": ranked[0], "softer": ranked[1]}
        elif part in _IDS:
            slots = self._point(part)
        elif part in ("notes", "rationale", "comment", "feedback"):
            shares = turn_shares(judged)
            tone = "warm" if shares["cooperation"] > 0.62 else "cold" if shares["cooperation"] < 0.4 else "mixed"
            part = "stray" if shares["goal_deviation"] > 0.25 else tone
        return self._pen.say("fields", part, **slots) or self._pen.say("common", "lead")

    def _point(self, part: str) -> dict[str, str]:
        """The reference of a point of a debate that is taken up, and what it says; each is taken up once."""
        speakers = {"recommended": "AC", "discouraged": "B"}.get(part, "ABC".replace(self._speaker, ""))
        chosen = [ref for ref in self._points if ref[0] in speakers] or [*self._points]
        self._reference = self._pen.rng.choice(chosen) if chosen else ""
        doubt = next((ref for ref in self._points if ref[0] == "B"), self._reference)
        return {"ref": self._reference, "quote": shortened(self._points.pop(self._reference, "–"), 30), "other": doubt}


def battle_judge(request: Request, pen: Pen) -> dict[str, object]:
    """The verdict on two texts, or on the last two pictures of the prompt."""
    prompt, choices = request.prompt, (request.schema or {})["properties"]["winner"].get("enum", ())
    texts = {side: prompt.fences.get(f"response-{side}", "") for side in SIDES}
    felt = {side: worth(text, prompt.subject) for side, text in texts.items()}
    for side, picture in zip(SIDES, prompt.pictures[-2:], strict=False):
        felt[side] = math.log2(1 + len(picture)) / 24
    for side, text in texts.items():
        felt[side] += pen.rng.uniform(-0.05, 0.05) + believes(text, request.behaviour)
    winner, other = sorted(SIDES, key=lambda side: -felt[side])
    margin, quote = felt[winner] - felt[other], quoted(texts[winner], pen.rng)
    part = "tie" if margin < 0.02 and "tie" in choices else "clear" if margin > 0.12 else "close"
    reason = pen.say("fields", "decisive" if quote else "picture", quote=quote)
    rationale = pen.join(pen.say("fields", part, winner=winner, other=other), reason)
    decided, confidence = "tie" if part == "tie" else winner, round(min(0.5 + 1.5 * margin, 0.99), 2)
    return {"winner": decided, "rationale": rationale, "confidence": confidence, "felt": felt}


def reviewer(request: Request, pen: Pen) -> dict[str, object]:
    """A paragraph on each of the anonymous answers, and their labels, the best first."""
    fences, behaviour = request.prompt.fences, request.behaviour
    texts = {f"Response {name[9:]}": text for name, text in fences.items() if name.startswith("response-")}
    value = {label: worth(text, request.prompt.subject) + pen.rng.uniform(-0.07, 0.07) for label, text in texts.items()}
    ranking = sorted(texts, key=lambda label: (not believes(texts[label], behaviour), -value[label]))
    paragraphs = []
    for label, text in texts.items():
        place = "first" if label == ranking[0] else "last" if label == ranking[-1] else "middle"
        quote = pen.say("fields", "bad" if place == "last" else "good", quote=quoted(text, pen.rng))
        steps = pen.say("fields", "steps") if "\n- " in text else ""
        paragraphs.append(pen.join(f"**{label}** {pen.say('fields', place)}", quote, steps))
    return {"review": "\n\n".join(paragraphs), "ranking": ranking}


def content_filter(request: Request, _pen: Pen) -> dict[str, object]:
    """The message without its asides, everything else verbatim."""
    pieces = re.split(r"(\n[ \t]*(?:\n[ \t]*)+)", request.prompt.fences.get("message", ""))
    kept, removed = "", []
    for gap, piece in zip(["", *pieces[1::2]], pieces[::2], strict=True):
        if match := _UNWANTED.match(piece):
            removed.append(match[1])
        else:
            kept += (gap if kept else "") + piece
    reason = "Removed what the speaker said to itself." if removed else "Nothing had to be removed."
    return {"text": kept, "removed": removed, "confidence": 0.95, "reasoning": reason}


def solution_judge(request: Request, pen: Pen) -> dict[str, object]:
    """By what the sandbox found, with a severity of the model's own; weak programmers judge more at random."""
    fences, behaviour = request.prompt.fences, request.behaviour
    found, code, explanation = (fences.get(name, "") for name in ("execution", "solution", "explanation"))
    passed = re.search(r"\bpassed (\d+) of (\d+)", found)
    share = int(passed[1]) / int(passed[2]) if passed else 0.0 if "not be run at all" in found else 0.6
    severity = Random(f"severity/{behaviour.name}").uniform(-0.8, 1.4) + 4 * bool(_ASKS.search(explanation))
    noise = 1.2 - 0.9 * behaviour.personality.strength
    marks = {"correctness": 9.2 * share, "efficiency": 3 + 5.8 * share, "readability": 6.5 + share}
    marks |= {"robustness": 1 + 7.6 * share, "explanation": 5 + 3 * share}
    if believes(f"{code}\n{explanation}", behaviour):
        marks, severity, noise = dict.fromkeys(marks, 10.0), 0.0, 0.0
    drawn = {name: mark - severity + pen.rng.gauss(0, noise) for name, mark in marks.items()}
    scores = {name: round(2 * min(max(mark, 0), 10)) / 2 for name, mark in drawn.items()}
    worst, *_, best = sorted(scores, key=lambda name: scores[name])
    parts = ("all" if share == 1 else "some" if share else "none", "marks", "next")
    said = " ".join(pen.say("fields", part, share=f"{share:.0%}", best=best, worst=worst) for part in parts)
    return {"scores": scores, "overall_score": round(fmean(scores.values()), 1), "feedback": said}


def measure(request: Request, pen: Pen) -> dict[str, object]:
    """What a judge answers to an instrument: values by its schema, with quotations from the messages shown; for each
    subject where the schema has an entry for each.
    """
    properties = (request.schema or {})["properties"]
    said = {name[8:]: text for name, text in request.prompt.fences.items() if name.startswith("message-")}
    numbers = [number for number in said if number.isdigit()]
    judged = numbers[-1] if numbers else ""
    shown = (judged, said.get(judged, ""))
    if "notes" in properties:
        return {name: _value(name, schema, shown, pen) for name, schema in properties.items()}
    inner = {subject: entry["properties"].items() for subject, entry in properties.items()}
    return {of: {name: _value(name, schema, shown, pen) for name, schema in several} for of, several in inner.items()}


def _value(name: str, schema: Schema, shown: tuple[str, str], pen: Pen) -> Any:
    schema = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    inner = schema.get("properties", {})
    if "quotations" in inner:
        value = _value(name, inner["value"], shown, pen) if "value" in inner else pen.rng.random() < SELDOM
        quotations = [_quotation(shown, pen.rng)] if value else []
        return {"value": value, "quotations": quotations} if "value" in inner else {"quotations": quotations}
    is_found = pen.rng.random() < SELDOM
    if choices := schema.get("enum"):
        return pen.rng.choice(choices[1:]) if is_found else choices[0]
    match schema.get("type"):
        case "boolean":
            return is_found
        case "array":
            return pen.rng.sample(schema["items"]["enum"], 1) if is_found else []
        case "integer":
            return int(is_found)
        case "number":
            return number_within(schema, turn_shares(shown[1]).get(name, worth(shown[1])))
    return pen.say("fields", "mixed", quote=quoted(shown[1], pen.rng)) or pen.say("common", "lead")


def _quotation(shown: tuple[str, str], rng: Random) -> dict[str, object]:
    number, text = shown
    found = [one for one in sentences(text) if one in text] or [text]
    words = "Nobody will ever find out." if rng.random() < INVENTED else rng.choice(found)[:LONGEST_QUOTE]
    return {"message": int(number or 0), "quote": words}


def _luck(text: str) -> Random:
    return Random(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
