"""Battle files as LMArena, MT-Bench and Kaggle publish them: one row per vote or judgment, named by columns."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.workflows.battles.campaign.logs.records import Malformed, Record, Side, Task, moment, names, text

WINNERS: dict[str, tuple[Side, bool | None]] = {
    "model_a": ("a", None),
    "model_b": ("b", None),
    "tie": ("tie", None),
    "tie (bothbad)": ("both_bad", None),
    "both_bad": ("both_bad", None),
    "bothbad": ("both_bad", None),
    "tie (inconsistent)": ("tie", False),
}
KAGGLE = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
PERSON = re.compile(r"^(arena_user|author|expert|user|human|annotator|voter)_\w+$")
PEOPLE_ELSEWHERE = "people-elsewhere"
COLUMNS = (
    *("model_a", "model_b", "winner", *KAGGLE, "judge", "question_id", "id", "turn", "tstamp", "timestamp"),
    *("language", "category", "conversation_a", "conversation_b", "prompt", "response_a", "response_b"),
)  # fmt: skip


def is_battle(row: Mapping[str, Any]) -> bool:
    return {"model_a", "model_b"} <= set(row) and ("winner" in row or set(KAGGLE) <= set(row))


def record(row: Mapping[str, Any], *, judge: str = "") -> Record:
    """The battle of a row. judge: who judged, where the caller knows. Raises Malformed."""
    model_a, model_b = names(row)
    winner, is_consistent = _winner(row)
    said_judge = row.get("judge")
    if isinstance(said_judge, list):
        said_judge = "/".join(map(str, said_judge))
    said_judge = text(str(said_judge) if said_judge else "").strip()
    first, second = (_turns(row.get(f"conversation_{side}")) for side in "ab")
    instruction = _said(first, "user") or _said(second, "user") or _listed(row.get("prompt"))
    texts = (
        _said(first, "assistant") or _listed(row.get("response_a")),
        _said(second, "assistant") or _listed(row.get("response_b")),
    )
    time, category = _first(row, "tstamp", "timestamp"), _first(row, "category", "language")
    # what tells a vote from others on the same pair and task; who cast it cannot be read from it
    ballot = json.dumps([said_judge, row.get("turn"), time, row["model_a"], instruction], default=str)
    # people are judges of one board together; a model is a board of its own
    board_judge = PEOPLE_ELSEWHERE if not said_judge or PERSON.match(said_judge) else said_judge[:200]
    return Record(
        model_a=model_a,
        model_b=model_b,
        task=Task(
            question=_question(row, instruction),
            category=text(category)[:100] if isinstance(category, str) else "",
            instruction=instruction,
        ),
        winner=winner,
        is_consistent=is_consistent,
        judged=moment(time),
        judge=judge or board_judge,
        ballot=f"log:{_hash(ballot)[:40]}",
        a_shown_first=True,
        texts=texts if any(texts) else None,
    )


def _winner(row: Mapping[str, Any]) -> tuple[Side, bool | None]:
    said = row.get("winner")
    if "winner" not in row:
        chosen = [name for column, name in KAGGLE.items() if str(row.get(column)).strip() in ("1", "1.0", "True")]
        said = chosen[0] if len(chosen) == 1 else None
    found = WINNERS.get(said.strip().casefold()) if isinstance(said, str) else None
    if found is None:
        raise Malformed(_("winner is “%(said)s”: not model_a, model_b, tie or both bad.") % {"said": str(said)[:60]})
    return found


def _question(row: Mapping[str, Any], instruction: str) -> str:
    """What tells the task apart: its id, else what was asked. Empty where the row tells neither."""
    said = _first(row, "question_id", "id")
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    named = text(str(said)).strip()[:200] if said is not None and not isinstance(said, bool) else ""
    return named or (f"asked:{_hash(instruction)}" if instruction else "")


def _turns(conversation: Any) -> list[Mapping[str, Any]]:
    """The messages of a conversation, which tables hold as JSON."""
    if isinstance(conversation, str) and conversation.lstrip().startswith("["):
        try:
            conversation = json.loads(conversation)
        except (ValueError, RecursionError):
            return []
    return [turn for turn in conversation if isinstance(turn, Mapping)] if isinstance(conversation, list) else []


def _said(turns: Iterable[Mapping[str, Any]], role: str) -> str:
    said = []
    for turn in turns:
        if turn.get("role") == role:
            content = turn.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            said.append("\n\n".join(text(p["text"]) for p in parts if isinstance(p, Mapping) and p.get("text")))
    return "\n\n".join(filter(None, said))


def _listed(value: Any) -> str:
    """Kaggle's columns: a text, or a JSON list of the texts of all turns."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return text(value)
    if isinstance(value, list):
        return "\n\n".join(text(part) for part in value if isinstance(part, str))
    return text(value)


def _first(row: Mapping[str, Any], *columns: str) -> Any:
    return next((row[column] for column in columns if row.get(column) not in (None, "")), None)


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()
