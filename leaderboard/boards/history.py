"""How ratings came about: a point per contestant now and then, and at the end of a campaign."""

from datetime import datetime, timedelta

from django.db.models import Max
from django.utils import timezone

from experiments.models import Battle, Campaign
from leaderboard.boards.standings import Standings
from leaderboard.models import Ladder, RatingPoint

APART = timedelta(minutes=10)
MOST_MOMENTS = 240  # when there are more, every second one without an occasion is left out
DIGITS = 3


def note(ladder: Ladder, found: Standings) -> None:
    """Add a point for everybody who is rated, when the last one is old enough or a campaign has ended since."""
    now = timezone.now()
    last = ladder.points.aggregate(at=Max("at"))["at"]
    occasion = ended_since(ladder, last)
    if not found.rated or (last is not None and now - last < APART and not occasion):
        return
    if last is not None and not occasion and _is_same(ladder, last, found):
        return
    points = [
        RatingPoint(
            ladder=ladder,
            at=now,
            occasion=occasion,
            name=row.name,
            rating=round(row.rating or 0.0, DIGITS),
            lower=None if row.lower is None else round(row.lower, DIGITS),
            upper=None if row.upper is None else round(row.upper, DIGITS),
            battles=row.battles,
        )
        for row in found.rated
    ]
    RatingPoint.objects.bulk_create(points, batch_size=500)
    _thin_out(ladder)


def ended_since(ladder: Ladder, last: datetime | None) -> str:
    """The version of a campaign that battled on this board and has come to its end after `last`; empty for none.

    A campaign without a version is told by the day of its end: its title is its owner's, and the history everybody's.
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


def _is_same(ladder: Ladder, last: datetime, found: Standings) -> bool:
    kept = dict(ladder.points.filter(at=last).values_list("name", "battles"))
    return kept == {row.name: row.battles for row in found.rated}


def _thin_out(ladder: Ladder) -> None:
    moments = list(ladder.points.order_by("at").values_list("at", "occasion").distinct())
    if len(moments) > MOST_MOMENTS:
        plain = [at for at, occasion in moments[:-1] if not occasion]
        ladder.points.filter(at__in=plain[1::2]).delete()
