"""Standings of a ladder: computed from its counts, stored and replaced as a whole, with points for its history."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.models import Battle, Board, Campaign, Contestant
from experiments.tasks import clock
from leaderboard.boards import coding, combining, contamination, council, ranking, style
from leaderboard.boards.caching import memoize
from leaderboard.boards.periods import months_of
from leaderboard.boards.standings import BOOTSTRAP, CLUSTER_ROBUST, WHOLE, Excluded, Row, Slice, Standings
from leaderboard.boards.titles import board_title
from leaderboard.models import Ladder, RatingPoint, Standing

BATTLES = "battles"
INLINE_SECONDS = 0.1  # a ladder that takes longer than this is computed by workers alone, and shown as they left it
HISTORY_APART = timedelta(minutes=10)
MOST_MOMENTS = 240  # when there are more, every second one without an occasion is left out
HISTORY_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Current:
    """Standings with when they were computed, and by how many changes the board is ahead of them."""

    standings: Standings
    computed: datetime
    behind: int = 0


def ensure_ladder(board: Board) -> Ladder:
    """The board's ladder, made when it is new."""
    with override("en"):
        title = board_title(board)[:250]
    made = {"slug": board.slug, "title": title, "workflow": BATTLES}
    return Ladder.objects.get_or_create(board=board, defaults=made)[0]


