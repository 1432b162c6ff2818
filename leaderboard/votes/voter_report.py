"""The voters of a dataset, for those who decide what counts: how many votes, how fast, how they lean, and marks; and
excluding all votes of one of them.

A person goes by their name, a visitor and who voted elsewhere by a word that leads nowhere else. The report does not
say what anyone voted on.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from accounts import audit
from accounts.errors import Invalid
from accounts.models import User
from experiments.models import Battle, Board, Dataset
from experiments.models.battles import BattleQuerySet
from experiments.tasks import clock
from experiments.workflows.battles.campaign import counting
from experiments.workflows.battles.campaign.boards import PEOPLE
from experiments.workflows.battles.campaign.voiding import LONGEST_REASON, refuse_others
from leaderboard.boards.bias import in_shown_order
from leaderboard.ratings import Reason, Undefined, outliers
from leaderboard.ratings.intervals import widening
from leaderboard.ratings.outliers import FEWEST_PAUSES, LEFT, NEITHER, RIGHT, Mark, Voter

MOST_VOTES = 100_000
ANSWER = {"left": LEFT, "right": RIGHT, "tie": NEITHER, "both_bad": NEITHER}
COLUMNS = ("cast_by", "left", "right", "sample", "winner", "shown_left_first", "judged", "void_reason")
DAY = timedelta(days=1)
OF_A_PERSON = "user:"
OF_AN_IMPORT = ("elsewhere:", "log:")
LETTERS_OF_A_WORD = 8
WITH_VOTER = "Voter left out: "  # how the void_reason of a vote begins that is excluded with its voter
AT_ONCE = 500  # rows per UPDATE

MARKS: dict[Mark, Promise] = {
    Mark.ONE_SIDED: gettext_lazy("chooses one side"),
    Mark.AGAINST_OTHERS: gettext_lazy("against the others"),
    Mark.TOO_FAST: gettext_lazy("too fast to look"),
    Mark.TOO_MANY: gettext_lazy("a large part of all votes"),
}


@dataclass(frozen=True, slots=True)
class NamedVoter:
    """word: names them in the report and nowhere else. user: None for a visitor, for a person whose account is gone,
    and for who voted elsewhere.
    """

    word: str
    user: User | None
    is_person: bool
    is_elsewhere: bool

    @classmethod
    def of(cls, board: Board, ballot: str, user: User | None) -> Self:
        is_person, is_elsewhere = ballot.startswith(OF_A_PERSON), ballot.startswith(OF_AN_IMPORT)
        return cls(pseudonym_of(board, ballot), user, is_person, is_elsewhere)

    @property
    def is_visitor(self) -> bool:
        return not self.is_person and not self.is_elsewhere

    @property
    def name(self) -> str:
        if self.user is not None:
            return self.user.get_username()
        short = {"word": self.word[:LETTERS_OF_A_WORD]}
        if self.is_elsewhere:
            return _("person elsewhere %(word)s") % short
        return (_("visitor %(word)s") if self.is_visitor else _("deleted account %(word)s")) % short


@dataclass(frozen=True, slots=True)
class VoterLine:
    """A voter in the report. left_out: so many votes of theirs are left out together; reason: why."""

    who: NamedVoter
    found: Voter
    last_day: int
    left_out: int
    reason: str

    @property
    def marks(self) -> tuple[Mark, ...]:
        return self.found.marks

    @property
    def mark_words(self) -> list[str]:
        """What is unlike other voters."""
        return [str(MARKS[mark]) for mark in self.marks]

    @property
    def pace_reason(self) -> str:
        """Why there is no pace; empty where there is."""
        return _("fewer than %(n)s pauses") % {"n": FEWEST_PAUSES} if isinstance(self.found.pace, Undefined) else ""

    @property
    def agreement_reason(self) -> str:
        """Why it is not known how far the voter agrees with the others; empty where it is."""
        if self.found.agreement.of:
            return ""
        has_others = self.found.with_others.part
        return _("the others did not agree") if has_others else _("no other person voted on the same outputs")


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
    lines: tuple[VoterLine, ...]

    @property
    def widening_reason(self) -> str:
        """Why it is not known how much wider intervals are by voter; empty where it is."""
        if not isinstance(self.widening, Undefined):
            return ""
        is_one = self.widening.reason == Reason.TOO_FEW_UNITS
        return _("one voter is not enough") if is_one else _("no rating that could vary")


def boards_of_votes(dataset: Dataset) -> list[Board]:
    """That of people who vote here first, then those of people who voted elsewhere."""
    found = dataset.boards.filter(kind=Board.Kind.PEOPLE).select_related("dataset").order_by("pk")
    return sorted(found, key=lambda board: board.judge != PEOPLE)


def report(dataset: Dataset, *, by: User, board: Board | None = None) -> Report:
    """On the votes of a board, the first one of `boards_of_votes` where none is given. Raises Forbidden for who may not
    leave votes out.
    """
    refuse_others(dataset, by)
    board = board or next(iter(boards_of_votes(dataset)), None)
    if board is None:
        return Report(0, 0, None, Undefined(Reason.NO_BATTLES), True, ())
    rows = list(_votes(board).by_voter().order_by("-pk").values_list(*COLUMNS)[: MOST_VOTES + 1])
    is_whole, rows = len(rows) <= MOST_VOTES, rows[:MOST_VOTES]
    ballots = {ballot: number for number, ballot in enumerate(dict.fromkeys(row[0] for row in rows))}
    items = {item: number for number, item in enumerate(dict.fromkeys(row[1:4] for row in rows))}
    counts = np.array([not row[7] for row in rows], dtype=bool)
    found = outliers.voters(
        [ballots[row[0]] for row in rows],
        [items[row[1:4]] for row in rows],
        [ANSWER[row[4]] for row in rows],
        [np.nan if row[5] is None else row[5] for row in rows],
        [row[6].timestamp() if row[6] else np.nan for row in rows],
        counts,
    )
    # Ratings are made of votes that count, on contestants that count, but not of “both bad”.
    rated = set(dataset.contestants.filter(void_reason="").values_list("pk", flat=True))
    used = [row for row in rows if row[4] != "both_bad" and not row[7] and {row[1], row[2]} <= rated]
    battles, samples, _shown = in_shown_order((*row[1:4], True, row[4]) for row in used)
    wider = widening(battles, [ballots[row[0]] for row in used], beside=samples)
    lines = _lines(board, list(ballots), found)
    lines.sort(key=lambda line: (-len(line.marks), -line.found.votes, line.who.word))
    effective = outliers.effective([one.counted for one in found])
    return Report(len(rows), int(counts.sum()), effective, wider, is_whole, tuple(lines))


def exclude_voter(dataset: Dataset, word: str, *, by: User, reason: str) -> int:
    """Exclude all votes that count now of the voter whom a word of the report names; votes cast later count.

    Returns how many votes this call excluded. Raises Forbidden for users who may not; Invalid without a reason, and
    for a word that names no voter.
    """
    board, ballot, name = _ballot_of(dataset, word, by)
    said = reason.replace("\0", "").strip()
    if not said:
        raise Invalid(reason=_("Give a reason for excluding the votes. Everybody who sees one of them can read it."))
    changes = {"void_reason": f"{WITH_VOTER}{said}"[:LONGEST_REASON], "voided": timezone.now(), "voided_by": by}
    with transaction.atomic():
        found = _locked(Battle.objects.filter(board=board).counted(), ballot)
        if found:
            counting.count(board.pk, found, by=-1)
            _update(found, changes)
            subject = f"{board} · {name}"
            audit.record(
                audit.Action.VOIDED, by=by, of=board, name=subject, votes=len(found), reason=said[:LONGEST_REASON]
            )
    return len(found)


def restore_voter(dataset: Dataset, word: str, *, by: User) -> int:
    """Let the votes count again that were excluded with their voter; a vote that was voided by itself stays void.

    Returns how many votes count again by this call. Raises Forbidden; Invalid for a word that names no voter.
    """
    board, ballot, name = _ballot_of(dataset, word, by)
    with transaction.atomic():
        found = _locked(_excluded(Battle.objects.filter(board=board)), ballot)
        if found:
            _update(found, {"void_reason": "", "voided": None, "voided_by": None})
            for vote in found:
                vote.void_reason = ""
            counting.count(board.pk, found)
            audit.record(audit.Action.RESTORED, by=by, of=board, name=f"{board} · {name}", votes=len(found))
    return len(found)


def pseudonym_of(board: Board, ballot: str) -> str:
    """Names a voter in the report: not as exported logs do, so a person's votes cannot be found there by it."""
    said = f"voter of the report/{board.pk}/{ballot}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), said, hashlib.sha256).hexdigest()[:16]


