"""GenArena's logs: a line of the slim log, and one of the audit log, which also tells what the judge said."""

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.engine.text import storable_data
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.logs.records import (
    Judged,
    Malformed,
    Record,
    Side,
    Task,
    moment,
    names,
    sample_index,
    stamp,
    text,
)

LONGEST_REASON = 300
CALLS = {"original_call": True, "swapped_call": False}  # whether model_a was shown first in it
KEPT_APART = {"winner", "better_response", "confidence", "overall_rationale", "rationale", "comparison_summary"}


def is_slim(row: Mapping[str, Any]) -> bool:
    return {"model_a", "model_b", "sample_index", "final_winner"} <= set(row)


def record(row: Mapping[str, Any], *, experiment: str, subset: str | None) -> Record:
    """The battle of a line. With both calls told, one that could not be read leaves the battle open: GenArena logs it
    as a tie. Raises Malformed.
    """
    model_a, model_b = names(row)
    said, is_consistent = row.get("final_winner"), row.get("is_consistent")
    sides: dict[str, Side] = {model_a: "a", model_b: "b", "tie": "tie"}
    if not isinstance(said, str) or said.strip() not in sides:
        message = _("final_winner is “%(said)s”: neither of the two, nor a tie.")
        raise Malformed(message % {"said": str(said)[:60]})
    if not isinstance(is_consistent, bool | None):
        raise Malformed(_("is_consistent is neither true nor false."))
    calls = tuple(_call(row[key], key) for key in CALLS) if row.keys() >= CALLS.keys() else ()
    unread = [call.unread_reason for call in calls if not call.winner]
    open_reason = f"{_('Judged elsewhere, unread:')} {'; '.join(unread)}"[:LONGEST_REASON] if unread else ""
    told_subset = row.get("subset")
    return Record(
        model_a=model_a,
        model_b=model_b,
        task=Task(text(told_subset)[:100] if isinstance(told_subset, str) else subset, sample_index(row)),
        winner="" if open_reason else sides[said.strip()],
        is_consistent=None if open_reason else is_consistent,
        open_reason=open_reason,
        judged=moment(row.get("timestamp")),
        calls=calls,
        experiment=experiment,
    )


def _call(told: Any, key: str) -> Judged:
    """A judgment, in terms of model_a and model_b; the log speaks of the first and the second as A and B."""
    if not isinstance(told, Mapping):
        raise Malformed(_("%(key)s is empty.") % {"key": key})
    a_first, raw, found = CALLS[key], text(told.get("raw_response")), told.get("parsed_result")
    position = ""
    if told.get("parse_success", True) is True and isinstance(found, Mapping):
        said = found.get("winner", found.get("better_response"))
        position = said.strip().casefold() if isinstance(said, str) else ""
    if position not in ("a", "b", "tie") or not isinstance(found, Mapping):
        reason = text(told.get("parse_error")) or (_("no winner could be read") if raw else _("no answer arrived"))
        return Judged(a_first, "", raw, reason[:LONGEST_REASON])
    winner: Side = "tie" if position == "tie" else "a" if (position == "a") is a_first else "b"
    scores = {name: value for name, value in found.items() if name not in KEPT_APART}
    reasons = (found.get(name) for name in ("rationale", "overall_rationale", "comparison_summary"))
    rationale = next(filter(None, reasons), "")
    confidence: Any = found.get("confidence")
    if not isinstance(confidence, int | float) or isinstance(confidence, bool) or not 0 <= confidence <= 1:
        confidence = None
    return Judged(
        a_first,
        winner,
        raw,
        scores=storable_data(scores) or None,
        confidence=None if confidence is None else float(confidence),
        rationale=text(rationale if isinstance(rationale, str) else json.dumps(rationale, ensure_ascii=False)),
    )


def slim(record: Record, *, tells_subset: bool = True) -> JsonObject:
    """The line of a result: not of a battle that is open or void, nor of “both bad”, for which there is no word."""
    return {
        "model_a": record.model_a,
        "model_b": record.model_b,
        **({"subset": record.task.subset} if tells_subset and record.task.subset else {}),
        "sample_index": record.task.index,
        **_result(record),
        "timestamp": stamp(record.judged),
    }


def audit(record: Record, *, tells_subset: bool = True) -> JsonObject:
    line = slim(record, tells_subset=tells_subset)
    told = {call.a_first: _told(call) for call in record.calls}
    result = {name: line.pop(name) for name in _result(record)}
    return {**line, **{key: told.get(a_first) for key, a_first in CALLS.items()}, **result}


def _result(record: Record) -> JsonObject:
    winner = {"a": record.model_a, "b": record.model_b}.get(record.winner, "tie")
    return {"final_winner": winner, "is_consistent": record.is_consistent}


def _told(call: Judged) -> JsonObject:
    """A judgment as GenArena tells it: who was shown first is A."""
    letters = {"a": "A" if call.a_first else "B", "b": "B" if call.a_first else "A", "tie": "tie"}
    is_read = call.winner in letters
    told = {"winner": letters.get(call.winner), **(call.scores or {})}
    further = {"confidence": call.confidence, "rationale": call.rationale or None}
    told |= {name: value for name, value in further.items() if value is not None}
    return {
        "raw_response": call.raw,
        "parsed_result": told if is_read else None,
        "parse_success": is_read,
        "parse_error": None if is_read else call.unread_reason,
    }
