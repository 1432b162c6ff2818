"""What is played of a campaign to estimate it: a battle of each judge, or an output of each contestant.

How many there are of each is read from the rows: what is decided or made already is not among them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings
from django.db.models import Avg
from django.db.models.functions import Length
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from experiments.gateway.usage import TOKENS_PER_IMAGE
from experiments.models import Contestant, Dataset, Output, Participant
from experiments.templatetags.arena import grouped
from experiments.workflows import outputs
from experiments.workflows.base.dry_run import BYTES_PER_TOKEN, Planned, Sample
from experiments.workflows.base.steps import Stored
from experiments.workflows.battles.campaign.boards import found_board
from experiments.workflows.battles.campaign.counting import pair_totals
from experiments.workflows.battles.campaign.planning import Flags, Grid, first
from experiments.workflows.battles.campaign.scope import Pair, Scope, name_of, taking_part, visible_dataset, warnings
from experiments.workflows.battles.config import JUDGES, MIRRORS, Config, Sampling, Task

if TYPE_CHECKING:
    from accounts.models import User

LOOKED_AT = 300  # outputs and samples whose length is measured
SEED = 0  # of the sequence of samples: as many are left in any


def plan_of_battles(config: Config, seated: Sequence[Participant], by: "User") -> Planned:
    """Raises Invalid for a dataset that `by` may not see."""
    dataset = visible_dataset(config.dataset, by)
    scope = Scope(dataset, config, taking_part(dataset, config), {})
    counts, samples = _meetings(scope, Grid(dataset.pk, config.subsets, SEED))
    endpoints = ["judge", *(one.seat for one in seated if one.seat in MIRRORS)]
    shares, least, most, done = [], 0, 0, 0
    for judge in (one for one in seated if one.seat in JUDGES):
        identity = {"prompt": config.prompt, "prompt_version": config.prompt_version, "params": judge.params}
        board = found_board(dataset, judge.model, **identity)
        decided = pair_totals(board.pk, config.subsets) if board else {}
        fought = {pair: min(count, decided.get(pair, 0)) for pair, count in counts.items()}
        left, left_at_most = (_left(config.sampling, counts, fought, at_most=at_most) for at_most in (False, True))
        played = len(endpoints) if judge.seat == "judge" else 1  # a battle for each endpoint, for they take turns
        tasks = [Task(sample=number, left=1, right=2, seats=[judge.seat]) for number in range(1, played + 1)]
        sample = config.model_copy(update={"tasks": tasks, "side_by_side": 1})
        shares.append(Sample(sample, Fraction(left, played), Fraction(left_at_most, played)))
        done, least, most = done + sum(fought.values()), least + left, most + left_at_most
    if most > least:
        numbers = {"least": grouped(least), "most": grouped(most)}
        battles = _("<b>%(least)s</b> to <b>%(most)s</b> battles") % numbers
    else:
        battles = ngettext("<b>%(shown)s</b> battle", "<b>%(shown)s</b> battles", least) % _shown(least)
    pairs = ngettext("%(shown)s pair", "%(shown)s pairs", len(counts)) % _shown(len(counts))
    known = ngettext("%(shown)s of them already decided", "%(shown)s of them already decided", done)
    lanes = config.side_by_side * (2 if config.calls == "parallel" else 1)
    return Planned(
        shares,
        stored=_sizes(dataset, scope.contestants),
        at_once=_at_once(lanes, seated),
        lead=(_line(battles, pairs, samples, known % _shown(done) if done else ""),),
        warnings=warnings(dataset, config, seated),
    )


def plan_of_outputs(config: outputs.Config, seated: Sequence[Participant], by: "User") -> Planned:
    """Raises Invalid for a dataset that `by` may not see."""
    dataset = visible_dataset(config.dataset, by)
    grid = Grid(dataset.pk, config.subsets, SEED)
    shares, left, done = [], 0, 0
    for one in seated:
        known = dataset.contestants.filter(name=name_of(config, one)).first()
        made = int(grid.outputs(known.pk).sum()) if known else 0
        task = outputs.Task(sample=1, contestant=1, seat=one.seat)
        missing = Fraction(len(grid) - made)
        shares.append(Sample(config.model_copy(update={"tasks": [task]}), missing, missing))
        done, left = done + made, left + len(grid) - made
    wanted = ngettext("<b>%(shown)s</b> output", "<b>%(shown)s</b> outputs", left) % _shown(left)
    contestants = ngettext("%(n)s contestant", "%(n)s contestants", len(seated)) % {"n": len(seated)}
    said = ngettext("%(shown)s of them already made", "%(shown)s of them already made", done)
    return Planned(
        shares,
        stored=_sizes(dataset, ()),
        at_once=_at_once(config.side_by_side, seated),
        lead=(_line(wanted, contestants, len(grid), said % _shown(done) if done else ""),),
    )


def _meetings(scope: Scope, grid: Grid) -> tuple[dict[Pair, int], int]:
    """On how many samples each pair is to meet, and on how many samples anybody does."""
    counts: dict[Pair, int] = {}
    met: Flags = np.zeros(len(grid), dtype=np.bool_)
    sampling = scope.config.sampling
    for pair in scope.pairs:
        both = grid.both(*pair)
        if sampling.plan == "sample":
            both = first(both, sampling.per_pair)
        if count := int(both.sum()):
            counts[pair] = count
            met |= both
    return counts, int(met.sum())


def _left(sampling: Sampling, counts: Mapping[Pair, int], fought: Mapping[Pair, int], *, at_most: bool) -> int:
    """Battles that are still to be fought."""
    if sampling.plan != "adaptive":
        return sum(counts[pair] - fought[pair] for pair in counts)
    limit = sampling.max_per_pair if at_most else sampling.min_per_pair
    return sum(max(0, min(count, limit) - fought[pair]) for pair, count in counts.items())


def _at_once(lanes: int, seated: Sequence[Participant]) -> int:
    allowed = {one.model_id: one.model.provider.concurrency for one in seated}
    return max(1, min(settings.RUNS_PER_CAMPAIGN * lanes, sum(allowed.values())))


def _sizes(dataset: Dataset, contestants: Sequence[Contestant]) -> Callable[[Stored], int]:
    """Tokens of a typical instruction, of its pictures, each of which counts as a fixed number, and of an output."""
    samples = list(dataset.samples.order_by("pk").values_list("instruction", "images")[:LOOKED_AT])
    count = max(1, len(samples))
    output: float = TOKENS_PER_IMAGE
    if dataset.modality != Dataset.Modality.IMAGE:
        some = Output.objects.filter(contestant__in=[one.pk for one in contestants]).order_by("-pk")
        keys = list(some.values_list("pk", flat=True)[:LOOKED_AT])
        mean = Output.objects.filter(pk__in=keys).aggregate(mean=Avg(Length("text")))["mean"]
        output = float(mean or 0) / BYTES_PER_TOKEN[False]
    size = {
        "instruction": sum(len(text.encode()) for text, _images in samples) / count / BYTES_PER_TOKEN[False],
        "images": sum(len(images) for _text, images in samples) / count * TOKENS_PER_IMAGE,
        "output": output,
    }
    return lambda part: math.ceil(size[part.what])


def _line(wanted: str, pairs: str, samples: int, known: str) -> str:
    of = ngettext("%(shown)s sample", "%(shown)s samples", samples) % _shown(samples)
    return mark_safe(f"{wanted}: {pairs} × {of}{f', {known}' if known else ''}")  # noqa: S308 - numbers, in translated words


def _shown(number: int) -> dict[str, str]:
    return {"shown": grouped(number)}
