"""Blind votes: which pair a voter is offered, on sides drawn at random, and the one vote that they cast on it."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Literal

import numpy as np
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import AlreadyAnswered, Conflict, Forbidden, Invalid
from experiments.models import Battle, Board, Contestant, Dataset, Output, PairCount, Sample
from experiments.tasks import clock
from experiments.workflows.battles.campaign import boards, counting
from leaderboard.ratings import Table, fit
from leaderboard.ratings.values import FloatArray
from leaderboard.votes.voters import Voter, refuse_beyond_limit, refuse_busy_address, votable_datasets

Side = Literal["first", "second"]
Task = tuple[int, int, int]  # keys of the sample, of the left and of the right contestant

CHOICES = ("first", "second", "tie", "both_bad")
OFFER_LASTS = timedelta(days=1)
SIGNER = Signer(salt="experiments.votes")
PAIRS_TRIED = 40
UNRATED = 1000.0


@dataclass(frozen=True, slots=True)
class ShownPair:
    """An offer as the voter sees it: nothing in it says whose the outputs are. token: names the offer in addresses."""

    token: str
    sample: Sample
    first: Output
    second: Output


def offer(dataset: Dataset, *, voter: Voter) -> Battle | None:
    """The pair that is to be voted on now: the one offered before, until it was voted on. None when none is left.

    Raises Forbidden for who may not vote here, RateLimited beyond the limits.
    """
    _refuse_strangers(dataset, voter)
    board = boards.people_board(dataset)
    if waiting := _waiting(board, voter):
        return waiting
    refuse_beyond_limit(voter)
    refuse_busy_address(voter)
    with transaction.atomic():
        Board.objects.select_for_update().get(pk=board.pk)  # a second tab finds the offer of the first
        if waiting := _waiting(board, voter):
            return waiting
        task = next_pair(board, voter.ballot)
        if task is None:
            return None
        same = {"board": board, "ballot": voter.ballot, "shown_left_first": bool(secrets.randbits(1))}
        return Battle.objects.create(**same, **dict(zip(("sample_id", "left_id", "right_id"), task, strict=True)))


def cast(battle: Battle, *, voter: Voter, choice: str) -> Battle:
    """Say which is better, on the sides as they were shown. The same choice again changes nothing.

    Raises Invalid for another word or another one's offer, AlreadyAnswered when something else was said, Conflict when
    the offer is older than a day or has been taken back, Forbidden and RateLimited as `offer` does.
    """
    if choice not in CHOICES or not voter.has_ballot or battle.ballot != voter.ballot:
        raise Invalid(choice=_("Choose one of: %(choices)s.") % {"choices": ", ".join(CHOICES)})
    winner = winner_of(battle, choice)
    if _open(battle.board, voter).filter(pk=battle.pk).exists():  # to say the same again needs no further right
        _refuse_strangers(battle.board.dataset, voter)
        refuse_beyond_limit(voter)
    with transaction.atomic():
        vote = {"winner": winner, "judged": timezone.now(), "voter": voter.user}
        is_ours = _open(battle.board, voter).filter(pk=battle.pk).update(**vote)
        said = Battle.objects.select_related("sample", "board", "left", "right").filter(pk=battle.pk).first()
        if is_ours and said:
            counting.count(said.board_id, [said])
    if said is None or not said.winner:
        raise Conflict(_("This pair was shown too long ago, so the vote was not counted. Here is another."))
    if said.winner != winner:
        raise AlreadyAnswered(_("You have already voted on this pair. Your first vote counts."))
    return said


def winner_of(battle: Battle, choice: str) -> Battle.Winner:
    """What a choice means for the battle: the first one shown is left or right, as was drawn."""
    if choice in {"tie", "both_bad"}:
        return Battle.Winner(choice)
    is_left = (choice == "first") == bool(battle.shown_left_first)
    return Battle.Winner.LEFT if is_left else Battle.Winner.RIGHT


def choice_of(battle: Battle) -> str:
    """What was chosen, in terms of what was shown; empty for an open offer."""
    if battle.winner in {"left", "right"}:
        return "first" if (battle.winner == "left") == bool(battle.shown_left_first) else "second"
    return battle.winner


def shown_pair(battle: Battle) -> ShownPair:
    """Both outputs in the sequence that was drawn. Raises Output.DoesNotExist when one has gone since."""
    sides = [battle.left_id, battle.right_id] if battle.shown_left_first else [battle.right_id, battle.left_id]
    outputs = Output.objects.filter(sample=battle.sample_id, contestant__in=sides)
    made = {one.contestant_id: one for one in outputs.select_related("image", "contestant")}
    if any(side not in made for side in sides):
        raise Output.DoesNotExist
    return ShownPair(SIGNER.sign(str(battle.pk)), battle.sample, made[sides[0]], made[sides[1]])


def by_token(token: str, *, voter: Voter) -> Battle:
    """The voter's own offer or vote. Raises Battle.DoesNotExist for everything else."""
    try:
        pk = int(SIGNER.unsign(token))
    except (BadSignature, ValueError) as error:
        raise Battle.DoesNotExist from error
    return of_voter(voter).get(pk=pk)


def of_voter(voter: Voter) -> QuerySet[Battle]:
    """All that was offered to them, cast or not."""
    rows = Battle.objects.filter(ballot=voter.ballot, shown_left_first__isnull=False)
    return rows.select_related("board__dataset", "sample", "left", "right")


def forget_old_offers() -> int:
    """Remove what was offered more than a day ago and never voted on. Returns how many offers that were."""
    old = Battle.objects.filter(created__lt=clock.ago(OFFER_LASTS), winner="")
    return _withdraw(old.filter(shown_left_first__isnull=False, judged__isnull=True))


