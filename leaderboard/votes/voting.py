"""Blind votes: a pair is offered to somebody on sides that are drawn, and they say once which output is better."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import numpy as np
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from experiments.models import Battle, Board, Contestant, Dataset, Output, PairCount, Sample
from experiments.models.refusals import NotAllowed, NotOffered, Rivalled, SaidAlready
from experiments.tasks import clock
from experiments.workflows.battles.campaign import boards, counting
from leaderboard.ratings import Table, fit
from leaderboard.ratings.values import FloatArray
from leaderboard.votes.voters import Voter, refuse_beyond_limit, refuse_crowds, votable

CHOICES = ("first", "second", "tie", "both_bad")
OFFER_LASTS = timedelta(days=1)
SIGNER = Signer(salt="experiments.votes")

Side = Literal["first", "second"]


@dataclass(frozen=True, slots=True)
class Shown:
    """An offer as the voter sees it: nothing in it says whose the outputs are. token: names the offer in addresses."""

    token: str
    sample: Sample
    first: Output
    second: Output


def offer(dataset: Dataset, *, voter: Voter) -> Battle | None:
    """The pair that is to be voted on now: the one offered before, until it was voted on. None when none is left.

    Raises NotAllowed for who may not vote here, EnoughForNow beyond the limits.
    """
    _refuse_strangers(dataset, voter)
    board = boards.people_board(dataset)
    if waiting := _waiting(board, voter):
        return waiting
    refuse_beyond_limit(voter)
    refuse_crowds(voter)
    with transaction.atomic():
        Board.objects.select_for_update().get(pk=board.pk)  # a second tab finds the offer of the first
        return _waiting(board, voter) or _made(board, voter)


def cast(battle: Battle, *, voter: Voter, choice: str) -> Battle:
    """Say which is better, on the sides as they were shown. The same choice again changes nothing.

    Raises NotOffered for another word or another one's offer, SaidAlready when something else was said, Rivalled when
    the offer is older than a day or has been taken back, NotAllowed and EnoughForNow as `offer` does.
    """
    if choice not in CHOICES or not voter.has_ballot or battle.ballot != voter.ballot:
        raise NotOffered(_("Choose one of: %(choices)s.") % {"choices": ", ".join(CHOICES)})
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
        raise Rivalled(_("This pair was offered too long ago, so the vote was not taken. Ask for another one."))
    if said.winner != winner:
        raise SaidAlready(_("You have already voted on this pair. Your first vote counts."))
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


def shown(battle: Battle) -> Shown:
    """Both outputs in the sequence that was drawn. Raises Output.DoesNotExist when one has gone since."""
    made = {one.contestant_id: one for one in _outputs_of(battle)}
    sides = [battle.left_id, battle.right_id] if battle.shown_left_first else [battle.right_id, battle.left_id]
    if any(side not in made for side in sides):
        raise Output.DoesNotExist
    return Shown(SIGNER.sign(str(battle.pk)), battle.sample, made[sides[0]], made[sides[1]])


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
    old = Q(created__lt=clock.ago(OFFER_LASTS), winner="")
    return _withdraw(Battle.objects.filter(old, shown_left_first__isnull=False, judged__isnull=True))


def _refuse_strangers(dataset: Dataset, voter: Voter) -> None:
    if not voter.has_ballot or not votable(voter.user).filter(pk=dataset.pk).exists():
        raise NotAllowed(_("No votes are taken here: sign in, or ask the owner of the dataset."))


def _open(board: Board, voter: Voter) -> QuerySet[Battle]:
    """What waits for their vote, as long as it holds: not all that is too old has been forgotten yet."""
    rows = Battle.objects.filter(board=board, ballot=voter.ballot, winner="", void_reason="")
    rows = rows.filter(created__gte=clock.ago(OFFER_LASTS))
    return rows.filter(shown_left_first__isnull=False, judged__isnull=True)


def _waiting(board: Board, voter: Voter) -> Battle | None:
    """What was offered and is still to be voted on; an offer whose outputs have gone is taken back."""
    for battle in _open(board, voter).select_related("sample", "board__dataset").order_by("pk"):
        if have_outputs(battle):
            return battle
        _withdraw(_open(board, voter).filter(pk=battle.pk))
    return None


def _withdraw(offers: QuerySet[Battle]) -> int:
    """Remove offers, but none that is voted on at this moment: the rows are held until they are gone."""
    with transaction.atomic():
        held = list(offers.select_for_update(skip_locked=True).values_list("pk", flat=True))
        return Battle.objects.filter(pk__in=held).delete()[0] if held else 0


def _made(board: Board, voter: Voter) -> Battle | None:
    task = next_pair(board, voter.ballot)
    if task is None:
        return None
    sample, left, right = task
    sides = bool(secrets.randbits(1))
    return Battle.objects.create(
        board=board, sample_id=sample, left_id=left, right_id=right, ballot=voter.ballot, shown_left_first=sides
    )


def _outputs_of(battle: Battle) -> QuerySet[Output]:
    pair = [battle.left_id, battle.right_id]
    return Output.objects.filter(sample=battle.sample_id, contestant__in=pair).select_related("image", "contestant")


PAIRS_TRIED = 40
UNRATED = 1000.0

Task = tuple[int, int, int]  # keys of the sample, of the left and of the right contestant


def next_pair(board: Board, ballot: str) -> Task | None:
    """The pair with the fewest votes, of these the closest in rating, on a sample that the ballot has not seen.

    Where it has seen them all, a pair on a sample that it has not voted on. None when nothing is left.
    """
    standing = board.dataset.contestants.filter(void_reason="")
    keys = sorted(standing.filter(Exists(_outputs().filter(contestant=OuterRef("pk")))).values_list("pk", flat=True))
    mine = Battle.objects.filter(board=board, ballot=ballot, shown_left_first__isnull=False)
    unseen = _outputs().exclude(sample__in=mine.values("sample"))
    for _number, (left, right) in zip(range(PAIRS_TRIED), pairs_by_need(board, keys), strict=False):
        if sample := _common(unseen, left, right):
            return sample, left, right
    return _any(unseen, keys, mine) or _any(_outputs(), keys, mine)


def pairs_by_need(board: Board, keys: list[int]) -> Iterator[tuple[int, int]]:
    """All pairs of these contestants' keys, which rise: those with the fewest votes first, among them the closest."""
    votes, gaps = _known(board, keys)
    lefts, rights = np.triu_indices(len(keys), k=1)
    lots = np.random.default_rng(secrets.randbits(64)).random(len(lefts))
    for place in np.lexsort((lots, gaps[lefts, rights], votes[lefts, rights])):
        yield keys[lefts[place]], keys[rights[place]]


