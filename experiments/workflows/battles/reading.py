"""Reading a verdict: the winner where the reply names one for certain, and the scores that were given in range.

Only the judge's own reply is read. A winner is never filled in: a reply that contradicts itself, or names nobody, is
unreadable, and the reason says so.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from experiments.workflows.base.json_reader import Found, Missing, find_json, holds_object
from experiments.workflows.base.parsing import Unreadable, number, plain
from experiments.workflows.battles.judged import Choice, Judged
from experiments.workflows.battles.layout import HIGH, LABELS, LOW
from experiments.workflows.battles.words import choice_in, choice_of_prose, side_named

LONGEST_RATIONALE = 20_000
SIDES: Mapping[str, Choice] = {"A": "first", "B": "second"}
WINNERS = (
    *("winner", "better_response", "better", "best", "preferred", "preference", "verdict", "final_verdict"),
    *("choice", "decision", "answer", "result", "better_image", "better_answer", "preferred_response"),
    *("获胜者", "胜者", "赢家", "更好的回答", "更好的图片", "更好的图像", "结论", "裁决", "判定", "选择"),
)
WITHIN = ("scores", "score", "ratings", "evaluation", "评分")
RATIONALES = ("rationale", "reasoning", "reason", "explanation", "comparison_summary", "理由")
CONFIDENCES = ("confidence", "置信度")


def read_verdict(text: str, criteria: Iterable[str], *, allows_tie: bool) -> Judged:
    """What a reply says: its JSON object that names a winner; where there is none, its prose."""
    found = find_json(text, ("winner",), fits=_names_winner)
    try:
        choice = _choice(found)
        if choice == "tie" and not allows_tie:
            raise Unreadable("it says tie, and this prompt asks for a choice")
    except Unreadable as why:
        return Judged(None, unread_reason=f"The verdict could not be read: {why}.")
    if isinstance(found, Missing):
        return Judged(choice, rationale=plain(text)[:LONGEST_RATIONALE], absent=("It gave no scores.",))
    return _judged(choice, cast(Mapping[str, Any], found.value), tuple(criteria))


# --- the winner ---


def _choice(found: Found | Missing) -> Choice | None:
    if isinstance(found, Missing):
        if found.reason in ("no_json", "other_form"):
            return choice_of_prose(found.around)
        raise Unreadable(found.message)
    choices = {choice_in(said) for said in _winners(cast(Mapping[str, Any], found.value))}
    if len(choices) > 1:
        raise Unreadable("it names more than one winner")
    return choices.pop()


def _names_winner(one: Mapping[str, Any]) -> bool:
    return bool(_winners(one))


def _winners(one: Mapping[str, Any]) -> list[Any]:
    """What stands under the names that a winner is given by; objects there are looked into, not read."""
    said = [value for name, value in one.items() if _named(name, WINNERS)]
    return [value for value in said if not holds_object(value)]


def _named(name: str, names: tuple[str, ...]) -> bool:
    return name.strip().lower().replace(" ", "_").replace("-", "_") in names


# --- what else is said ---


def _judged(choice: Choice | None, verdict: Mapping[str, Any], criteria: tuple[str, ...]) -> Judged:
    scores: dict[str, dict[str, float]] = {}
    absent: list[str] = []
    for label, given in _sides(verdict).items():
        taken, missing = _of_side(f"{label}'s ", given, criteria)
        scores[SIDES[label]] = taken
        absent += missing
    confidence, why = _confidence(verdict)
    return Judged(
        winner=choice,
        scores=scores if any(scores.values()) else None,
        confidence=confidence,
        rationale=_text(verdict),
        absent=tuple(absent + why),
    )


def _sides(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """What was given for A and for B; None where nothing was."""
    within = next((verdict[name] for name in verdict if _named(name, WITHIN)), None)
    given = dict.fromkeys(LABELS)
    for holder in (verdict, within if isinstance(within, dict) else {}):
        given |= {label: value for name, value in holder.items() if (label := side_named(name)) in given}
    return given


def _of_side(whose: str, given: Any, criteria: tuple[str, ...]) -> tuple[dict[str, float], list[str]]:
    """The scores of one side, and why the others are absent."""
    if not isinstance(given, Mapping):
        return {}, [f"{whose}scores are missing."]
    by_name = {str(name).strip().lower().replace(" ", "_"): value for name, value in given.items()}
    taken: dict[str, float] = {}
    missing: list[str] = []
    for name in criteria:
        try:
            taken[name] = number(by_name.get(name), LOW, HIGH)
        except Unreadable as why:
            missing.append(f"{whose}{name} {why}.")
    return taken, missing


def _confidence(verdict: Mapping[str, Any]) -> tuple[float | None, list[str]]:
    """A confidence that was not given is simply absent; one that makes no sense is absent with the reason."""
    given = next((value for name, value in verdict.items() if _named(name, CONFIDENCES)), None)
    if given is None:
        return None, []
    try:
        return number(given, 0, 1), []
    except Unreadable as why:
        return None, [f"The confidence {why}."]


def _text(verdict: Mapping[str, Any]) -> str:
    said = (plain(value) for name, value in verdict.items() if _named(name, RATIONALES))
    return next((text for text in said if text), "")[:LONGEST_RATIONALE]