def next_pair(board: Board, ballot: str) -> Task | None:
    """The pair with the fewest votes, of these the closest in rating, on a sample that the ballot has not seen.

    Where it has seen them all, a pair on a sample that it has not voted on. None when nothing is left.
    """
    standing = board.dataset.contestants.filter(void_reason="")
    keys = sorted(standing.filter(Exists(comparable().filter(contestant=OuterRef("pk")))).values_list("pk", flat=True))
    mine = Battle.objects.filter(board=board, ballot=ballot, shown_left_first__isnull=False)
    unseen = comparable().exclude(sample__in=mine.values("sample"))
    for left, right in islice(pairs_by_need(board, keys), PAIRS_TRIED):
        if sample := _common(unseen, left, right):
            return sample, left, right
    pair = Q(left=OuterRef(OuterRef("contestant")), right=OuterRef("contestant"), sample=OuterRef("sample"))
    others = comparable().filter(sample=OuterRef("sample"), contestant__gt=OuterRef("contestant"), contestant__in=keys)
    left_over = Subquery(others.exclude(Exists(mine.filter(pair))).values("contestant")[:1])
    for outputs in (unseen, comparable()):
        found = outputs.filter(contestant__in=keys).annotate(right=left_over).filter(right__isnull=False)
        if task := found.values_list("sample", "contestant", "right").first():
            return task
    return None


def pair_table(board: Board, keys: list[int]) -> tuple[Table, FloatArray]:
    """How these contestants fared against each other on a board, in the sequence of their keys, and how many votes
    there are on each pair.
    """
    place = {key: number for number, key in enumerate(keys)}
    wins, ties, votes = (np.zeros((len(keys), len(keys))) for _table in range(3))
    columns = ("left_wins", "right_wins", "ties", "both_bad")
    sums = {f"all_{name}": Sum(name) for name in columns}
    rows = PairCount.objects.filter(board=board).order_by().values("left", "right").annotate(**sums)
    for left, right, left_wins, right_wins, tied, bad in rows.values_list("left", "right", *sums):
        if left in place and right in place:
            i, j = place[left], place[right]
            wins[i, j], wins[j, i] = left_wins, right_wins
            ties[i, j] = ties[j, i] = tied
            votes[i, j] = votes[j, i] = left_wins + right_wins + tied + bad
    return Table(wins, ties, tuple(map(str, keys))), votes


def pairs_by_need(board: Board, keys: list[int]) -> Iterator[tuple[int, int]]:
    """All pairs of these contestants' keys, which rise: those with the fewest votes first, among them the closest in
    rating, and equals at random.
    """
    table, votes = pair_table(board, keys)
    values = fit(table).values
    ratings = np.where(np.isnan(values), UNRATED, values)
    gaps = np.abs(np.subtract.outer(ratings, ratings))
    lefts, rights = np.triu_indices(len(keys), k=1)
    lots = np.random.default_rng(secrets.randbits(64)).random(len(lefts))
    for place in np.lexsort((lots, gaps[lefts, rights], votes[lefts, rights])):
        yield keys[lefts[place]], keys[rights[place]]


def _common(outputs: QuerySet[Output], left: int, right: int) -> int | None:
    """A sample on which both have an output: the first from a random place, around the end if need be."""
    ends = outputs.filter(contestant=left).order_by()
    first, last = (ends.order_by(by).values_list("sample", flat=True).first() for by in ("sample_id", "-sample_id"))
    if first is None or last is None:
        return None
    theirs = comparable().filter(contestant=right, sample=OuterRef("sample"))
    both = outputs.filter(Exists(theirs), contestant=left).values_list("sample", flat=True)
    start = first + secrets.randbelow(last - first + 1)
    return both.filter(sample__gte=start).first() or both.filter(sample__lt=start).first()


def comparable() -> QuerySet[Output]:
    return Output.objects.exclude(text="", image__isnull=True).order_by("sample_id")


def _refuse_strangers(dataset: Dataset, voter: Voter) -> None:
    if not voter.has_ballot or not votable_datasets(voter.user).filter(pk=dataset.pk).exists():
        raise Forbidden(_("Voting is closed here. Sign in, or ask the dataset's owner."))


def _open(board: Board, voter: Voter) -> QuerySet[Battle]:
    """What waits for their vote, as long as it holds: not all that is too old has been forgotten yet."""
    rows = Battle.objects.filter(board=board, ballot=voter.ballot, winner="", void_reason="")
    rows = rows.filter(created__gte=clock.ago(OFFER_LASTS))
    return rows.filter(shown_left_first__isnull=False, judged__isnull=True)


def _waiting(board: Board, voter: Voter) -> Battle | None:
    """What was offered and is still to be voted on. An offer is taken back whose outputs have gone, or whose
    contestants were left out since.
    """
    for battle in _open(board, voter).select_related("sample", "board__dataset").order_by("pk"):
        pair = Contestant.objects.filter(pk__in=[battle.left_id, battle.right_id], void_reason="")
        made = comparable().filter(sample=battle.sample_id, contestant__in=pair)
        if made.filter(contestant__dataset=F("sample__dataset")).count() == 2:
            return battle
        _withdraw(_open(board, voter).filter(pk=battle.pk))
    return None


def _withdraw(offers: QuerySet[Battle]) -> int:
    """Remove offers, but none that is voted on at this moment: the rows are locked until they are gone."""
    with transaction.atomic():
        held = list(offers.select_for_update(skip_locked=True).values_list("pk", flat=True))
        return Battle.objects.filter(pk__in=held).delete()[0] if held else 0
