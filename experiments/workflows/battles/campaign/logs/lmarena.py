"""Battle files as LMArena, MT-Bench and Kaggle publish them: one row per vote or judgment, named by columns."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.engine.text import storable
from experiments.models.battles import UNNAMED, UNNAMED_LENGTH
from experiments.workflows.battles.campaign.logs.columns import KAGGLE
from experiments.workflows.battles.campaign.logs.records import (
    Malformed,
    Record,
    Side,
    Task,
    moment,
    names,
    sample_index,
    text,
)

WINNERS: dict[str, tuple[Side, bool | None]] = {
    "model_a": ("a", None),
    "model_b": ("b", None),
    "a": ("a", None),
    "b": ("b", None),
    "tie": ("tie", None),
    "tie (bothbad)": ("both_bad", None),
    "both_bad": ("both_bad", None),
    "bothbad": ("both_bad", None),
    "both bad": ("both_bad", None),
    "tie (inconsistent)": ("tie", False),
}
WRITTEN = json.JSONEncoder(default=str)
PERSON = re.compile(r"^(arena_user|author|expert|user|human|annotator|voter)_\w+$")


def is_battle(row: Mapping[str, Any]) -> bool:
    return {"model_a", "model_b"} <= set(row) and ("winner" in row or set(KAGGLE) <= set(row))


def record(row: Mapping[str, Any], *, is_vote: bool = False) -> Record:
    """The battle of a row. is_vote: each row has a voter. Otherwise it is a vote where it tells of a voter, and where
    the judge is called as arenas call people, or not at all. A vote has model_a shown first. Raises Malformed.
    """
    model_a, model_b = names(row)
    winner, is_consistent = _winner(row, model_a, model_b)
    said_judge = row.get("judge")
    if isinstance(said_judge, list):
        said_judge = "/".join(map(str, said_judge))
    said_judge = text(str(said_judge) if said_judge else "").strip()
    first, second = _turns(row.get("conversation_a")), _turns(row.get("conversation_b"))
    instruction = _said(first, "user") or _said(second, "user") or _listed(row.get("prompt"))
    texts = (
        _said(first, "assistant") or _listed(row.get("response_a")),
        _said(second, "assistant") or _listed(row.get("response_b")),
    )
    time, category, language = _first(row, "tstamp", "timestamp"), row.get("category"), text(row.get("language"))
    voter = str(row["voter"] if row.get("voter") is not None else "").strip()
    if is_vote and not voter:
        raise Malformed(_("The voter is missing."))
    if not voter and PERSON.match(said_judge):
        voter = said_judge
    is_vote = is_vote or bool(voter) or not said_judge
    # what tells a vote from others on the same pair and task; who cast it cannot be read from it
    occasion = WRITTEN.encode([said_judge, row.get("turn"), time, row["model_a"], instruction])
    occasion = _hash(occasion)[:UNNAMED_LENGTH]
    return Record(
        model_a=model_a,
        model_b=model_b,
        task=Task(
            subset=text(row.get("subset"))[:100] or None,
            index=sample_index(row) if row.get("sample_index") not in (None, "") else None,
            question=_question(row, instruction),
            category=text(category)[:100],
            language=language[:60],
            instruction=instruction,
        ),
        winner=winner,
        is_consistent=is_consistent,
        judged=moment(time),
        judge="" if is_vote else said_judge[:200],
        is_vote=is_vote,
        voter=voter,
        occasion=occasion,
        ballot="" if voter else f"{UNNAMED}{occasion}",
        a_shown_first=_shown_first(row, model_a, model_b) if "shown_first" in row else is_vote or None,
        texts=texts if any(texts) else None,
    )


def _winner(row: Mapping[str, Any], model_a: str, model_b: str) -> tuple[Side, bool | None]:
    said = row.get("winner")
    if "winner" not in row:
        chosen = [name for column, name in KAGGLE.items() if str(row.get(column)).strip() in ("1", "1.0", "True")]
        said = chosen[0] if len(chosen) == 1 else None
    said = said.strip() if isinstance(said, str) else said
    if said == model_a:
        return "a", None
    if said == model_b:
        return "b", None
    found = WINNERS.get(said.casefold()) if isinstance(said, str) else None
    if found is None:
        raise Malformed(_("winner is “%(said)s”: not model_a, model_b, tie or both bad.") % {"said": str(said)[:60]})
    return found


def _shown_first(row: Mapping[str, Any], model_a: str, model_b: str) -> bool | None:
    """Whether model_a was shown first; None where the row does not tell."""
    said = text(row["shown_first"]).strip()
    sides = {model_a: True, model_b: False, "model_a": True, "model_b": False, "a": True, "b": False, "": None}
    if said not in sides:
        message = _("shown_first is “%(said)s”: neither of the two.")
        raise Malformed(message % {"said": said[:60]})
    return sides[said]


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


def _said(turns: Sequence[Mapping[str, Any]], role: str) -> str:
    if not turns:
        return ""
    said = []
    for turn in turns:
        if turn.get("role") == role:
            content = turn.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            said.append("\n\n".join(text(p["text"]) for p in parts if isinstance(p, Mapping) and p.get("text")))
    return "\n\n".join(filter(None, said))


def _listed(value: Any) -> str:
    """Kaggle's columns: a text, or a JSON list of the texts of all turns."""
    if isinstance(value, str):
        if not value.startswith("["):
            return storable(value)
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return storable(value)
    if isinstance(value, list):
        return "\n\n".join(text(part) for part in value if isinstance(part, str))
    return text(value)


def _first(row: Mapping[str, Any], *columns: str) -> Any:
    for column in columns:
        if (value := row.get(column)) not in (None, ""):
            return value
    return None


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()
