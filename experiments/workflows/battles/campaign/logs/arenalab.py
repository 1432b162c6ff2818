"""The extended log: what this platform gives away of a battle, and takes back. One JSON object per battle."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.workflows.battles.campaign.logs.records import (
    LARGEST_INDEX,
    Judged,
    Malformed,
    Record,
    Side,
    Task,
    Void,
    moment,
    names,
    text,
)

FORMAT = "arena-lab-battle/1"
SIDES: dict[str, Side] = {"model_a": "a", "model_b": "b", "tie": "tie", "both_bad": "both_bad", "": ""}


def is_battle(row: Mapping[str, Any]) -> bool:
    return row.get("format") == FORMAT


def record(row: Mapping[str, Any]) -> Record:
    """Raises Malformed, and Void for a void battle: what was excluded is not taken over as if it counted."""
    model_a, model_b = names(row)
    if row.get("void_reason"):
        raise Void(text(row["void_reason"]))
    winner, consistent, index = _side(row.get("winner")), row.get("is_consistent"), row.get("sample_index")
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index <= LARGEST_INDEX:
        raise Malformed(_("sample_index is no whole number from 0 to %(most)s.") % {"most": LARGEST_INDEX})
    calls = row.get("verdicts")
    return Record(
        model_a=model_a,
        model_b=model_b,
        task=Task(subset=text(row.get("subset"))[:100], index=index, category=text(row.get("category"))[:100]),
        winner=winner,
        is_consistent=consistent if isinstance(consistent, bool) else None,
        open_reason="" if winner else text(row.get("open_reason"))[:300] or _("open"),
        judged=moment(row.get("judged")),
        judge=text(row.get("judge"))[:200],
        ballot=f"log:{text(row.get('voter'))[:60]}" if row.get("voter") else "",
        a_shown_first=row["shown_first"] == "model_a" if row.get("shown_first") in ("model_a", "model_b") else None,
        calls=tuple(_call(call) for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else (),
        experiment=text(row.get("experiment"))[:120],
    )


def _side(said: Any) -> Side:
    found = SIDES.get(said or "") if isinstance(said, str | None) else None
    if found is None:
        raise Malformed(_("winner is “%(said)s”: not model_a, model_b, tie or both bad.") % {"said": str(said)[:60]})
    return found


def _call(told: Mapping[str, Any]) -> Judged:
    scores, confidence = told.get("scores"), told.get("confidence")
    return Judged(
        a_first=told.get("first") != "model_b",
        winner=_side(told.get("winner")),
        raw=text(told.get("raw")),
        unread_reason=text(told.get("unread_reason"))[:300],
        scores=scores if isinstance(scores, Mapping) else None,
        confidence=float(confidence) if isinstance(confidence, int | float) else None,
        rationale=text(told.get("rationale")),
    )
