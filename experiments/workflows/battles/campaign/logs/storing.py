"""Records become battles, a batch at a time, each in one transaction: none twice, and none that was decided changes."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max, Q
from django.utils.translation import gettext as _

from experiments.models import Battle, Board, Dataset, Output, Sample, Verdict
from experiments.workflows.battles.campaign.boards import imported_board
from experiments.workflows.battles.campaign.counting import count
from experiments.workflows.battles.campaign.logs.placing import Contestants, Samples
from experiments.workflows.battles.campaign.logs.records import Malformed, Record
from experiments.workflows.battles.campaign.logs.report import Report

MOST_BOARDS = 20
PAIRS_AT_ONCE = 40
JUDGE = "imported"
Key = tuple[int, int, int, int, str]


class Placed(NamedTuple):
    """A record and where it was read."""

    file: str
    line: int
    record: Record


class Matched(NamedTuple):
    """A record with the rows that it names. left_is_a: whether model_a is the battle's left."""

    placed: Placed
    key: Key
    sample: Sample
    left_is_a: bool


class Store:
    """Takes records into the boards of a dataset, and says in a report what became of them."""

    def __init__(
        self, dataset: Dataset, report: Report, *, judge: str = "", subset: str | None = None, is_check: bool = False
    ) -> None:
        """is_check: only for `check`, which writes nothing."""
        self._dataset, self._report, self._judge = dataset, report, judge
        self._samples = Samples(dataset, subset, is_check=is_check)
        self._contestants = Contestants(dataset, is_check=is_check)
        self._judges: set[str] = set()
        self._boards: dict[str, Board] = {}
        self._before = Battle.objects.filter(board__dataset=dataset).aggregate(last=Max("pk"))["last"] or 0

    def check(self, batch: Sequence[Placed]) -> None:
        """Refuse what could not be stored. A contradiction between two results is found only when they are stored."""
        self._placed(batch)

    def add(self, batch: Sequence[Placed]) -> None:
        """Store what is new, complete what was told in part."""
        with transaction.atomic():
            Dataset.objects.select_for_update().get(pk=self._dataset.pk)  # one import at a time
            matched = [self._match(placed, sample) for placed, sample in self._placed(batch)]
            battles = _known(matched)
            told = set(
                Verdict.objects.filter(battle__in=[b.pk for b in battles.values()]).values_list("battle", flat=True)
            )
            _Batch(self._report, battles, told, self._before).take(matched)
            self._add_texts(matched)
        self._report.samples, self._report.contestants = self._samples.made, self._contestants.made
        self._report.boards = sorted(board.slug for board in self._boards.values())

    def _placed(self, batch: Sequence[Placed]) -> list[tuple[Placed, Sample]]:
        """The records that can be stored, with their samples; the others are refused. Raises Malformed."""
        kept = [placed for placed in batch if self._is_judge(placed)]
        samples = self._samples.found(placed.record.task for placed in kept)
        found: list[tuple[Placed, Sample]] = []
        for placed in kept:
            sample = samples[placed.record.task]
            if isinstance(sample, Malformed):
                self._report.refuse(placed.file, placed.line, str(sample))
            else:
                found.append((placed, sample))
        self._contestants.make(placed.record for placed, _sample in found)
        return found

    def _is_judge(self, placed: Placed) -> bool:
        """Whether its judge is one of the first so many: each has a board of their own."""
        judge = self._judge or placed.record.judge or JUDGE
        if judge not in self._judges and len(self._judges) == MOST_BOARDS:
            said = _(
                "The file names more than %(most)s judges, and each would get a board. If they are people, give one "
                "judge's name for the whole file."
            )
            self._report.refuse(placed.file, placed.line, said % {"most": MOST_BOARDS})
            return False
        self._judges.add(judge)
        return True

    def _match(self, placed: Placed, sample: Sample) -> Matched:
        record = placed.record
        judge = self._judge or record.judge or JUDGE
        board = self._boards.get(judge) or imported_board(self._dataset, judge)
        self._boards[judge] = board
        first, second = self._contestants[record.model_a].pk, self._contestants[record.model_b].pk
        key = (board.pk, min(first, second), max(first, second), sample.pk, record.ballot)
        return Matched(placed, key, sample, first < second)

    def _add_texts(self, matched: Sequence[Matched]) -> None:
        """What both wrote, where the log holds it and the dataset does not."""
        texts: dict[tuple[int, int], str] = {}
        for one in matched:
            record = one.placed.record
            for name, text in zip((record.model_a, record.model_b), record.texts or (), strict=False):
                if text:
                    texts.setdefault((one.sample.pk, self._contestants[name].pk), text)
        if not texts or self._dataset.modality != Dataset.Modality.TEXT:
            return
        chosen = Output.objects.filter(
            sample__in={sample for sample, _c in texts}, contestant__in={c for _s, c in texts}
        )
        known = {(row.sample_id, row.contestant_id) for row in chosen.only("sample_id", "contestant_id")}
        new = [Output(sample_id=s, contestant_id=c, text=text) for (s, c), text in texts.items() if (s, c) not in known]
        self._report.outputs += len(Output.objects.bulk_create(new, batch_size=200))


