"""The extended log: what this platform gives away of a battle, and takes back. One JSON object per battle."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Battle, Board, Verdict
from experiments.models.battles import OCCASION
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.logs.records import (
    Judged,
    Malformed,
    Record,
    Side,
    Task,
    Void,
    moment,
    names,
    sample_index,
    stamp,
    text,
)

FORMAT = "arena-lab-battle/1"
SIDES: dict[str, Side] = {"model_a": "a", "model_b": "b", "tie": "tie", "both_bad": "both_bad", "": ""}
NAMES = {side: name for name, side in SIDES.items()}


def is_battle(row: Mapping[str, Any]) -> bool:
    return row.get("format") == FORMAT


def record(row: Mapping[str, Any]) -> Record:
    """Raises Malformed, and Void for a void battle: what was excluded is not taken over as if it counted."""
    model_a, model_b = names(row)
    if row.get("void_reason"):
        raise Void(text(row["void_reason"]))
    winner, consistent, calls = _side(row.get("winner")), row.get("is_consistent"), row.get("verdicts")
    return Record(
        model_a=model_a,
        model_b=model_b,
        task=Task(
            text(row.get("subset"))[:100],
            sample_index(row),
            category=text(row.get("category"))[:100],
            language=text(row.get("language"))[:60],
        ),
        winner=winner,
        is_consistent=consistent if isinstance(consistent, bool) else None,
        open_reason="" if winner else text(row.get("open_reason"))[:300] or _("open"),
        judged=moment(row.get("judged")),
        judge=text(row.get("judge"))[:200],
        is_vote=row.get("judged_by") == Board.Kind.PEOPLE,
        voter=text(row.get("voter")),
        ballot=_ballot(row),
        a_shown_first=row["shown_first"] == "model_a" if row.get("shown_first") in ("model_a", "model_b") else None,
        calls=tuple(_call(call) for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else (),
        experiment=text(row.get("experiment"))[:120],
    )


def _ballot(row: Mapping[str, Any]) -> str:
    """The pseudonym that the log gives the voter, and what tells their votes on the same outputs apart."""
    voter, occasion = text(row.get("voter")).replace(OCCASION, "-")[:36], text(row.get("occasion"))[:31]
    return f"log:{voter}{OCCASION}{occasion}" if voter and occasion else f"log:{voter}" if voter else ""


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


def line(
    record: Record, board: Board, battle: Battle, verdicts: list[Verdict], *, void_reason: str, voter: str | None
) -> JsonObject:
    """verdicts: those of the record's calls. voter: a pseudonym."""
    shown = record.a_shown_first
    return {
        "format": FORMAT,
        "id": battle.pk,
        "board": board.slug,
        "dataset": board.dataset.slug,
        "subset": record.task.subset,
        "sample_index": record.task.index,
        "category": record.task.category,
        "language": record.task.language,
        "model_a": record.model_a,
        "model_b": record.model_b,
        "winner": NAMES[record.winner] or None,
        "is_consistent": record.is_consistent,
        "open_reason": record.open_reason,
        "void_reason": void_reason,
        "judge": record.judge,
        "judged_by": board.kind,
        "prompt": board.prompt,
        "prompt_version": board.prompt_version,
        "params": board.params,
        "experiment": record.experiment,
        "run": str(battle.run_id) if battle.run_id else None,
        "voter": voter,
        **({"occasion": battle.ballot.partition(OCCASION)[2]} if OCCASION in battle.ballot else {}),
        "shown_first": None if shown is None else "model_a" if shown else "model_b",
        "judged": stamp(record.judged),
        "verdicts": [
            {
                "first": "model_a" if call.a_first else "model_b",
                "winner": NAMES[call.winner] or None,
                "scores": call.scores,
                "confidence": call.confidence,
                "rationale": call.rationale,
                "unread_reason": call.unread_reason,
                "call": str(verdict.call_id) if verdict.call_id else None,
                "raw": call.raw,
            }
            for call, verdict in zip(record.calls, verdicts, strict=True)
        ],
    }
