"""The voters of a dataset, for those who decide what counts: how many votes, how fast, how they lean, and marks.

A person goes by their name, a visitor by a word that leads nowhere else. Nobody is told here what somebody voted on.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from experiments.models import Battle, Board, Dataset
from experiments.tasks import clock
from experiments.workflows.battles.campaign.voiding import of_voters_left_out, reason_of, refuse_others
from leaderboard.ratings import Battles, Reason, Undefined, outliers
from leaderboard.ratings.intervals import widening
from leaderboard.ratings.outliers import LEFT, NEITHER, RIGHT, Mark, Voter

Row = tuple[Any, ...]  # a vote by COLUMNS

MOST_VOTES = 20_000
ANSWER = {"left": LEFT, "right": RIGHT, "tie": NEITHER, "both_bad": NEITHER}
COLUMNS = ("ballot", "left", "right", "sample", "winner", "shown_left_first", "judged", "void_reason")
SCORE = {"left": 1.0, "right": 0.0, "tie": 0.5}
DAY = timedelta(days=1)
OF_A_PERSON = "user:"
LETTERS_OF_A_WORD = 8


@dataclass(frozen=True, slots=True)
class Who:
    """word: names them in the report and nowhere else. user: None for a visitor, and for a person whose account is
    gone.
    """

    word: str
    user: User | None
    is_person: bool

    @property
    def name(self) -> str:
        if self.user is not None:
            return self.user.get_username()
        short = self.word[:LETTERS_OF_A_WORD]
        return (_("deleted account %(word)s") if self.is_person else _("visitor %(word)s")) % {"word": short}


@dataclass(frozen=True, slots=True)
class Line:
    """A voter in the report. left_out: so many votes of theirs are left out together; reason: why."""

    who: Who
    found: Voter
    last_day: int
    left_out: int
    reason: str

    @property
    def marks(self) -> tuple[Mark, ...]:
        return self.found.marks


@dataclass(frozen=True, slots=True)
class Report:
    """lines: who is marked first, then who has the most votes. effective: voters with equally many votes that would
    weigh as these do. widening: how many times as wide intervals would be by voter. is_whole: whether all votes were
    read.
    """

    votes: int
    counted: int
    effective: float | None
    widening: float | Undefined
    is_whole: bool
    lines: tuple[Line, ...]


def board_of_votes(dataset: Dataset) -> Board | None:
    """The board of its votes, once there is one."""
    return dataset.boards.filter(kind=Board.Kind.PEOPLE).select_related("dataset").first()


def report(dataset: Dataset, *, by: User) -> Report:
    """Raises Forbidden for who may not leave votes out."""
    refuse_others(dataset, by)
    board = board_of_votes(dataset)
    if board is None:
        return Report(0, 0, None, Undefined(Reason.NO_BATTLES), True, ())
    rows = list(_votes(board).order_by("-pk").values_list(*COLUMNS)[: MOST_VOTES + 1])
    is_whole, rows = len(rows) <= MOST_VOTES, rows[:MOST_VOTES]
    ballots = {ballot: number for number, ballot in enumerate(dict.fromkeys(row[0] for row in rows))}
    items = {item: number for number, item in enumerate(dict.fromkeys(row[1:4] for row in rows))}
    counts = np.array([not row[7] for row in rows], dtype=bool)
    found = outliers.voters(
        [ballots[row[0]] for row in rows],
        [items[row[1:4]] for row in rows],
        [ANSWER[row[4]] for row in rows],
        [row[5] for row in rows],
        [row[6].timestamp() for row in rows],
        counts,
    )
    lines = _lines(board, list(ballots), found)
    effective = outliers.effective([one.counted for one in found])
    wider = _widening(board, rows, ballots)
    return Report(len(rows), int(counts.sum()), effective, wider, is_whole, tuple(sorted(lines, key=_urgency)))


def named(board: Board, word: str) -> tuple[str, Who] | None:
    """The ballot that a word of the report names, and whose it is."""
    ballots = _votes(board).order_by().values_list("ballot", flat=True).distinct()
    ballot = next((one for one in ballots.iterator() if word_of(board, one) == word), None)
    if ballot is None:
        return None
    voter = _votes(board).filter(ballot=ballot, voter__isnull=False).select_related("voter").first()
    return ballot, _who(board, ballot, voter.voter if voter else None)


def word_of(board: Board, ballot: str) -> str:
    """Another one than in exported logs, so that nobody finds a person's votes there by it."""
    said = f"voter of the report/{board.pk}/{ballot}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), said, hashlib.sha256).hexdigest()[:16]


def _widening(board: Board, rows: Sequence[Row], ballots: Mapping[str, int]) -> float | Undefined:
    """Of the votes from which ratings are made: of contestants that are not left out, and not “both bad”."""
    rated = set(board.dataset.contestants.filter(void_reason="").values_list("pk", flat=True))
    used = [row for row in rows if row[4] in SCORE and not row[7] and row[1] in rated and row[2] in rated]
    keys = sorted({key for row in used for key in row[1:3]})
    place = {key: number for number, key in enumerate(keys)}
    battles = Battles(
        [place[row[1]] for row in used],
        [place[row[2]] for row in used],
        [SCORE[row[4]] for row in used],
        [str(key) for key in keys],
    )
    samples = np.unique([row[3] for row in used], return_inverse=True)[1].reshape(-1)
    return widening(battles, [ballots[row[0]] for row in used], beside=samples)


def _votes(board: Board) -> QuerySet[Battle]:
    return Battle.objects.filter(board=board, shown_left_first__isnull=False, judged__isnull=False).decided()


def _lines(board: Board, ballots: Sequence[str], found: Sequence[Voter]) -> list[Line]:
    votes = _votes(board).order_by()
    lately = Count("pk", filter=Q(judged__gte=clock.ago(DAY)))
    said = votes.values("ballot").annotate(lately=lately, person=Max("voter"))
    known = {ballot: (n, person) for ballot, n, person in said.values_list("ballot", "lately", "person")}
    out = of_voters_left_out(votes).values("ballot").annotate(n=Count("pk"), reason=Max("void_reason"))
    left_out = {ballot: (n, reason) for ballot, n, reason in out.values_list("ballot", "n", "reason")}
    users = User.objects.in_bulk([person for _lately, person in known.values() if person])
    lines = []
    for ballot, one in zip(ballots, found, strict=True):
        (last_day, person), (votes_out, reason) = known.get(ballot, (0, None)), left_out.get(ballot, (0, ""))
        who = _who(board, ballot, users.get(person))
        lines.append(Line(who, one, last_day, votes_out, reason_of(reason)))
    return lines


def _who(board: Board, ballot: str, user: User | None) -> Who:
    return Who(word_of(board, ballot), user, ballot.startswith(OF_A_PERSON))


def _urgency(line: Line) -> tuple[int, int, str]:
    return -len(line.marks), -line.found.votes, line.who.word
