"""What came of votes: how far a voter is on a board, whom they preferred, and what others said of the same pair."""

from collections import Counter
from dataclasses import dataclass

from django.core.cache import caches
from django.db.models import Count, F, QuerySet, Sum

from experiments.models import Battle, Board, Contestant, PairCount
from leaderboard.votes import voting
from leaderboard.votes.voters import Voter

PAIRS_KEPT = 60  # seconds for which the number of a board's pairs is remembered
OUTCOMES = {"left": "left_wins", "right": "right_wins", "tie": "ties", "both_bad": "both_bad"}


@dataclass(frozen=True, slots=True)
class Progress:
    """votes: that the voter has cast. pairs: of outputs that can be compared."""

    votes: int
    pairs: int

    @property
    def left(self) -> int:
        return max(self.pairs - self.votes, 0)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many votes there are for each choice, on the sides as they were shown to the voter who asks."""

    first: int
    second: int
    tie: int
    both_bad: int

    @property
    def votes(self) -> int:
        return self.first + self.second + self.tie + self.both_bad


@dataclass(frozen=True, slots=True)
class Preferred:
    """wins: how often the voter preferred the contestant; votes: of so many in which it took part."""

    contestant: Contestant
    wins: int
    votes: int

    @property
    def rate(self) -> float:
        return self.wins / self.votes


def progress_of(voter: Voter, board: Board) -> Progress:
    cast = _cast(voter, board).filter(left__void_reason="", right__void_reason="")
    pairs = caches["memory"].get_or_set(f"votes:pairs:{board.pk}", lambda: _count_pairs(board), PAIRS_KEPT)
    return Progress(cast.count(), pairs or 0)


def preferred_by(voter: Voter, board: Board) -> list[Preferred]:
    """The contestants on which they voted, those that they preferred most often first."""
    wins: Counter[int] = Counter()
    votes: Counter[int] = Counter()
    counted = _cast(voter, board).order_by().values_list("left", "right", "winner").annotate(n=Count("pk"))
    for left, right, winner, n in counted:
        votes.update({left: n, right: n})
        wins.update({key: n for key, side in ((left, "left"), (right, "right")) if side == winner})
    known = Contestant.objects.in_bulk(list(votes))
    rows = [Preferred(known[key], wins[key], votes[key]) for key in votes]
    return sorted(rows, key=lambda row: (-row.rate, -row.votes, str(row.contestant)))


def said_by_others(vote: Battle) -> Tally:
    """The votes of others on the same two outputs."""
    same = Battle.objects.filter(board=vote.board_id, left=vote.left_id, right=vote.right_id, sample=vote.sample_id)
    counts = same.counted().exclude(pk=vote.pk).order_by().values_list("winner").annotate(n=Count("pk"))
    return _as_shown(vote, dict(counts))


def said_of_contestants(vote: Battle) -> Tally:
    """All votes on these two contestants, the voter's own included."""
    rows = PairCount.objects.filter(board=vote.board_id, left=vote.left_id, right=vote.right_id)
    sums = rows.aggregate(**{winner: Sum(column) for winner, column in OUTCOMES.items()})
    return _as_shown(vote, {winner: n or 0 for winner, n in sums.items()})


def _as_shown(vote: Battle, counts: dict[str, int]) -> Tally:
    first, second = ("left", "right") if vote.shown_left_first else ("right", "left")
    return Tally(*(counts.get(winner, 0) for winner in (first, second, "tie", "both_bad")))


def _cast(voter: Voter, board: Board) -> QuerySet[Battle]:
    return voting.of_voter(voter).filter(board=board).exclude(winner="")


def _count_pairs(board: Board) -> int:
    outputs = voting.comparable().filter(contestant__dataset=board.dataset_id, contestant__void_reason="")
    of_samples = outputs.order_by().values("sample").annotate(n=Count("pk"))
    return (of_samples.aggregate(twice=Sum(F("n") * (F("n") - 1)))["twice"] or 0) // 2
