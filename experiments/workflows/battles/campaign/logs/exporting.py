"""Battles of a board as JSON lines: slim and audit log in GenArena's shapes, and all that is known in our own.

The slim and the audit log hold results alone: neither battles that are open or void, nor those of contestants that
are left out, nor “both bad”, for which GenArena has no word. model_a is the name that sorts first.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from experiments.models import Battle, Board, Contestant, Verdict
from experiments.workflows.battles.campaign.logs.arenalab import FORMAT

ROWS_AT_ONCE = 500
SIDES = ("left", "right")


def slim_lines(board: Board, subset: str | None = None) -> Iterator[bytes]:
    """One line per result: model_a, model_b, sample_index, final_winner, is_consistent, timestamp. A dataset with
    subsets has `subset` in its lines, unless one is asked for.
    """
    log = Log(board)
    for page in pages(_results(log, subset)):
        yield b"".join(encoded(log.slim(battle, tells_subset=subset is None)) for battle in page)


def audit_lines(board: Board, subset: str | None = None) -> Iterator[bytes]:
    """As the slim log, with what the judge said in both sequences. Votes have no judge's words, and no line."""
    log = Log(board)
    for page in pages(_results(log, subset)):
        yield b"".join(encoded(row) for row in log.audits(page, tells_subset=subset is None))


def full_lines(board: Board, subset: str | None = None) -> Iterator[bytes]:
    """Every battle with all that is known of it, open and void ones with the reason. Votes that are still to be cast
    are left out: who is to cast one must not find names here.
    """
    log = Log(board)
    for page in pages(_of_subset(board.battles.revealed(), subset)):
        verdicts = _verdicts(page)
        yield b"".join(encoded(log.full(battle, verdicts.get(battle.pk, []))) for battle in page)


class Log:
    """How the battles of a board are told. Holds the contestants, not the battles."""

    def __init__(self, board: Board) -> None:
        self.board = board
        rows = board.dataset.contestants.all()
        self.contestants: dict[int, Contestant] = {row.pk: row for row in rows}

    def names(self, battle: Battle) -> tuple[str, str]:
        return self.contestants[battle.left_id].name, self.contestants[battle.right_id].name

    def left_is_a(self, battle: Battle) -> bool:
        left, right = self.names(battle)
        return left < right

    def slim(self, battle: Battle, *, tells_subset: bool = True) -> dict[str, object]:
        left, right = self.names(battle)
        winner = {"left": left, "right": right}.get(battle.winner, "tie")
        return {
            "model_a": min(left, right),
            "model_b": max(left, right),
            **({"subset": battle.sample.subset} if tells_subset and battle.sample.subset else {}),
            "sample_index": battle.sample.index,
            "final_winner": winner,
            "is_consistent": battle.is_consistent,
            "timestamp": stamp(battle.judged),
        }

    def audits(self, battles: list[Battle], *, tells_subset: bool = True) -> Iterator[dict[str, object]]:
        verdicts = _verdicts(battles)
        for battle in battles:
            if found := verdicts.get(battle.pk):
                calls = {self._order(battle, verdict): self._call(battle, verdict) for verdict in found}
                slim = self.slim(battle, tells_subset=tells_subset)
                result = {name: slim.pop(name) for name in ("final_winner", "is_consistent")}
                told = {name: calls.get(name) for name in ("original_call", "swapped_call")}
                yield {**slim, **told, **result}

    def full(self, battle: Battle, verdicts: list[Verdict]) -> dict[str, object]:
        names, board, sample = self.names(battle), self.board, battle.sample
        shown = battle.shown_left_first
        return {
            "format": FORMAT,
            "id": battle.pk,
            "board": board.slug,
            "dataset": board.dataset.slug,
            "subset": sample.subset,
            "sample_index": sample.index,
            "category": sample.category,
            "model_a": min(names),
            "model_b": max(names),
            "winner": self._side(battle, battle.winner) or None,
            "is_consistent": battle.is_consistent,
            "open_reason": battle.open_reason,
            "void_reason": battle.void_reason or self._left_out(battle),
            "judge": board.judge,
            "judged_by": board.kind,
            "prompt": board.prompt,
            "prompt_version": board.prompt_version,
            "params": board.params,
            "experiment": version_of(battle),
            "run": str(battle.run_id) if battle.run_id else None,
            "voter": pseudonym(board, battle),
            "shown_first": None if shown is None else self._side(battle, "left" if shown else "right"),
            "judged": stamp(battle.judged),
            "verdicts": [self._verdict(battle, verdict) for verdict in verdicts],
        }

    def _verdict(self, battle: Battle, verdict: Verdict) -> dict[str, Any]:
        return {
            "first": self._side(battle, _first(verdict)),
            "winner": self._side(battle, verdict.winner) or None,
            "scores": verdict.scores,
            "confidence": verdict.confidence,
            "rationale": verdict.rationale,
            "unread_reason": verdict.unread_reason,
            "call": str(verdict.call_id) if verdict.call_id else None,
            "raw": _raw(verdict),
        }

    def _call(self, battle: Battle, verdict: Verdict) -> dict[str, Any]:
        """A judgment as GenArena tells it: who was shown first is A."""
        letters = {_first(verdict): "A", _second(verdict): "B", "tie": "tie"}
        is_read = verdict.winner in letters
        told = {"winner": letters.get(verdict.winner), **(verdict.scores or {})}
        further = {"confidence": verdict.confidence, "rationale": verdict.rationale or None}
        told |= {name: value for name, value in further.items() if value is not None}
        return {
            "raw_response": _raw(verdict),
            "parsed_result": told if is_read else None,
            "parse_success": is_read,
            "parse_error": None if is_read else verdict.unread_reason,
        }

    def _order(self, battle: Battle, verdict: Verdict) -> str:
        a_is_first = (_first(verdict) == "left") is self.left_is_a(battle)
        return "original_call" if a_is_first else "swapped_call"

    def _side(self, battle: Battle, side: str) -> str:
        if side not in SIDES:
            return side
        return "model_a" if (side == "left") is self.left_is_a(battle) else "model_b"

    def _left_out(self, battle: Battle) -> str:
        both = (self.contestants[battle.left_id], self.contestants[battle.right_id])
        return "; ".join(f"{one.name}: {one.void_reason}" for one in both if one.void_reason)


