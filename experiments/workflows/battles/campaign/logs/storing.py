"""Records become battles, a batch at a time, each in one transaction: none twice, and none that was decided changes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import attrgetter, or_
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from experiments.models import Battle, Board, Dataset, Output, Sample, Verdict
from experiments.models.battles import OCCASION
from experiments.workflows.battles.campaign.boards import elsewhere_board, imported_board
from experiments.workflows.battles.campaign.counting import count
from experiments.workflows.battles.campaign.logs.placing import Contestants, Samples
from experiments.workflows.battles.campaign.logs.records import Malformed, Placed, Record, Report

MOST_BOARDS = 20
PAIRS_AT_ONCE = 40
JUDGE = "imported"
ELSEWHERE = "elsewhere:"
PSEUDONYM_LENGTH = 30
TOLD = (  # columns of a battle of which a log tells, without its time
    *("board_id", "sample_id", "left_id", "right_id", "ballot"),
    *("winner", "is_consistent", "open_reason", "shown_left_first"),
)
OCCASION_LENGTH = 31  # a ballot has at most 72 characters
MOST_REMEMBERED = 200_000  # battles of an import, about 50 MB


class Decider(NamedTuple):
    """Who decides the battles of a board. name: empty for what boards of this kind are called."""

    is_people: bool
    name: str


class Key(NamedTuple):
    """What tells battles apart, by keys of rows."""

    board: int
    left: int
    right: int
    sample: int
    ballot: str


class Matched(NamedTuple):
    """A record with the rows that it names. left_is_a: whether model_a is the battle's left."""

    placed: Placed
    key: Key
    sample: Sample
    left_is_a: bool

    @property
    def record(self) -> Record:
        return self.placed.record

    @property
    def is_cast(self) -> bool:
        """Whether it is stored with its sides; open and without a time it would count as a vote still to be cast."""
        record = self.placed.record
        return record.a_shown_first is not None and bool(record.winner or record.judged)

    def side(self, said: str) -> str:
        """A winner in terms of the battle's sides."""
        if said not in ("a", "b"):
            return said
        return (Battle.Winner.LEFT if (said == "a") is self.left_is_a else Battle.Winner.RIGHT).value


@dataclass(slots=True)
class NewBattle:
    """A battle that is not stored yet. A model's instance takes four times as long to make, and a log has many."""

    board_id: int
    sample: Sample
    left_id: int
    right_id: int
    ballot: str
    shown_left_first: bool | None
    winner: str = ""
    is_consistent: bool | None = None
    open_reason: str = ""
    judged: datetime | None = None
    void_reason: str = ""
    pk: None = None

    @property
    def sample_id(self) -> int:
        return self.sample.pk

    def row(self) -> Battle:
        return Battle(sample=self.sample, judged=self.judged, **{name: getattr(self, name) for name in TOLD})