def _votes(board: Board) -> BattleQuerySet:
    return Battle.objects.filter(board=board).exclude(ballot="").decided()


def _lines(board: Board, ballots: Sequence[str], found: Sequence[Voter]) -> list[VoterLine]:
    votes = _votes(board).order_by()
    lately = Count("pk", filter=Q(judged__gte=clock.ago(DAY)))
    said = votes.by_voter().values("cast_by").annotate(lately=lately, person=Max("voter"))
    known = {ballot: (n, person) for ballot, n, person in said.values_list("cast_by", "lately", "person")}
    out = _excluded(votes).by_voter().values("cast_by").annotate(n=Count("pk"), reason=Max("void_reason"))
    left_out = {ballot: (n, reason) for ballot, n, reason in out.values_list("cast_by", "n", "reason")}
    users = User.objects.in_bulk([person for _lately, person in known.values() if person])
    lines = []
    for ballot, one in zip(ballots, found, strict=True):
        (last_day, person), (votes_out, reason) = known.get(ballot, (0, None)), left_out.get(ballot, (0, ""))
        who = NamedVoter.of(board, ballot, users.get(person))
        lines.append(VoterLine(who, one, last_day, votes_out, reason.removeprefix(WITH_VOTER)))
    return lines


def _ballot_of(dataset: Dataset, word: str, by: User) -> tuple[Board, str, str]:
    """The board, the ballot that a word of the report names, and what the audit log calls its voter."""
    refuse_others(dataset, by)
    for board in boards_of_votes(dataset):
        ballots = _votes(board).order_by().by_voter().values_list("cast_by", flat=True).distinct().iterator()
        if ballot := next((one for one in ballots if pseudonym_of(board, one) == word), ""):
            vote = _votes(board).of_voter(ballot).filter(voter__isnull=False).select_related("voter").first()
            with override("en"):
                return board, ballot, NamedVoter.of(board, ballot, vote.voter if vote else None).name
    raise Invalid(voter=_("No voter here has this name. Reload the page."))


def _excluded(votes: BattleQuerySet) -> BattleQuerySet:
    """Those that were excluded with their voter."""
    return votes.filter(void_reason__startswith=WITH_VOTER).exclude(winner="")


def _locked(votes: BattleQuerySet, ballot: str) -> list[Battle]:
    """The votes of a ballot, locked in the order of their keys, so that two transactions cannot deadlock."""
    rows = votes.of_voter(ballot).select_related("sample")
    return list(rows.select_for_update(of=("self",)).order_by("pk"))


def _update(votes: list[Battle], changes: dict[str, object]) -> None:
    for start in range(0, len(votes), AT_ONCE):
        part = [vote.pk for vote in votes[start : start + AT_ONCE]]
        Battle.objects.filter(pk__in=part).update(**changes)
