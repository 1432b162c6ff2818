"""Battles of a board as JSON lines: slim and audit log in GenArena's shapes, and all that is known in our own.

The slim and the audit log hold results alone: neither battles that are open or void, nor those of contestants that
are left out, nor “both bad”, for which GenArena has no word. model_a is the name that sorts first.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from django.conf import settings
from django.db.models import QuerySet

from experiments.models import Battle, Board, Contestant, Verdict
from experiments.models.battles import voter_key
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.logs import arenalab, genarena
from experiments.workflows.battles.campaign.logs.records import Judged, Record, Side, Task

ROWS_AT_ONCE = 500


class Log:
    """How the battles of a board are told. Holds the contestants, not the battles."""

    def __init__(self, board: Board) -> None:
        self.board = board
        rows = board.dataset.contestants.all()
        self.contestants: dict[int, Contestant] = {row.pk: row for row in rows}
        self._left_out = [pk for pk, row in self.contestants.items() if row.void_reason]

    def results(self, subset: str | None = None) -> QuerySet[Battle]:
        """What slim logs are made of."""
        rows = _of_subset(self.board.battles.counted().exclude(winner=Battle.Winner.BOTH_BAD), subset)
        return rows.exclude(left__in=self._left_out).exclude(right__in=self._left_out) if self._left_out else rows

    def slims(self, rows: QuerySet[Battle], *, tells_subset: bool) -> Iterator[JsonObject]:
        for battle in self.each(rows):
            yield genarena.slim(self.record(battle, ()), tells_subset=tells_subset)

    def audits(self, rows: QuerySet[Battle], *, tells_subset: bool) -> Iterator[JsonObject]:
        """Votes have no judge's words, and no line."""
        for battle, verdicts in _with_verdicts(rows):
            if verdicts:
                yield genarena.audit(self.record(battle, verdicts), tells_subset=tells_subset)

    def lines(self, rows: QuerySet[Battle]) -> Iterator[JsonObject]:
        for battle, verdicts in _with_verdicts(rows):
            both = (self.contestants[battle.left_id], self.contestants[battle.right_id])
            left_out = "; ".join(f"{one.name}: {one.void_reason}" for one in both if one.void_reason)
            yield arenalab.line(
                self.record(battle, verdicts),
                self.board,
                battle,
                verdicts,
                void_reason=battle.void_reason or left_out,
                voter=self.pseudonym(battle),
            )

    def each(self, rows: QuerySet[Battle]) -> Iterator[Battle]:
        """The battles, read some at a time."""
        return chain.from_iterable(_pages(rows))

    def record(self, battle: Battle, verdicts: Iterable[Verdict]) -> Record:
        left, right = self.contestants[battle.left_id].name, self.contestants[battle.right_id].name
        left_is_a, sample, shown = left < right, battle.sample, battle.shown_left_first
        calls = [
            Judged(
                a_first=(verdict.order == Verdict.Order.ORIGINAL) is left_is_a,
                winner=_side(verdict.winner, left_is_a),
                raw=verdict.call.text if verdict.call else verdict.raw,
                unread_reason=verdict.unread_reason,
                scores=verdict.scores,
                confidence=verdict.confidence,
                rationale=verdict.rationale,
            )
            for verdict in verdicts
        ]
        config = battle.experiment.config if battle.experiment else {}
        return Record(
            model_a=min(left, right),
            model_b=max(left, right),
            task=Task(sample.subset, sample.index, category=sample.category, language=sample.language),
            winner=_side(battle.winner, left_is_a),
            is_consistent=battle.is_consistent,
            open_reason=battle.open_reason,
            judged=battle.judged,
            judge=self.board.judge,
            a_shown_first=None if shown is None else shown is left_is_a,
            calls=tuple(calls),
            experiment=str(config.get("version") or "") if isinstance(config, dict) else "",
        )

    def pseudonym(self, battle: Battle) -> str | None:
        """Who voted: the same word for all their votes on this board, another one on another board."""
        who = voter_key(battle.ballot) or (str(battle.voter_id) if battle.voter_id else "")
        if not who:
            return None
        key, said = settings.SECRET_KEY.encode(), f"voter/{self.board.pk}/{who}".encode()
        return hmac.new(key, said, hashlib.sha256).hexdigest()[:16]


def slim_lines(board: Board, subset: str | None = None) -> Iterator[bytes]:
    """One line per result: model_a, model_b, sample_index, final_winner, is_consistent, timestamp. A dataset with
    subsets has `subset` in its lines, unless one is asked for.
    """
    log = Log(board)
    yield from _chunks(log.slims(log.results(subset), tells_subset=subset is None))


def audit_lines(board: Board, subset: str | None = None) -> Iterator[bytes]:
    """As the slim log, with what the judge said in both sequences. Votes have no judge's words, and no line."""
    log = Log(board)
    yield from _chunks(log.audits(log.results(subset), tells_subset=subset is None))


def full_lines(board: Board, subset: str | None = None) -> Iterator[bytes]:
    """Every battle with all that is known of it, open and void ones with the reason. Votes that are still to be cast
    are left out: who is to cast one must not find names here.
    """
    yield from _chunks(Log(board).lines(_of_subset(board.battles.revealed(), subset)))


def _chunks(rows: Iterator[JsonObject]) -> Iterator[bytes]:
    while some := list(islice(rows, ROWS_AT_ONCE)):
        yield b"".join(map(encoded, some))


def encoded(row: JsonObject) -> bytes:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085").encode() + b"\n"


def _pages(rows: QuerySet[Battle]) -> Iterator[list[Battle]]:
    """The battles, a few at a time, by their keys: no cursor stays open while somebody reads slowly."""
    last = 0
    chosen = rows.select_related("sample", "experiment").defer("sample__instruction", "sample__metadata")
    while page := list(chosen.filter(pk__gt=last).order_by("pk")[:ROWS_AT_ONCE]):
        yield page
        last = page[-1].pk


def _with_verdicts(rows: QuerySet[Battle]) -> Iterator[tuple[Battle, list[Verdict]]]:
    fields = ("battle", "order", "call", "winner", "scores", "confidence", "rationale", "unread_reason", "raw")
    for page in _pages(rows):
        found: dict[int, list[Verdict]] = {}
        verdicts = Verdict.objects.filter(battle__in=[battle.pk for battle in page]).select_related("call")
        for verdict in verdicts.only(*fields, "call__text").order_by("battle_id", "order"):
            found.setdefault(verdict.battle_id, []).append(verdict)
        yield from ((battle, found.get(battle.pk, [])) for battle in page)


def _of_subset(rows: QuerySet[Battle], subset: str | None) -> QuerySet[Battle]:
    return rows if subset is None else rows.filter(sample__subset=subset)


def _side(said: str, left_is_a: bool) -> Side:
    sides: dict[str, Side] = {"left": "a" if left_is_a else "b", "right": "b" if left_is_a else "a"}
    sides |= {"": "", "tie": "tie", "both_bad": "both_bad"}
    return sides[said]
