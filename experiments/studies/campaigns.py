"""How often a contestant wins in several campaigns, such as those of different judges, on the prompts that they share.

Prompts are the units: whatever is compared, a prompt counts once, with all its battles.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.errors import Invalid, NotFound
from experiments.models import Battle, Experiment
from leaderboard.ratings.statistics import mean_estimate
from leaderboard.ratings.studies import scores
from leaderboard.ratings.studies.corrections import benjamini_hochberg
from leaderboard.ratings.studies.rates import Difference
from leaderboard.ratings.values import Reason, Undefined

if TYPE_CHECKING:
    from accounts.models import User

LEAST, MOST = 2, 6
Prompts = Mapping[int, Sequence[float]]
"""By sample, what the contestant got in each of its battles: 1, 0.5 or 0."""


@dataclass(frozen=True, slots=True)
class Against:
    """What a campaign finds less what the first one does, on the prompts that both have. difference: -1 to 1, with the
    interval of a bootstrap of whole prompts, at 95 %; None, with the reason in `missing`, where there is none. p: of
    "no difference", by the signs of the prompts' differences; adjusted: by Benjamini and Hochberg.
    """

    prompts: int
    difference: Difference | None
    p: float | None
    missing: str = ""
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class WinRate:
    """rate: the mean over prompts of the share of its battles that the contestant wins, 0 to 1, ties half; low, high:
    95 %, clustered by prompt; None where there is none. against: None of the first campaign.
    """

    experiment: UUID
    title: str
    battles: int
    prompts: int
    rate: float | None
    low: float | None
    high: float | None
    against: Against | None


def win_rates(reader: "User", ids: Iterable[str], contestant: str) -> list[WinRate]:
    """Of two to six campaigns in this order, each beside the first. They were not planned to be compared, so nothing is
    decided. Raises NotFound for a campaign that the reader may not see, and Invalid for too few or too many, or where a
    contestant of this name has no decided battle in any.
    """
    campaigns = _chosen(reader, ids)
    found = _by_prompt(reader, campaigns, contestant)
    if not any(found.values()):
        raise Invalid(contestant=_("No contestant of these campaigns has this name and a decided battle."))
    others = [_against(found[one.pk], found[campaigns[0].pk]) for one in campaigns[1:]]
    tested = [place for place, one in enumerate(others) if one.p is not None]
    adjusted = dict(zip(tested, benjamini_hochberg([p for one in others if (p := one.p) is not None]), strict=True))
    against = [None, *(replace(one, adjusted=adjusted.get(place)) for place, one in enumerate(others))]
    return [_rate(one, found[one.pk], beside) for one, beside in zip(campaigns, against, strict=True)]


def _chosen(reader: "User", ids: Iterable[str]) -> list[Experiment]:
    try:
        wanted = list(dict.fromkeys(UUID(one) for one in ids))
    except ValueError as error:
        raise NotFound from error
    if not LEAST <= len(wanted) <= MOST:
        said = _("Choose %(least)s to %(most)s campaigns to compare.") % {"least": LEAST, "most": MOST}
        raise Invalid(campaign=said)
    rows = Experiment.objects.visible_to(reader).filter(pk__in=wanted, campaign__isnull=False)
    found = {one.pk: one for one in rows}
    if len(found) < len(wanted):
        raise NotFound
    return [found[key] for key in wanted]


def _by_prompt(reader: "User", campaigns: Sequence[Experiment], contestant: str) -> dict[UUID, Prompts]:
    """Of the battles that ratings are made of: without those in which both were bad, as in the win rates of boards."""
    fought = Battle.objects.visible_to(reader).counted().filter(experiment__in=campaigns, winner__in=Battle.SCORES)
    fought = fought.filter(Q(left__name=contestant) | Q(right__name=contestant)).order_by("id")
    found: dict[UUID, dict[int, list[float]]] = {one.pk: defaultdict(list) for one in campaigns}
    for experiment, sample, winner, left in fought.values_list("experiment", "sample", "winner", "left__name"):
        share = Battle.SCORES[winner]
        found[experiment][sample].append(share if left == contestant else 1 - share)
    return dict(found)


def _rate(experiment: Experiment, prompts: Prompts, against: Against | None) -> WinRate:
    shares = np.array([fmean(several) for several in prompts.values()])
    known = mean_estimate(shares, np.arange(len(shares)), low=0.0, high=1.0, empty=Reason.TOO_FEW_UNITS)
    low, high = (None, None) if isinstance(known.interval, Undefined) else known.interval
    return WinRate(
        experiment=experiment.pk,
        title=experiment.title,
        battles=sum(map(len, prompts.values())),
        prompts=len(prompts),
        rate=None if isinstance(known.value, Undefined) else known.value,
        low=low,
        high=high,
        against=against,
    )


def _against(own: Prompts, first: Prompts) -> Against:
    shared = sorted(own.keys() & first.keys())
    values = np.array([fmean(prompts[sample]) for prompts in (own, first) for sample in shared])
    about = np.arange(2 * len(shared)) < len(shared), np.tile(np.arange(len(shared)), 2)
    difference = scores.difference(values, *about, scope="prompts")
    p = scores.permutation_test(values, *about, scope="prompts") if shared else Undefined(Reason.TOO_FEW_UNITS)
    return Against(
        prompts=len(shared),
        difference=None if isinstance(difference, Undefined) else difference,
        p=None if isinstance(p, Undefined) else p,
        missing=str(difference.reason) if isinstance(difference, Undefined) else "",
    )