def standings(ladder: Ladder, of: Slice = WHOLE, *, bootstrapped: bool = False, is_awaited: bool = False) -> Standings:
    """Compute a ladder, or one slice of it, from the counts of its pairs; one of runs from their ballots or cycles.
    Raises Invalid for a slice that cannot be computed.

    bootstrapped: intervals of resamples, with a seed that is always the same, in place of the closed form.
    is_awaited: whether a page waits, so that no more battles are read than there is time for.
    """
    board = ladder.board
    if board is None:
        if of.chosen:
            said = _("This board is made from runs, so it cannot be filtered by %(names)s.")
            raise Invalid({name: [said % {"names": name}] for name in of.chosen})
        return coding.standings() if ladder.workflow == coding.WORKFLOW else council.standings()
    changes = Board.objects.values_list("changes", flat=True).get(pk=board.pk)  # read first: counts may only be newer
    slices = ranking.slices_of(board)
    counts = ranking.counts_of(board, of, slices)
    table = counts.table
    most = ranking.MOST_READ if is_awaited else float("inf")
    closed = ranking.board_intervals(board, counts, of, most=most)
    rounds = ranking.rounds_for(len(counts.contestants)) if bootstrapped else 0
    found = ranking.ranking_of(ranking.resampled(table, closed, rounds) if rounds else closed, table)
    if ranking.to_read(counts) <= most:
        periods = months_of(board)
    else:
        periods = kept.periods if (kept := Standings.stored(ladder)) else ()
    described = {
        one.name: Row(
            name=one.name,
            label=one.label,
            link=one.link,
            contestant=one.pk,
            version=one.version,
            is_simulated=one.model is not None and one.model.provider.is_simulated,
        )
        for one in counts.contestants
    }
    excluded = Contestant.objects.filter(dataset=board.dataset_id, pk__in=counts.excluded).order_by("name")
    both_ways = {name: getattr(counts, name) for name in ("both_bad", "consistent", "inconsistent")}
    totals: dict[str, Any] = {name: int(one.sum()) // 2 for name, one in (both_ways | {"ties": table.ties}).items()}
    return Standings(
        changes=changes,
        **of._asdict(),
        **slices._asdict(),
        periods=periods,
        components=len(found.intervals.ratings.components),
        rows=tuple(ranking.rows_of(table, found, described, counts)),
        excluded=tuple(Excluded(one.name, one.label, one.void_reason, counts.excluded[one.pk]) for one in excluded),
        method=BOOTSTRAP if rounds else CLUSTER_ROBUST,
        rounds=rounds,
        seed=ranking.SEED if rounds else 0,
        widths={} if is_awaited else ranking.widths_of(table, closed),
        battles=int(table.wins.sum()) + totals["ties"] + totals["both_bad"],
        **totals,
    )


def refresh(ladder: Ladder) -> bool:
    """Compute the ladder and keep what was found, unless what is kept is newer. Returns whether it was kept."""
    began = time.thread_time()  # a busy machine makes no ladder a long one
    found = standings(ladder)
    seconds = time.thread_time() - began
    new = {"changes": found.changes, "data": found.as_json(), "computed": clock.now(), "seconds": seconds}
    with transaction.atomic():
        standing, is_new = Standing.objects.get_or_create(ladder=ladder, defaults=new)
        older = {"changes__lte": found.changes} if ladder.board else {}  # others say what they were made of
        kept = is_new or Standing.objects.filter(pk=standing.pk, **older).update(**new)
        if kept and ladder.workflow != coding.WORKFLOW:  # whose history is played again from its cycles
            note_history(ladder, found)
    if ladder.board:
        style.measure(ladder.board.dataset)
    return bool(kept)


def current(ladder: Ladder, of: Slice = WHOLE, *, bootstrapped: bool = False) -> Current:
    """What pages show: what is stored while it is the newest, else computed at once, where that takes little time.

    A slice is computed when it is asked for, once per state of the ladder. Raises Invalid for one that cannot be.
    """
    kept, behind = Standings.stored(ladder), _behind(ladder)
    is_whole = not of.chosen and (ladder.board is None or not bootstrapped)
    if ladder.stored and kept and is_whole and (not behind or takes_long(ladder)):
        return Current(kept, ladder.stored.computed, behind)

    def compute() -> Current:
        found = standings(ladder, of, bootstrapped=bootstrapped, is_awaited=True)
        return Current(found, timezone.now())

    return memoize("standings", (ladder.slug, state_of(ladder), of, bootstrapped), compute)


def styled(ladder: Ladder, names: tuple[str, ...], of: Slice = WHOLE) -> style.StyleControl:
    """The ladder with these covariates held equal, computed once per state of it. Raises as `style.adjusted`."""
    return memoize("style", (ladder.slug, state_of(ladder), of, names), lambda: style.adjusted(ladder, names, of))


def combined(
    ladder: Ladder, beside: Sequence[Ladder], asked: combining.Combination, of: Slice = WHOLE
) -> combining.Combined:
    """The ladder with the battles of the others, once per state of all of them. Raises as `combining.combined`."""
    boards = combining.boards_beside(ladder, beside)
    states = [state_of(one) for one in (ladder, *beside)]
    key = (ladder.slug, states, of, asked, get_language())
    return memoize("combined", key, lambda: combining.combined(boards, asked, of))


def unseen(ladder: Ladder, of: Slice = WHOLE) -> contamination.Unseen:
    """The ladder from unseen samples alone, once per state of it. Raises as `contamination.unseen`."""
    return memoize("unseen", (ladder.slug, state_of(ladder), of), lambda: contamination.unseen(ladder, of))


def state_of(ladder: Ladder) -> str:
    """Changes whenever what the ladder shows does: of one that takes long, when a worker has computed it again."""
    kept = f"{ladder.stored.changes}@{ladder.stored.computed.timestamp()}" if ladder.stored else ""
    shown = (ladder.title, ladder.is_public, ladder.withdrawn_reason)
    if ladder.board is None:
        newest = coding.newest() if ladder.workflow == coding.WORKFLOW else council.newest()
        return repr((ladder.pk, kept, newest, shown))
    dataset = ladder.board.dataset
    changes = bool(_behind(ladder)) if takes_long(ladder) else ladder.board.changes
    return repr((ladder.pk, kept, changes, shown, dataset.name, dataset.visibility))


def takes_long(ladder: Ladder) -> bool:
    """Whether computing it took more time than a page should wait."""
    return ladder.stored is not None and ladder.stored.seconds > INLINE_SECONDS


def is_stale(ladder: Ladder) -> bool:
    return Standings.stored(ladder) is None or _behind(ladder) > 0


def _behind(ladder: Ladder) -> int:
    """By how many changes the board, or by how many cycles what counts, is ahead of what is stored. Of the council, see
    `council.source`, which only workers look at.
    """
    if ladder.stored is None:
        return 0
    if ladder.workflow == coding.WORKFLOW:
        kept = Standings.stored(ladder)
        return coding.cycles_behind(kept.contest, kept.rests_on) if kept else 1
    return 0 if ladder.board is None else ladder.board.changes - ladder.stored.changes


# --- history ---


def note_history(ladder: Ladder, found: Standings) -> None:
    """Add a point for each rated contestant, when the last one is old enough or a campaign has ended since."""
    now = timezone.now()
    last = ladder.points.aggregate(at=Max("at"))["at"]
    occasion = ended_since(ladder, last)
    if not found.rated or (last is not None and now - last < HISTORY_APART and not occasion):
        return
    if last is not None and not occasion:
        kept = dict(ladder.points.filter(at=last).values_list("name", "battles"))
        if kept == {row.name: row.battles for row in found.rated}:
            return

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, HISTORY_DIGITS)

    points = [
        RatingPoint(
            ladder=ladder,
            at=now,
            occasion=occasion,
            name=row.name,
            rating=rounded(row.rating) or 0.0,
            lower=rounded(row.lower),
            upper=rounded(row.upper),
            battles=row.battles,
        )
        for row in found.rated
    ]
    RatingPoint.objects.bulk_create(points, batch_size=500)
    moments = list(ladder.points.order_by("at").values_list("at", "occasion").distinct())
    if len(moments) > MOST_MOMENTS:
        plain = [at for at, campaign in moments[:-1] if not campaign]
        ladder.points.filter(at__in=plain[1::2]).delete()


def ended_since(ladder: Ladder, last: datetime | None) -> str:
    """The version of a campaign that battled on this board and has come to its end after `last`; empty for none.

    A campaign without a version is named by the day of its end: its title is private, the history public.
    """
    if ladder.board is None:
        return ""
    ended = Campaign.objects.filter(ended__isnull=False, experiment__config__dataset=ladder.board.dataset.slug)
    if last is not None:
        ended = ended.filter(ended__gt=last)
    for campaign in ended.select_related("experiment").order_by("-ended"):
        if Battle.objects.filter(experiment=campaign.experiment_id, board=ladder.board_id).exists():
            return str(campaign.experiment.config.get("version") or f"{campaign.ended:%Y-%m-%d}")[:120]
    return ""