def pages(rows: QuerySet[Battle]) -> Iterator[list[Battle]]:
    """The battles, a few at a time, by their keys: no cursor stays open while somebody reads slowly."""
    last = 0
    chosen = rows.select_related("sample", "experiment").defer("sample__instruction", "sample__metadata")
    while page := list(chosen.filter(pk__gt=last).order_by("pk")[:ROWS_AT_ONCE]):
        yield page
        last = page[-1].pk


def results(log: Log) -> QuerySet[Battle]:
    """What slim logs are made of."""
    left_out = [pk for pk, row in log.contestants.items() if row.void_reason]
    rows = log.board.battles.counted().exclude(winner=Battle.Winner.BOTH_BAD)
    return rows.exclude(left__in=left_out).exclude(right__in=left_out) if left_out else rows


def version_of(battle: Battle) -> str:
    """The experiment that it belongs to, "name_yyyymmdd"; empty where it has no name of its own."""
    config = battle.experiment.config if battle.experiment else {}
    return str(config.get("version") or "") if isinstance(config, dict) else ""


def pseudonym(board: Board, battle: Battle) -> str | None:
    """Who voted: the same word for all their votes on this board, another one on another board."""
    who = battle.ballot or (str(battle.voter_id) if battle.voter_id else "")
    if not who:
        return None
    return hmac.new(settings.SECRET_KEY.encode(), f"voter/{board.pk}/{who}".encode(), hashlib.sha256).hexdigest()[:16]


def stamp(moment: datetime | None) -> str | None:
    """UTC, in seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def encoded(row: dict[str, object]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085").encode() + b"\n"


def _results(log: Log, subset: str | None) -> QuerySet[Battle]:
    return _of_subset(results(log), subset)


def _of_subset(rows: QuerySet[Battle], subset: str | None) -> QuerySet[Battle]:
    return rows if subset is None else rows.filter(sample__subset=subset)


def _verdicts(battles: Iterable[Battle]) -> dict[int, list[Verdict]]:
    found: dict[int, list[Verdict]] = {}
    rows = Verdict.objects.filter(battle__in=[battle.pk for battle in battles]).select_related("call")
    for verdict in rows.only(*VERDICT_FIELDS, "call__text").order_by("battle_id", "order"):
        found.setdefault(verdict.battle_id, []).append(verdict)
    return found


VERDICT_FIELDS = (
    *("battle", "order", "call", "winner", "scores", "confidence", "rationale", "unread_reason", "raw"),
)  # fmt: skip


def _raw(verdict: Verdict) -> str:
    return verdict.call.text if verdict.call else verdict.raw


def _first(verdict: Verdict) -> str:
    return "left" if verdict.order == Verdict.Order.ORIGINAL else "right"


def _second(verdict: Verdict) -> str:
    return "right" if verdict.order == Verdict.Order.ORIGINAL else "left"
