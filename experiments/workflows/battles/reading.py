"""Reading a verdict: the winner where the reply names one for certain, and the scores that were given in range.

Only the judge's own reply is read. A winner is never filled in: a reply that contradicts itself, or names nobody, is
unreadable, and the reason says so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from experiments.workflows.battles.judged import Choice, Judged
from experiments.workflows.battles.layout import HIGH, LABELS, LOW
from experiments.workflows.battles.words import choice_in, choice_of_prose, side_named
from experiments.workflows.parsing import Unreadable, json_values, number, plain

TORN = re.compile(r"\{\s*(?:[\"'}]|$)|\{\s*[^\W\d]\w*\s*[:=]")  # the beginning of an object that does not end
LONGEST_RATIONALE = 20_000
DEEPEST_WINNER = 4  # objects around the one that names the winner
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
    """What a reply says. Of several JSON objects the last with the whole form counts: those before may be quoted."""
    names = tuple(criteria)
    try:
        values, rest = json_values(text)
        verdict, choice = _verdict(list(_objects(values)), rest, names, allows_tie=allows_tie)
        if choice is None:
            choice = choice_of_prose(rest)
        if choice == "tie" and not allows_tie:
            raise Unreadable("it says tie, and this prompt asks for a choice")
    except Unreadable as why:
        return Judged(None, unread_reason=f"The verdict could not be read: {why}.")
    if verdict is None:
        return Judged(choice, rationale=plain(text)[:LONGEST_RATIONALE], absent=("It gave no scores.",))
    return _judged(choice, verdict, names)


# --- the winner ---


def _objects(values: list[Any]) -> Iterator[dict[str, Any]]:
    for value in values:
        inner = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(inner, dict):
            yield inner


def _verdict(
    found: list[dict[str, Any]], rest: str, criteria: tuple[str, ...], *, allows_tie: bool
) -> tuple[dict[str, Any] | None, Choice | None]:
    """The object that is the verdict with what it says; None for both when no object names a winner."""
    whole = [place for place, one in enumerate(found) if _has_whole_form(one, criteria, allows_tie=allows_tie)]
    if not whole and TORN.search(rest):  # what was read inside it may be of one point only
        raise Unreadable("it is not valid JSON, or was cut short")
    found = found[whole[-1] :] if whole else found
    naming = [(inner, names) for one in found if (inner := _naming(one)) for names in [_winners(inner)]]
    if not naming:
        return None, None
    choices = {choice_in(said) for _inner, names in naming for said in names}
    if len(choices) > 1:
        raise Unreadable("it names more than one winner")
    return naming[0 if whole else -1][0], choices.pop()


def _has_whole_form(one: Mapping[str, Any], criteria: tuple[str, ...], *, allows_tie: bool) -> bool:
    """Whether it is exactly what was asked for."""
    if one.get("winner") not in (*LABELS, *(("tie",) if allows_tie else ())):
        return False
    scores = one.get("scores")
    if not isinstance(one.get("rationale"), str) or not isinstance(scores, dict) or _number(one, 0, 1) is None:
        return False
    sides = [scores.get(label) for label in LABELS]
    return all(isinstance(side, dict) and not _absent(side, criteria) for side in sides)


def _number(one: Mapping[str, Any], low: float, high: float) -> float | None:
    try:
        return number(one.get("confidence"), low, high)
    except Unreadable:
        return None


def _absent(side: Mapping[str, Any], criteria: tuple[str, ...]) -> list[str]:
    return _of_side("", side, criteria)[1]


def _naming(one: dict[str, Any]) -> dict[str, Any] | None:
    """The object that names a winner: itself, or the outermost one inside it that does."""
    level: list[dict[str, Any]] = [one]
    for _depth in range(DEEPEST_WINNER):
        if named := [inner for inner in level if _winners(inner)]:
            if len({str(_winners(inner)) for inner in named}) > 1:
                raise Unreadable("it names more than one winner")
            return named[0]
        level = [inner for outer in level for value in outer.values() for inner in _inside(value)]
    return None


def _inside(value: Any) -> Iterator[dict[str, Any]]:
    """The object in a value: the value itself, or JSON that was written as a text."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, str) and value.lstrip().startswith(("{", "```")):
        yield from _objects(json_values(value)[0])


def _winners(one: Mapping[str, Any]) -> list[Any]:
    """What stands under the names that a winner is given by; objects there are looked into, not read."""
    said = [value for name, value in one.items() if _named(name, WINNERS)]
    return [value for value in said if not any(True for _inner in _inside(value))]


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
