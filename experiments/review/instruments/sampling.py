"""How a sample of what an instrument has judged is drawn: in strata by its value, at random within each."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Annotated

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from pydantic import BaseModel, ConfigDict, Field

from accounts.errors import Invalid
from experiments.models import ReviewQueue
from experiments.review.filling import Found, runs_of
from experiments.review.instruments.quantities import stratum_of
from experiments.review.instruments.units import annotations_of, units_of

MOST_DRAWN = 2_000
LEAST = 2  # labels of a stratum without which it has no spread


class Sample(BaseModel):
    """What a queue was drawn by. dimension, judge: whose value makes the strata. size: how many units. strata: how many
    units each had.
    """

    model_config = ConfigDict(extra="forbid")

    dimension: Annotated[str, Field(max_length=40)]
    judge: Annotated[str, Field(max_length=200)]
    size: Annotated[int, Field(ge=1, le=MOST_DRAWN)]
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    strata: dict[str, int] = {}


def sizes(strata: Mapping[str, int], size: int) -> dict[str, int]:
    """How many to draw of each stratum: equally many, as far as it has them; what one lacks, the others give."""
    found, left = {}, size
    for place, name in enumerate(sorted(strata, key=lambda one: (strata[one], one))):
        found[name] = min(strata[name], -(-left // (len(strata) - place)))
        left -= found[name]
    return found


def least(strata: Mapping[str, int]) -> int:
    """How many labels a sample needs so that every stratum has a spread."""
    return sum(min(LEAST, units) for units in strata.values())


def drawn(stratum_by_key: Mapping[str, str], size: int, seed: int) -> dict[str, float]:
    """The keys of what is drawn with their chances, in a sequence that is as random as the draw. Each key has its own
    place in the lottery of a seed.
    """
    lottery: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, stratum in stratum_by_key.items():
        lottery[stratum].append((hashlib.sha256(f"{seed}:{key}".encode()).hexdigest(), key))
    wanted = sizes({stratum: len(tickets) for stratum, tickets in lottery.items()}, size)
    found = [
        (ticket, key, wanted[stratum] / len(tickets))
        for stratum, tickets in lottery.items()
        for ticket, key in sorted(tickets)[: wanted[stratum]]
    ]
    return {key: chance for _ticket, key, chance in sorted(found)}


def chosen(queue: ReviewQueue, known: set[str]) -> list[Found]:
    """What is to be added to a queue of a scan that holds `known` already: all of its sample, at once. The sample then
    knows how many units each stratum had. Units that a queue with the same strata has are left to that one.
    """
    if known:
        return []
    assert queue.version and queue.scan  # noqa: S101, PT018 - a queue without items was made by a scan just now
    sample, dimensions = Sample.model_validate(queue.sample), queue.version.parsed.by_name
    units = units_of(annotations_of(queue.version, queue.scan).filter(run__in=runs_of(queue)))
    value_by_key = {key: one.values.get((sample.judge, sample.dimension)) for key, one in units.items()}
    strata = {
        key: stratum_of(dimensions[sample.dimension], value) for key, value in value_by_key.items() if value is not None
    }
    same = {"sample__dimension": sample.dimension, "sample__judge": sample.judge}
    before = ReviewQueue.objects.filter(version=queue.version, scan=queue.scan, **same).exclude(pk=queue.pk)
    taken = set(before.values_list("items__subject", flat=True))
    fresh = {key: stratum for key, stratum in strata.items() if key not in taken}
    if not fresh:
        said = _("There is nothing left to draw from the runs that reviewers of this queue may read.")
        raise Invalid(dimension=said)
    if sample.size < (fewest := least(Counter(fresh.values()))):
        words = ngettext(
            "Draw at least %(n)s unit: every value of the dimension needs two labels.",
            "Draw at least %(n)s units: every value of the dimension needs two labels.",
            fewest,
        )
        raise Invalid(size=words % {"n": fewest})
    queue.sample = sample.model_copy(update={"strata": dict(Counter(strata.values()))}).model_dump()
    queue.save(update_fields=["sample"])
    chances = drawn(fresh, sample.size, sample.seed)
    return [
        Found(key, one.run, one.message, None, one.turn, one.seat, strata[key], chances[key])
        for key, one in ((key, units[key]) for key in chances)
    ]
