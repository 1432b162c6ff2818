"""GenArena's logs: a line of the slim log, and one of the audit log, which also tells what the judge said."""

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.engine.text import storable_data
from experiments.workflows.battles.campaign.logs.records import (
    LARGEST_INDEX,
    Judged,
    Malformed,
    Record,
    Side,
    Task,
    moment,
    names,
    text,
)

LONGEST_REASON = 300
OF_POSITION = {"a": True, "b": False}
KEPT_APART = {"winner", "better_response", "confidence", "overall_rationale", "rationale", "comparison_summary"}


def is_slim(row: Mapping[str, Any]) -> bool:
    return {"model_a", "model_b", "sample_index", "final_winner"} <= set(row)


def is_audit(row: Mapping[str, Any]) -> bool:
    return is_slim(row) and "original_call" in row and "swapped_call" in row


def record(row: Mapping[str, Any], *, experiment: str, subset: str | None) -> Record:
    """The battle of a line. With both calls told, one that could not be read leaves the battle open: GenArena logs it
    as a tie. Raises Malformed.
    """
    model_a, model_b = names(row)
    winner, is_consistent = _winner(row, model_a, model_b), row.get("is_consistent")
    if not isinstance(is_consistent, bool | None):
        raise Malformed(_("is_consistent is neither true nor false."))
    calls = tuple(_call(row[key], key) for key in ("original_call", "swapped_call")) if is_audit(row) else ()
    open_reason = _open_reason(calls)
    return Record(
        model_a=model_a,
        model_b=model_b,
        task=Task(subset=_subset(row, subset), index=_index(row)),
        winner="" if open_reason else winner,
        is_consistent=None if open_reason else is_consistent,
        open_reason=open_reason,
        judged=moment(row.get("timestamp")),
        calls=calls,
        experiment=experiment,
    )


def _winner(row: Mapping[str, Any], model_a: str, model_b: str) -> Side:
    said = row.get("final_winner")
    sides: dict[Any, Side] = {model_a: "a", model_b: "b", "tie": "tie"}
    if not isinstance(said, str) or said.strip() not in sides:
        shown = str(said)[:60]
        raise Malformed(_("final_winner is “%(said)s”: neither of the two, nor a tie.") % {"said": shown})
    return sides[said.strip()]


def _index(row: Mapping[str, Any]) -> int:
    index = row["sample_index"]
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index <= LARGEST_INDEX:
        raise Malformed(_("sample_index is no whole number from 0 to %(most)s.") % {"most": LARGEST_INDEX})
    return index


def _subset(row: Mapping[str, Any], otherwise: str | None) -> str | None:
    return text(row["subset"])[:100] if isinstance(row.get("subset"), str) else otherwise


def _call(told: Any, key: str) -> Judged:
    if not isinstance(told, Mapping):
        raise Malformed(_("%(key)s tells nothing.") % {"key": key})
    a_first, raw = key == "original_call", text(told.get("raw_response"))
    found = told.get("parsed_result")
    winner = _verdict(found, a_first) if told.get("parse_success", True) is True else ""
    if not winner or not isinstance(found, Mapping):
        reason = text(told.get("parse_error")) or (_("no winner could be read") if raw else _("no answer came"))
        return Judged(a_first, "", raw, reason[:LONGEST_REASON])
    scores = {name: value for name, value in found.items() if name not in KEPT_APART}
    return Judged(a_first, winner, raw, "", storable_data(scores) or None, _confidence(found), _rationale(found))


def _verdict(found: Any, a_first: bool) -> Side:
    """In terms of model_a and model_b; the log speaks of the first and the second as A and B."""
    if not isinstance(found, Mapping):
        return ""
    said = found.get("winner", found.get("better_response"))
    position = said.strip().casefold() if isinstance(said, str) else ""
    if position == "tie":
        return "tie"
    return ("a" if OF_POSITION[position] is a_first else "b") if position in OF_POSITION else ""


def _confidence(found: Mapping[str, Any]) -> float | None:
    value = found.get("confidence")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1 else None


def _rationale(found: Mapping[str, Any]) -> str:
    reasons = [found.get(name) for name in ("rationale", "overall_rationale", "comparison_summary")]
    told = next((reason for reason in reasons if reason), None)
    return text(told) if isinstance(told, str) else text(json.dumps(told, ensure_ascii=False)) if told else ""


def _open_reason(calls: tuple[Judged, ...]) -> str:
    """Why a battle was not decided there: a judgment is missing."""
    unread = [call.unread_reason for call in calls if not call.winner]
    return f"{_('Judged elsewhere, unread:')} {'; '.join(unread)}"[:LONGEST_REASON] if unread else ""