class _Batch:
    """The battles of a batch, as they are and as they become."""

    def __init__(self, report: Report, battles: dict[Key, Battle], told: set[int], before: int) -> None:
        """told: battles whose judgments are known. before: the last battle of before this import."""
        self._report, self._battles, self._told, self._before = report, battles, told, before
        self._new: list[Battle] = []
        self._as_they_were: dict[int, Battle] = {}
        self._verdicts: dict[Key, list[Verdict]] = {}

    def take(self, matched: Iterable[Matched]) -> None:
        for one in matched:
            if one.key in self._battles:
                self._meet(one, self._battles[one.key])
            else:
                self._begin(one)
        self._save()

    def _begin(self, one: Matched) -> None:
        record, (board, left, right, _sample, ballot) = one.placed.record, one.key
        shown = record.a_shown_first is one.left_is_a if _is_cast(record) else None
        battle = Battle(board_id=board, sample=one.sample, left_id=left, right_id=right, ballot=ballot)
        battle.shown_left_first = shown
        self._battles[one.key] = battle
        self._new.append(battle)
        self._decide(one, battle)
        self._report.stored += 1
        self._report.opened += not battle.winner
        is_unsure = not record.calls and not record.ballot and record.is_consistent is False
        self._report.tallies["unsure"] += is_unsure

    def _meet(self, one: Matched, battle: Battle) -> None:
        """The battle is known: the log may decide what was open, or tell how it was judged."""
        record, is_told = one.placed.record, one.key in self._verdicts or battle.pk in self._told
        is_other = bool(battle.winner and record.winner and _side(one) != battle.winner)
        if self._tells_more(record, battle, is_told) and not is_other:
            self._change(one, battle)
        elif is_other:
            said = _("It contradicts what was told before; that is kept.")
            self._report.refuse(one.placed.file, one.placed.line, said)
        elif battle.pk is not None and battle.pk <= self._before:
            self._report.known += 1
        elif is_told and not record.calls:
            self._report.confirmed += 1
        else:
            self._report.duplicates += 1

    def _tells_more(self, record: Record, battle: Battle, is_told: bool) -> bool:
        """A slim log says “inconsistent tie” of what failed too: it decides nothing that the audit log left open."""
        if not battle.winner and record.winner:
            return bool(record.calls) or not is_told or record.is_consistent is not False
        return bool(record.calls) and not is_told

    def _change(self, one: Matched, battle: Battle) -> None:
        if battle.pk is not None:
            self._as_they_were.setdefault(battle.pk, copy(battle))
        self._decide(one, battle)
        self._report.completed += 1
        self._report.opened += not battle.winner

    def _decide(self, one: Matched, battle: Battle) -> None:
        record = one.placed.record
        battle.winner, battle.is_consistent, battle.open_reason = _side(one), record.is_consistent, record.open_reason
        battle.judged = record.judged
        if record.calls:
            self._verdicts[one.key] = _verdicts(one)

    def _save(self) -> None:
        Battle.objects.bulk_create(self._new, batch_size=500)
        changed = [battle for battle in self._battles.values() if battle.pk in self._as_they_were]
        Battle.objects.bulk_update(changed, ["winner", "is_consistent", "open_reason", "judged"], batch_size=200)
        again = [self._battles[key].pk for key in self._verdicts if self._battles[key].pk in self._told]
        Verdict.objects.filter(battle__in=again).delete()
        for key, verdicts in self._verdicts.items():
            for verdict in verdicts:
                verdict.battle_id = self._battles[key].pk
        Verdict.objects.bulk_create([v for verdicts in self._verdicts.values() for v in verdicts], batch_size=200)
        self._count(self._as_they_were.values(), -1)
        self._count([*self._new, *changed], +1)

    def _count(self, battles: Iterable[Battle], by: int) -> None:
        boards: dict[int, list[Battle]] = defaultdict(list)
        for battle in battles:
            boards[battle.board_id].append(battle)
        for board_id in sorted(boards):
            count(board_id, boards[board_id], by)


