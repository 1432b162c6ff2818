"""Blind votes: a pair is offered to somebody on sides that are drawn, and they say once which output is better."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import AlreadyAnswered, Conflict, Forbidden, Invalid
from experiments.models import Battle, Board, Dataset, Output, Sample
from experiments.tasks import clock
from experiments.workflows.battles.campaign import boards, counting, pairing
from experiments.workflows.battles.campaign.voters import Voter, refuse_beyond_limit, refuse_crowds, votable

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

    Raises Forbidden for who may not vote here, RateLimited beyond the limits.
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
        raise Conflict(_("This pair was offered too long ago, so the vote was not taken. Ask for another one."))
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


def shown(battle: Battle) -> Shown:
    """Both outputs in the sequence that was drawn. Raises Output.DoesNotExist when one has gone since."""
    made = {one.contestant_id: one for one in _of(battle)}
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
        raise Forbidden(_("No votes are taken here: sign in, or ask the owner of the dataset."))


def _open(board: Board, voter: Voter) -> QuerySet[Battle]:
    """What waits for their vote, as long as it holds: not all that is too old has been forgotten yet."""
    rows = Battle.objects.filter(board=board, ballot=voter.ballot, winner="", void_reason="")
    rows = rows.filter(created__gte=clock.ago(OFFER_LASTS))
    return rows.filter(shown_left_first__isnull=False, judged__isnull=True)


def _waiting(board: Board, voter: Voter) -> Battle | None:
    """What was offered and is still to be voted on; an offer whose outputs have gone is taken back."""
    for battle in _open(board, voter).select_related("sample", "board__dataset").order_by("pk"):
        if pairing.have_outputs(battle):
            return battle
        _withdraw(_open(board, voter).filter(pk=battle.pk))
    return None


def _withdraw(offers: QuerySet[Battle]) -> int:
    """Remove offers, but none that is voted on at this moment: the rows are held until they are gone."""
    with transaction.atomic():
        held = list(offers.select_for_update(skip_locked=True).values_list("pk", flat=True))
        return Battle.objects.filter(pk__in=held).delete()[0] if held else 0


def _made(board: Board, voter: Voter) -> Battle | None:
    task = pairing.task(board, voter.ballot)
    if task is None:
        return None
    sample, left, right = task
    sides = bool(secrets.randbits(1))
    return Battle.objects.create(
        board=board, sample_id=sample, left_id=left, right_id=right, ballot=voter.ballot, shown_left_first=sides
    )


def _of(battle: Battle) -> QuerySet[Output]:
    pair = [battle.left_id, battle.right_id]
    return Output.objects.filter(sample=battle.sample_id, contestant__in=pair).select_related("image", "contestant")