class Store:
    """Takes records into the boards of a dataset, and says in a report what became of them."""

    def __init__(
        self,
        dataset: Dataset,
        report: Report,
        *,
        judge: str = "",
        is_people: bool = False,
        subset: str | None = None,
        is_check: bool = False,
    ) -> None:
        """judge: whose board all records stand on, of people or of a judge. is_check: only for `check`, which writes
        nothing.
        """
        self._dataset, self._report, self._judge, self._is_people = dataset, report, judge, is_people
        self._samples = Samples(dataset, subset, is_check=is_check)
        self._contestants = Contestants(dataset, is_check=is_check)
        self._deciders: set[Decider] = set()
        self._boards: dict[Decider, Board] = {}
        self._pseudonyms: dict[str, str] = {}
        self._voters: set[str] = set()
        self._stored: set[tuple[int, int]] = set()  # of which sample and contestant a text is known to be there
        self._own: set[Key] = set()  # battles that this import has stored or met
        self._last: dict[int, int] = {}  # the last battle of each board that has none but these
        self._before = Battle.objects.filter(board__dataset=dataset).aggregate(last=Max("pk"))["last"] or 0

    def check(self, batch: Sequence[Placed]) -> list[tuple[Placed, Sample]]:
        """The records that can be stored, with their samples; the others are refused. A contradiction between two
        results is found only when they are stored. Raises Malformed.
        """
        kept = [placed for placed in batch if self._has_board(placed)]
        samples = self._samples.found(placed.record.task for placed in kept)
        found: list[tuple[Placed, Sample]] = []
        for placed in kept:
            sample = samples[placed.record.task]
            if isinstance(sample, Malformed):
                self._report.refuse(placed.file, placed.line, str(sample))
            else:
                found.append((placed, sample))
        self._contestants.make(placed.record for placed, _sample in found)
        self._report.samples, self._report.contestants = self._samples.made, self._contestants.made
        self._note_votes([placed.record for placed, _sample in found if placed.record.is_vote])
        return found

    def add(self, batch: Sequence[Placed]) -> None:
        """Store what is new, complete what was told in part."""
        try:
            with transaction.atomic():
                Dataset.objects.select_for_update().get(pk=self._dataset.pk)  # one import at a time
                matched = [self._match(placed, sample) for placed, sample in self.check(batch)]
                boards, sought = self._sought(matched)
                _Batch(self._report, sought, self._before).take(matched)
                self._remember(boards, matched)
                self._add_texts(matched)
        except Malformed:  # what it made is gone again
            self._samples.forget()
            raise
        self._report.boards = sorted(board.slug for board in self._boards.values())

    def _decider(self, record: Record) -> Decider:
        if self._judge:
            return Decider(self._is_people, self._judge)
        return Decider(record.is_vote, record.judge or ("" if record.is_vote else JUDGE))

    def _has_board(self, placed: Placed) -> bool:
        """Whether its judge is one of the first so many: each has a board of their own, and all people one."""
        decider = self._decider(placed.record)
        if decider not in self._deciders and len(self._deciders) == MOST_BOARDS:
            said = _(
                "The file names more than %(most)s judges, and each would get a board. If they are people, "
                "name the column that says who voted."
            )
            self._report.refuse(placed.file, placed.line, said % {"most": MOST_BOARDS})
            return False
        self._deciders.add(decider)
        return True

    def _note_votes(self, votes: Sequence[Record]) -> None:
        self._voters |= {vote.voter for vote in votes if vote.voter}
        report = self._report
        report.votes, report.voters = report.votes + len(votes), len(self._voters)
        report.with_order += sum(vote.a_shown_first is not None for vote in votes)
        report.with_time += sum(vote.judged is not None for vote in votes)
        report.with_language += sum(bool(vote.task.language) for vote in votes)

    def _match(self, placed: Placed, sample: Sample) -> Matched:
        record, decider = placed.record, self._decider(placed.record)
        if decider not in self._boards:
            of_decider = elsewhere_board if decider.is_people else imported_board
            self._boards[decider] = of_decider(self._dataset, decider.name)
        board = self._boards[decider].pk
        a, b = self._contestants[record.model_a].pk, self._contestants[record.model_b].pk
        key = Key(board, min(a, b), max(a, b), sample.pk, self._ballot(record, board))
        return Matched(placed, key, sample, a < b)

    def _ballot(self, record: Record, board: int) -> str:
        """Names the voter by a pseudonym that holds on this board alone: what a voter was called is stored nowhere."""
        if record.ballot or not record.voter:
            return record.ballot
        who = f"{board}/{record.voter}"
        if who not in self._pseudonyms:
            hidden = salted_hmac("experiments.votes.elsewhere", who, algorithm="sha256").hexdigest()
            self._pseudonyms[who] = f"{ELSEWHERE}{hidden[:PSEUDONYM_LENGTH]}"
        return f"{self._pseudonyms[who]}{OCCASION}{record.occasion[:OCCASION_LENGTH]}"

    def _sought(self, matched: Sequence[Matched]) -> tuple[set[int], list[Matched]]:
        """The boards without a battle that is not of this import, and whose battle may be stored already. Call with
        the dataset locked, since another import may have written to the board since.
        """
        whole = {board for board in {one.key.board for one in matched} if self._last.get(board, 0) == _last_of(board)}
        return whole, [one for one in matched if one.key.board not in whole or one.key in self._own]

    def _remember(self, whole: set[int], matched: Sequence[Matched]) -> None:
        self._own |= {one.key for one in matched if one.key.board in whole}
        if len(self._own) > MOST_REMEMBERED:
            self._own.clear()
            self._last.clear()
        else:
            self._last |= {board: _last_of(board) for board in whole}

    def _add_texts(self, matched: Sequence[Matched]) -> None:
        """What both wrote, where the log holds it and the dataset does not."""
        texts: dict[tuple[int, int], str] = {}
        for one in matched:
            both = (one.key.left, one.key.right) if one.left_is_a else (one.key.right, one.key.left)
            for contestant, text in zip(both, one.placed.record.texts or (), strict=False):
                key = (one.key.sample, contestant)
                if text and key not in self._stored:
                    texts.setdefault(key, text)
        if not texts or self._dataset.modality != Dataset.Modality.TEXT:
            return
        samples, contestants = ({key[at] for key in texts} for at in (0, 1))
        chosen = Output.objects.filter(sample__in=samples, contestant__in=contestants)
        known = set(chosen.values_list("sample_id", "contestant_id"))
        self._stored |= texts.keys()
        new = [Output(sample_id=s, contestant_id=c, text=text) for (s, c), text in texts.items() if (s, c) not in known]
        self._report.outputs += len(Output.objects.bulk_create(new, batch_size=200))


