"""Logs as other arenas write them, for tests, and the commands that read and write them."""

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management import call_command

FOLDER = "pk_logs/first_20260105"


def slim(
    first: str, second: str, index: int, winner: str = "tie", consistent: bool = True, **more: Any
) -> dict[str, Any]:
    row = {"model_a": first, "model_b": second, "sample_index": index, "final_winner": winner}
    return {**row, "is_consistent": consistent, "timestamp": "2026-01-28T10:30:00Z", **more}


def audit(first: str, second: str, index: int, winner: str, original: Any, swapped: Any, **more: Any) -> dict[str, Any]:
    """original, swapped: the letter that the judge gave; None where the call failed, "" where nothing was legible."""
    row = slim(first, second, index, winner, consistent=winner != "tie", **more)
    return {**row, "original_call": call(original), "swapped_call": call(swapped)}


def call(letter: str | None) -> dict[str, Any]:
    if not letter:
        error = "API error: 503" if letter is None else "no verdict"
        said = "" if letter is None else "I would rather not say."
        return {"raw_response": said, "parsed_result": None, "parse_success": False, "parse_error": error}
    found = {"winner": letter, "score_a": 8, "score_b": 6, "confidence": 0.75, "rationale": f"{letter} is sharper"}
    return {"raw_response": f"The winner is {letter}.", "parsed_result": found, "parse_success": True}


def vote(first: str, second: str, winner: str, question: Any = 81, **more: Any) -> dict[str, Any]:
    row = {"model_a": first, "model_b": second, "winner": winner, "question_id": question}
    return {**row, "judge": "arena_user_17", "turn": 1, "tstamp": 1682351591.13, "language": "English", **more}


def talk(asked: str, answered: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]


def write(path: Path, rows: Iterable[Mapping[str, Any] | str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def pair(root: Path, rows: Iterable[Mapping[str, Any]], folder: str = FOLDER, name: str = "flux_vs_sdxl") -> Path:
    """A pair's slim log in GenArena's layout."""
    return write(root / folder / f"{name}.jsonl", rows)


def run(*arguments: object) -> str:
    """What a command of manage.py prints."""
    out = io.StringIO()
    call_command(*map(str, arguments), stdout=out)
    return out.getvalue()
