"""What a campaign would come to before it is started: battles, calls, tokens, money and time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings
from django.db.models import Avg
from django.db.models.functions import Length
from django.utils import timezone
from django.utils.translation import gettext as _

from experiments.casting import InvalidExperiment, checked_cast
from experiments.estimates import SECONDS_BEFORE_A_REPLY, TOKENS_A_SECOND, TYPICAL_REPLY
from experiments.gateway.usage import TOKENS_PER_IMAGE
from experiments.models import Contestant, Dataset, Output, Participant, ProviderModel
from experiments.workflows.battles import WORKFLOW
from experiments.workflows.battles.campaign.admission import warnings
from experiments.workflows.battles.campaign.boards import found_board
from experiments.workflows.battles.campaign.decided import counted
from experiments.workflows.battles.campaign.grid import Flags, Grid, first
from experiments.workflows.battles.campaign.naming import name_of
from experiments.workflows.battles.campaign.scope import Pair, Scope, taking_part
from experiments.workflows.battles.config import JUDGES
from experiments.workflows.outputs import WORKFLOW as OUTPUTS

if TYPE_CHECKING:
    from accounts.models import User

RULES = 700  # tokens of a judge prompt beside what is compared
TYPICAL_VERDICT = 300
LOOKED_AT = 300  # outputs and samples whose length is measured
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Preview:
    """pairs that meet, and samples on which they do. battles: those to be fought, once for each judge; what is decided
    already is `done`, and not among them. An adaptive plan may take up to `most_battles`. calls: with none repeated.
    cost: US dollars; None when a price is not known (`unpriced` names the models). seconds: as a rule.

    Of outputs that are asked for, pairs are contestants and battles are outputs.
    """

    pairs: int
    samples: int
    battles: int
    most_battles: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    most_cost: Decimal | None
    seconds: int
    done: int = 0
    unpriced: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Share:
    """What one model is asked: so many calls as a rule and at most, each of which reads and writes so many tokens."""

    model: ProviderModel
    calls: int
    most_calls: int
    read: int
    written: int

    def cost(self, calls: int) -> Decimal | None:
        price = self.model.price_at(timezone.now())
        if price is None:
            return None
        return calls * (price.per_request + price.input * self.read + price.output * self.written)


def preview(config: Any, cast: Mapping[str, Any], *, by: "User", seed: int = 0) -> Preview:
    """config: a validated Config of battles or of outputs. cast: seats to {"model": slug, …} as for `actions.create`.

    Raises InvalidExperiment for a dataset that `by` may not see. Nothing is written.
    """
    dataset = Dataset.objects.visible_to(by).filter(slug=config.dataset).first()
    if dataset is None:
        raise InvalidExperiment({"config.dataset": [_("There is no dataset of this name that you may see.")]})
    is_outputs = isinstance(config, OUTPUTS.config)
    seated = checked_cast((OUTPUTS if is_outputs else WORKFLOW).slug, config, cast, owner=by)
    grid = Grid(dataset.pk, config.subsets, seed)
    return (_of_outputs if is_outputs else _of_battles)(dataset, config, seated, grid)


def _of_battles(dataset: Dataset, config: Any, seated: Sequence[Participant], grid: Grid) -> Preview:
    scope = Scope(dataset, config, taking_part(dataset, config), {})
    counts, samples = _meetings(scope, grid)
    judges = [one for one in seated if one.seat in JUDGES]
    read = _rules(dataset) + 2 * _length(dataset, scope.contestants)
    shares, done = [], 0
    for judge in judges:
        decided = _decided(scope, judge)
        fought = {pair: min(count, decided.get(pair, 0)) for pair, count in counts.items()}
        done += sum(fought.values())
        least, most = (_left(scope, counts, fought, at_most=at_most) for at_most in (False, True))
        shares.append(_Share(judge.model, 2 * least, 2 * most, read, TYPICAL_VERDICT))
    battles, most_battles = sum(one.calls for one in shares) // 2, sum(one.most_calls for one in shares) // 2
    lanes = config.side_by_side * (2 if config.calls == "parallel" else 1)
    extra = {one.model_id: one.model.provider.concurrency for one in seated}
    said = tuple(warnings(dataset, config, seated))
    same = {"pairs": len(counts), "samples": samples, "battles": battles, "most_battles": most_battles}
    return _preview(shares, lanes, sum(extra.values()), done=done, warnings=said, **same)


def _of_outputs(dataset: Dataset, config: Any, seated: Sequence[Participant], grid: Grid) -> Preview:
    read, written = _rules(dataset) - RULES, TYPICAL_REPLY
    shares, done = [], 0
    for one in seated:
        known = dataset.contestants.filter(name=name_of(config, one)).first()
        made = int(grid.outputs(known.pk).sum()) if known else 0
        done += made
        shares.append(_Share(one.model, len(grid) - made, len(grid) - made, read, written))
    calls = sum(share.calls for share in shares)
    allowed = sum({one.model_id: one.model.provider.concurrency for one in seated}.values())
    same = {"pairs": len(seated), "samples": len(grid), "battles": calls, "most_battles": calls}
    return _preview(shares, config.side_by_side, allowed, done=done, warnings=(), **same)


def _preview(shares: Sequence[_Share], lanes: int, allowed: int, **same: Any) -> Preview:
    calls = sum(share.calls for share in shares)
    one = SECONDS_BEFORE_A_REPLY + max((share.written for share in shares), default=0) / TOKENS_A_SECOND
    at_once = max(1, min(settings.RUNS_PER_CAMPAIGN * lanes, allowed))
    return Preview(
        calls=calls,
        input_tokens=sum(share.calls * share.read for share in shares),
        output_tokens=sum(share.calls * share.written for share in shares),
        cost=_sum([share.cost(share.calls) for share in shares]),
        most_cost=_sum([share.cost(share.most_calls) for share in shares]),
        seconds=math.ceil(one * math.ceil(calls / at_once)),
        unpriced=tuple(dict.fromkeys(share.model.label for share in shares if share.cost(1) is None)),
        **same,
    )


def _sum(costs: Sequence[Decimal | None]) -> Decimal | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


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


def _left(scope: Scope, counts: Mapping[Pair, int], fought: Mapping[Pair, int], *, at_most: bool) -> int:
    """Battles that are still to be fought."""
    sampling = scope.config.sampling
    if sampling.plan != "adaptive":
        return sum(counts[pair] - fought[pair] for pair in counts)
    limit = sampling.max_per_pair if at_most else sampling.min_per_pair
    return sum(max(0, min(count, limit) - fought[pair]) for pair, count in counts.items())


def _decided(scope: Scope, judge: Participant) -> dict[Pair, int]:
    """What stands on the judge's board already, where there is one."""
    version = scope.config.prompt_version
    board = found_board(
        scope.dataset, judge.model, prompt=scope.config.prompt, prompt_version=version, params=judge.params
    )
    return counted(board.pk, scope.config.subsets) if board else {}


def _rules(dataset: Dataset) -> int:
    """Tokens of the rules and of a typical sample; a picture counts as a fixed number of them."""
    samples = list(dataset.samples.order_by("pk").values_list("instruction", "images")[:LOOKED_AT])
    instruction = sum(len(text) for text, _images in samples) / max(1, len(samples)) / CHARACTERS_PER_TOKEN
    pictures = sum(len(images) for _text, images in samples) / max(1, len(samples)) * TOKENS_PER_IMAGE
    return math.ceil(RULES + instruction + pictures)


def _length(dataset: Dataset, contestants: Sequence[Contestant]) -> int:
    """Tokens of a typical output."""
    if dataset.modality == Dataset.Modality.IMAGE:
        return TOKENS_PER_IMAGE
    some = Output.objects.filter(contestant__in=[one.pk for one in contestants]).order_by("-pk")
    keys = list(some.values_list("pk", flat=True)[:LOOKED_AT])
    mean = Output.objects.filter(pk__in=keys).aggregate(mean=Avg(Length("text")))["mean"]
    return math.ceil((mean or 0) / CHARACTERS_PER_TOKEN)