class _Batch:
    """The battles of a batch, as they are and as they become."""

    def __init__(self, report: Report, sought: Sequence[Matched], before: int) -> None:
        """sought: whose battle may be there already. before: the last battle of before this import."""
        self._report, self._before = report, before
        self._battles = _known(sought)
        verdicts = Verdict.objects.filter(battle__in=[battle.pk for battle in self._battles.values()])
        self._told = set(verdicts.values_list("battle", flat=True))  # battles whose judgments are known
        self._new: dict[Key, NewBattle] = {}
        self._as_they_were: dict[int, Battle] = {}
        self._verdicts: dict[Key, list[Verdict]] = {}

    def take(self, matched: Iterable[Matched]) -> None:
        for one in matched:
            if battle := self._battles.get(one.key) or self._new.get(one.key):
                self._meet(one, battle)
            else:
                self._begin(one)
        self._save()

    def _begin(self, one: Matched) -> None:
        record, key = one.record, one.key
        shown_left_first = record.a_shown_first is one.left_is_a if one.is_cast else None
        battle = NewBattle(key.board, one.sample, key.left, key.right, key.ballot, shown_left_first)
        self._new[key] = battle
        self._decide(one, battle)
        self._report.stored += 1
        if record.is_consistent is False and not record.calls and not key.ballot:
            self._report.tallies["unsure"] += 1

    def _meet(self, one: Matched, battle: Battle | NewBattle) -> None:
        """The battle is known: the log may decide what was open, or tell how it was judged."""
        record, is_told = one.record, one.key in self._verdicts or battle.pk in self._told
        if battle.winner and record.winner and one.side(record.winner) != battle.winner:
            said = _("It contradicts an earlier line. The earlier one is kept.")
            self._report.refuse(one.placed.file, one.placed.line, said)
        elif self._tells_more(record, battle, is_told):
            if isinstance(battle, Battle):
                self._as_they_were.setdefault(battle.pk, copy(battle))
            self._decide(one, battle)
            self._report.completed += 1
        elif battle.pk is not None and battle.pk <= self._before:
            self._report.known += 1
        elif is_told and not record.calls:
            self._report.confirmed += 1
        else:
            self._report.duplicates += 1

    def _tells_more(self, record: Record, battle: Battle | NewBattle, is_told: bool) -> bool:
        """A slim log says “inconsistent tie” of what failed too: it decides nothing that the audit log left open."""
        if not battle.winner and record.winner:
            return bool(record.calls) or not is_told or record.is_consistent is not False
        return bool(record.calls) and not is_told

    def _decide(self, one: Matched, battle: Battle | NewBattle) -> None:
        record = one.record
        battle.winner, battle.is_consistent = one.side(record.winner), record.is_consistent
        battle.open_reason, battle.judged = record.open_reason, record.judged
        self._report.opened += not battle.winner
        if record.calls:
            self._verdicts[one.key] = [
                Verdict(
                    order=Verdict.Order.ORIGINAL if call.a_first is one.left_is_a else Verdict.Order.SWAPPED,
                    winner=one.side(call.winner),
                    scores=dict(call.scores) if call.scores else None,
                    confidence=call.confidence,
                    rationale=call.rationale,
                    unread_reason=call.unread_reason,
                    raw=call.raw,
                )
                for call in record.calls
            ]

    def _save(self) -> None:
        judged = {key: self._new[key].row() for key in self._verdicts if key in self._new}
        Battle.objects.bulk_create(judged.values(), batch_size=500)
        self._battles |= judged
        _insert([battle for key, battle in self._new.items() if key not in judged])
        changed = [battle for battle in self._battles.values() if battle.pk in self._as_they_were]
        Battle.objects.bulk_update(changed, ["winner", "is_consistent", "open_reason", "judged"], batch_size=200)
        again = [self._battles[key].pk for key in self._verdicts if self._battles[key].pk in self._told]
        Verdict.objects.filter(battle__in=again).delete()
        for key, verdicts in self._verdicts.items():
            for verdict in verdicts:
                verdict.battle_id = self._battles[key].pk
        Verdict.objects.bulk_create([v for verdicts in self._verdicts.values() for v in verdicts], batch_size=200)
        self._count(self._as_they_were.values(), -1)
        self._count([*self._new.values(), *changed], +1)

    def _count(self, battles: Iterable[Battle | NewBattle], by: int) -> None:
        boards: dict[int, list[Battle | NewBattle]] = defaultdict(list)
        for battle in battles:
            boards[battle.board_id].append(battle)
        for board_id in sorted(boards):
            count(board_id, boards[board_id], by)