def _known(matched: Sequence[Matched]) -> dict[Key, Battle]:
    """The battles that are there already: votes by their ballots, the others by the index that keeps them apart."""
    votes = [one for one in matched if one.key[4] and _is_cast(one.placed.record)]
    others = [one for one in matched if not (one.key[4] and _is_cast(one.placed.record))]
    found = {_key(battle): battle for rows in (_votes(votes), _of_pairs(others)) for battle in rows}
    wanted = {one.key for one in matched}
    return {key: battle for key, battle in found.items() if key in wanted}


def _votes(matched: Sequence[Matched]) -> Iterable[Battle]:
    if not matched:
        return ()
    ballots, boards = {one.key[4] for one in matched}, {one.key[0] for one in matched}
    rows = Battle.objects.filter(ballot__in=ballots, shown_left_first__isnull=False, board__in=boards)
    return rows.filter(sample__in={one.key[3] for one in matched}).order_by().select_related("sample")


def _of_pairs(matched: Sequence[Matched]) -> Iterable[Battle]:
    samples: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for board, left, right, sample, _ballot in (one.key for one in matched):
        samples[board, left, right].add(sample)
    pairs = sorted(samples)
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        chosen = pairs[start : start + PAIRS_AT_ONCE]
        wanted = (Q(board=b, left=i, right=j, sample__in=samples[b, i, j]) for b, i, j in chosen)
        yield from Battle.objects.filter(reduce(or_, wanted)).order_by().select_related("sample")


def _key(battle: Battle) -> Key:
    return battle.board_id, battle.left_id, battle.right_id, battle.sample_id, battle.ballot


def _is_cast(record: Record) -> bool:
    """Whether it is stored with its sides; without the time of the vote it would count as one still to be cast."""
    return record.a_shown_first is not None and record.judged is not None


def _side(one: Matched, said: str | None = None) -> str:
    """The winner in terms of the battle's sides."""
    said = one.placed.record.winner if said is None else said
    sides = {"a": Battle.Winner.LEFT, "b": Battle.Winner.RIGHT}
    if not one.left_is_a:
        sides = {"a": Battle.Winner.RIGHT, "b": Battle.Winner.LEFT}
    return str(sides.get(said, said))


def _verdicts(one: Matched) -> list[Verdict]:
    return [
        Verdict(
            order=Verdict.Order.ORIGINAL if call.a_first is one.left_is_a else Verdict.Order.SWAPPED,
            winner=_side(one, call.winner),
            scores=dict(call.scores) if call.scores else None,
            confidence=call.confidence,
            rationale=call.rationale,
            unread_reason=call.unread_reason,
            raw=call.raw,
        )
        for call in one.placed.record.calls
    ]