def pair_table(board: Board, keys: list[int]) -> Table:
    """How these contestants fared against each other on a board, in the sequence of their keys."""
    return _tables(board, keys)[0]


def _known(board: Board, keys: list[int]) -> tuple[FloatArray, FloatArray]:
    """Votes on each pair, and the distance of their ratings in Elo: two tables, contestants × contestants."""
    found, votes = _tables(board, keys)
    values = fit(found).values
    ratings = np.where(np.isnan(values), UNRATED, values)
    return votes, np.abs(np.subtract.outer(ratings, ratings))


def _tables(board: Board, keys: list[int]) -> tuple[Table, FloatArray]:
    place = {key: number for number, key in enumerate(keys)}
    wins, ties, votes = (np.zeros((len(keys), len(keys))) for _table in range(3))
    for left, right, left_wins, right_wins, tied, bad in _counts(board):
        if left in place and right in place:
            i, j = place[left], place[right]
            wins[i, j], wins[j, i] = left_wins, right_wins
            ties[i, j] = ties[j, i] = tied
            votes[i, j] = votes[j, i] = left_wins + right_wins + tied + bad
    return Table(wins, ties, tuple(map(str, keys))), votes


def _counts(board: Board) -> QuerySet[PairCount, tuple[int, ...]]:
    sums = [Sum(name) for name in ("left_wins", "right_wins", "ties", "both_bad")]
    grouped = PairCount.objects.filter(board=board).order_by().values("left", "right").annotate(*sums)
    return grouped.values_list("left", "right", "left_wins__sum", "right_wins__sum", "ties__sum", "both_bad__sum")


def _outputs() -> QuerySet[Output]:
    return Output.objects.exclude(text="", image__isnull=True).order_by("sample_id")


def _common(outputs: QuerySet[Output], left: int, right: int) -> int | None:
    """A sample on which both have an output: the first from a place drawn by lot, around the end if need be."""
    ends = outputs.filter(contestant=left).order_by()
    first, last = (ends.order_by(by).values_list("sample", flat=True).first() for by in ("sample_id", "-sample_id"))
    if first is None or last is None:
        return None
    theirs = _outputs().filter(contestant=right, sample=OuterRef("sample"))
    both = outputs.filter(Exists(theirs), contestant=left).values_list("sample", flat=True)
    start = first + secrets.randbelow(last - first + 1)
    return both.filter(sample__gte=start).first() or both.filter(sample__lt=start).first()


def _any(outputs: QuerySet[Output], keys: list[int], mine: QuerySet[Battle]) -> Task | None:
    """Any pair on any of these samples that the ballot has not voted on."""
    pair = Q(left=OuterRef(OuterRef("contestant")), right=OuterRef("contestant"), sample=OuterRef("sample"))
    others = _outputs().filter(sample=OuterRef("sample"), contestant__gt=OuterRef("contestant"), contestant__in=keys)
    left_over = others.exclude(Exists(mine.filter(pair))).values("contestant")[:1]
    found = outputs.filter(contestant__in=keys).annotate(right=Subquery(left_over)).filter(right__isnull=False)
    return found.values_list("sample", "contestant", "right").first()


def have_outputs(battle: Battle) -> bool:
    """Whether there still is something to compare: both outputs, of contestants that were not left out since."""
    pair = Contestant.objects.filter(pk__in=[battle.left_id, battle.right_id], void_reason="")
    made = _outputs().filter(sample=battle.sample_id, contestant__in=pair)
    return made.filter(contestant__dataset=F("sample__dataset")).count() == 2