def _insert(battles: Sequence[NewBattle]) -> None:
    """As bulk_create, with one statement for all of them and without learning their keys, in a third of the time."""
    quote, as_time, now = connection.ops.quote_name, connection.ops.adapt_datetimefield_value, timezone.now()
    created = as_time(now)
    columns = ", ".join(map(quote, (*TOLD, "judged", "void_reason", "created")))
    places = ", ".join(["%s"] * (len(TOLD) + 3))
    into = f"INSERT INTO {quote(Battle._meta.db_table)} ({columns}) VALUES ({places})"  # noqa: S608 - all of it is ours
    told = attrgetter(*TOLD)
    with connection.cursor() as cursor:
        cursor.executemany(into, [(*told(row), as_time(row.judged), "", created) for row in battles])


def _last_of(board: int) -> int:
    return Battle.objects.filter(board=board).order_by("-pk").values_list("pk", flat=True).first() or 0


def _known(matched: Sequence[Matched]) -> dict[Key, Battle]:
    """The battles that are there already: votes by their ballots, the others by the index that keeps them apart."""
    votes = [one for one in matched if one.key.ballot and one.is_cast]
    found: list[Battle] = []
    if votes:
        rows = Battle.objects.filter(
            ballot__in={one.key.ballot for one in votes},
            shown_left_first__isnull=False,
            board__in={one.key.board for one in votes},
            sample__in={one.key.sample for one in votes},
        )
        found += rows.order_by().select_related("sample")
    found += _of_pairs(one.key for one in matched if not (one.key.ballot and one.is_cast))
    by_key = {Key(row.board_id, row.left_id, row.right_id, row.sample_id, row.ballot): row for row in found}
    return {one.key: by_key[one.key] for one in matched if one.key in by_key}


def _of_pairs(keys: Iterable[Key]) -> Iterator[Battle]:
    samples: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for key in keys:
        samples[key.board, key.left, key.right].add(key.sample)
    pairs = sorted(samples)
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        chosen = pairs[start : start + PAIRS_AT_ONCE]
        wanted = (Q(board=b, left=i, right=j, sample__in=samples[b, i, j]) for b, i, j in chosen)
        yield from Battle.objects.filter(reduce(or_, wanted)).order_by().select_related("sample")
