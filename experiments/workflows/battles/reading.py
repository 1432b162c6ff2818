"""Reading a verdict: the winner where the reply names one for certain, and the scores that were given in range.

Only the judge's own reply is read. A winner is never filled in: a reply that contradicts itself, or names nobody, is
unreadable, and the reason says so.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from experiments.workflows.base.json_reader import Found, Missing, find_json, holds_object
from experiments.workflows.base.parsing import Unreadable, number, plain
from experiments.workflows.battles.words import Choice, choice_in, choice_of_prose, side_named

LOW, HIGH = 1, 10  # the scale of every criterion
SIDES: Mapping[str, Choice] = {"A": "first", "B": "second"}
LONGEST_RATIONALE = 20_000
WINNERS = (
    *("winner", "better_response", "better", "best", "preferred", "preference", "verdict", "final_verdict"),
    *("choice", "decision", "answer", "result", "better_image", "better_answer", "preferred_response"),
    *("获胜者", "胜者", "赢家", "更好的回答", "更好的图片", "更好的图像", "结论", "裁决", "判定", "选择"),
)
WITHIN = ("scores", "score", "ratings", "evaluation", "评分")
RATIONALES = ("rationale", "reasoning", "reason", "explanation", "comparison_summary", "理由")
CONFIDENCES = ("confidence", "置信度")


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reply says. winner: None when nothing certain could be read, and `unread_reason` says why.

    scores: "first" and "second" to criteria's names to numbers: those that were given within their range; None when
    none was. absent: why the others were not taken, a sentence each. confidence: 0 to 1; None when it was not given.
    """

    winner: Choice | None
    scores: Mapping[str, Mapping[str, float]] | None = None
    confidence: float | None = None
    rationale: str = ""
    unread_reason: str = ""
    absent: tuple[str, ...] = ()


def read_verdict(text: str, criteria: Iterable[str], *, allows_tie: bool) -> Judged:
    """What a reply says: its JSON object that names a winner; where there is none, its prose."""
    found = find_json(text, ("winner",), fits=lambda one: bool(_winners(one)))
    try:
        choice = _choice(found)
        if choice == "tie" and not allows_tie:
            raise Unreadable("it says tie, and this prompt asks for a choice")
    except Unreadable as why:
        return Judged(None, unread_reason=f"The verdict could not be read: {why}.")
    if isinstance(found, Missing):
        return Judged(choice, rationale=plain(text)[:LONGEST_RATIONALE], absent=("It gave no scores.",))
    verdict = cast(Mapping[str, Any], found.value)
    scores, absent = _scores(verdict, tuple(criteria))
    confidence, why_none = _confidence(verdict)
    return Judged(
        winner=choice,
        scores=scores if any(scores.values()) else None,
        confidence=confidence,
        rationale=next(filter(None, map(plain, _under(RATIONALES, verdict))), "")[:LONGEST_RATIONALE],
        absent=(*absent, *why_none),
    )


def _choice(found: Found | Missing) -> Choice:
    if isinstance(found, Missing):
        if found.reason in ("no_json", "other_form"):
            return choice_of_prose(found.around)
        raise Unreadable(found.message)
    choices = {choice_in(said) for said in _winners(cast(Mapping[str, Any], found.value))}
    if len(choices) > 1:
        raise Unreadable("it names more than one winner")
    return choices.pop()


def _winners(one: Mapping[str, Any]) -> list[Any]:
    """What stands under the names that a winner is given by; objects there are looked into, not read."""
    return [value for value in _under(WINNERS, one) if not holds_object(value)]


def _under(names: tuple[str, ...], one: Mapping[str, Any]) -> list[Any]:
    """The values whose keys are one of the names, in any spelling."""
    return [value for key, value in one.items() if key.strip().lower().replace(" ", "_").replace("-", "_") in names]


def _scores(verdict: Mapping[str, Any], criteria: tuple[str, ...]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """The scores of both sides, and why others are absent."""
    within = next(iter(_under(WITHIN, verdict)), None)
    given: dict[str, Any] = dict.fromkeys(SIDES)
    for holder in (verdict, within if isinstance(within, dict) else {}):
        given |= {label: value for name, value in holder.items() if (label := side_named(name)) in given}
    scores: dict[str, dict[str, float]] = {side: {} for side in SIDES.values()}
    absent: list[str] = []
    for label, of_side in given.items():
        if not isinstance(of_side, Mapping):
            absent.append(f"{label}'s scores are missing.")
            continue
        by_name = {str(name).strip().lower().replace(" ", "_"): value for name, value in of_side.items()}
        for name in criteria:
            try:
                scores[SIDES[label]][name] = number(by_name.get(name), LOW, HIGH)
            except Unreadable as why:
                absent.append(f"{label}'s {name} {why}.")
    return scores, absent


def _confidence(verdict: Mapping[str, Any]) -> tuple[float | None, list[str]]:
    """A confidence that was not given is simply absent; one that makes no sense is absent with the reason."""
    given = next(iter(_under(CONFIDENCES, verdict)), None)
    if given is None:
        return None, []
    try:
        return number(given, 0, 1), []
    except Unreadable as why:
        return None, [f"The confidence {why}."]
