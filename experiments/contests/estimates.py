"""What a contest may come to: calls, tokens, money and minutes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from experiments.contests.forms import ContestForm
from experiments.estimates import SECONDS_BEFORE_A_REPLY, TOKENS_A_SECOND, Amounts, Asked, Taken, cost_of
from experiments.models import ProviderModel
from experiments.workflows.coding.config import CODERS, LEAST_CODERS, MOST_CYCLES

TOLD = {"health": 20, "problem": 900, "solution": 500, "judge": 700, "repair": 400}  # tokens of each kind of question
STATEMENT = 600  # tokens of a problem as it is shown to the others
EVIDENCE = 200
TYPICAL = {"health": 5, "problem": 1800, "solution": 900, "judge": 300}  # tokens of an answer
MOST = {"health": 1024, "problem": 16_384, "solution": 16_384, "judge": 4096}
SANDBOX_SECONDS = 5  # of checks and executions, as a rule


@dataclass(frozen=True, slots=True)
class Guess:
    """calls: as a rule; most_calls: with every answer asked for twice. a_cycle: calls of one cycle; judgments: of them.
    mode: how setters are chosen, "in_turn" or "random"; each: how often every model sets, in turn.
    """

    coders: int
    cycles: int
    calls: int
    most_calls: int
    a_cycle: int
    judgments: int
    mode: str
    each: float
    typical: Amounts
    most: Amounts
    unpriced: tuple[str, ...]


def of_form(form: ContestForm) -> Guess | None:
    """Of whatever the form says now, finished or not; None while there are too few models."""
    rows = (form["coders"].value() or [])[: len(CODERS)]
    if len(rows) < LEAST_CODERS:
        return None
    seats = _seats(rows)
    cycles = max(1, min(MOST_CYCLES, _whole(form["cycles"].value(), 1)))
    mode = _mode(str(form["setters"].value() or "auto"), cycles, len(rows))
    is_checked, topic = bool(form["health_check"].value()), len(str(form["topic"].value() or "")) // 3
    played = [_stages(seats, topic, at_most=at_most) for at_most in (False, True)]
    check = [Asked(seat, TOLD["health"], TYPICAL["health"]) for seat in seats] if is_checked else []
    calls, most_calls = (len(check) + cycles * sum(map(len, stages)) for stages in played)
    typical, most = (_amounts(seats, check, stages, cycles) for stages in played)
    return Guess(
        coders=len(rows),
        cycles=cycles,
        calls=calls,
        most_calls=most_calls,
        a_cycle=sum(map(len, played[0])),
        judgments=len(rows) * (len(rows) - 1),
        mode=mode,
        each=cycles / len(rows),
        typical=typical,
        most=most,
        unpriced=tuple(dict.fromkeys(seat.name for seat in seats.values() if seat.price is None)),
    )


def _mode(asked: str, cycles: int, coders: int) -> str:
    if asked != "auto":
        return asked
    return "in_turn" if cycles % coders == 0 else "random"


def _stages(seats: Mapping[str, Taken], topic: int, *, at_most: bool) -> list[list[Asked]]:
    """The calls of one cycle; those of a stage are made side by side. At most, each is made once more as a repair."""
    names = list(seats)
    long = {kind: {seat: _length(one, kind, at_most) for seat, one in seats.items()} for kind in TYPICAL}
    setter = max(names, key=lambda seat: long["problem"][seat])
    statement = 2 * STATEMENT if at_most else STATEMENT
    problem = [Asked(setter, TOLD["problem"] + topic, long["problem"][setter])]
    solutions = [Asked(seat, TOLD["solution"] + statement, long["solution"][seat]) for seat in names]
    judgments = [
        Asked(judge, TOLD["judge"] + statement + EVIDENCE + long["solution"][solver], long["judge"][judge])
        for solver in names
        for judge in names
        if judge != solver
    ]
    stages = [problem, solutions, judgments]
    return [again for stage in stages for again in (stage, _repaired(stage))] if at_most else stages


def _repaired(stage: Sequence[Asked]) -> list[Asked]:
    return [Asked(one.seat, one.read + TOLD["repair"] + one.written, one.written) for one in stage]


def _amounts(
    seats: Mapping[str, Taken], check: Sequence[Asked], stages: Sequence[Sequence[Asked]], cycles: int
) -> Amounts:
    a_cycle = [one for stage in stages for one in stage]
    seconds = sum(max(one.written for one in stage) / TOKENS_A_SECOND + SECONDS_BEFORE_A_REPLY for stage in stages)
    tokens = sum(one.read + one.written for one in check) + cycles * sum(one.read + one.written for one in a_cycle)
    once, often = cost_of(list(check), seats), cost_of(a_cycle, seats, cycles)
    cost = None if once is None or often is None else once + often
    before = SECONDS_BEFORE_A_REPLY if check else 0
    return Amounts(tokens, cost, round(before + cycles * (seconds + SANDBOX_SECONDS)))


def _length(seat: Taken, kind: str, at_most: bool) -> int:
    longest = min(seat.max_tokens, MOST[kind]) if seat.max_tokens else MOST[kind]
    return longest if at_most else min(longest, TYPICAL[kind])


def _seats(rows: Sequence[Mapping[str, Any]]) -> dict[str, Taken]:
    """Who would be asked, each with the price of today."""
    slugs = {str(row["model"]) for row in rows}
    models = {model.slug: model for model in ProviderModel.objects.available().filter(slug__in=slugs)}
    return {seat: _taken(row, models.get(str(row["model"]))) for seat, row in zip(CODERS, rows, strict=False)}


def _taken(row: Mapping[str, Any], model: ProviderModel | None) -> Taken:
    price = model.price_at(timezone.now()) if model else None
    name = model.label if model else str(row["model"])
    return Taken(name, price.value if price else None, _whole(row.get("max_tokens"), 0))


def _whole(value: Any, otherwise: int) -> int:
    try:
        return max(0, min(1_000_000, int(str(value))))
    except ValueError:
        return otherwise
