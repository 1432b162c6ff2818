"""What a contest may come to: calls, tokens, money and minutes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from experiments.estimates import SECONDS_BEFORE_A_REPLY, TOKENS_A_SECOND, Amounts, Asked, Taken, cost_of
from experiments.models import ProviderModel
from experiments.workflows.coding.config import CODERS, LEAST_CODERS, MOST_CYCLES
from experiments.workflows.coding.pages.forms import ContestForm

# Tokens of each kind of question beside what models wrote; at most, with forty earlier titles and six failures told.
TOLD = {"health": 20, "problem": 900, "solution": 500, "judge": 900, "repair": 400}
MOST_TOLD = {**TOLD, "problem": 9_000, "judge": 5_000}
WRONG = 8_000  # tokens at most of what is told of a problem that could not be taken
STATEMENT = 600  # tokens of a problem as it is shown to the others
TYPICAL = {"health": 5, "problem": 1800, "solution": 900, "judge": 300}  # tokens of an answer
MOST = {"health": 1024, "problem": 16_384, "solution": 16_384, "judge": 4096}
SANDBOX_SECONDS = 5  # of checks and executions, as a rule


@dataclass(frozen=True, slots=True)
class Guess:
    """calls: as a rule; most_calls: with everything that may be asked. a_cycle: calls of one cycle; judgments: of them.
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
    is_checked, topic = bool(form["health_check"].value()), len(str(form["topic"].value() or ""))
    check = [Asked(seat, TOLD["health"], TYPICAL["health"]) for seat in seats] if is_checked else []
    once = _stages(seats, topic // 3)
    often = _most_stages(seats, topic, is_checked=is_checked, tries=2 if mode == "in_turn" else 1)
    return Guess(
        coders=len(rows),
        cycles=cycles,
        calls=len(check) + cycles * sum(map(len, once)),
        most_calls=cycles * sum(map(len, often)),
        a_cycle=sum(map(len, once)),
        judgments=len(rows) * (len(rows) - 1),
        mode=mode,
        each=cycles / len(rows),
        typical=_amounts(seats, check, once, cycles),
        most=_amounts(seats, [], often, cycles),
        unpriced=tuple(dict.fromkeys(seat.name for seat in seats.values() if seat.price is None)),
    )


def _mode(asked: str, cycles: int, coders: int) -> str:
    if asked != "auto":
        return asked
    return "in_turn" if cycles % coders == 0 else "random"


def _stages(seats: Mapping[str, Taken], topic: int) -> list[list[Asked]]:
    """The calls of one cycle as a rule; those of a stage are made side by side. topic: tokens."""
    long = _lengths(seats, at_most=False)
    setter = max(seats, key=lambda seat: long["problem"][seat])
    problem = Asked(setter, TOLD["problem"] + topic, long["problem"][setter])
    return [[problem], *_answers(long, TOLD, STATEMENT)]


def _most_stages(seats: Mapping[str, Taken], topic: int, *, is_checked: bool, tries: int) -> list[list[Asked]]:
    """The same at most: everything is as long as it may be and asked for once more as a repair, and before each cycle
    every model whether it is there. tries: how often a problem is set, for a void one is in turn set again.
    """
    long = _lengths(seats, at_most=True)
    longest = max(long["problem"].values())  # the statement and the criteria are parts of this answer
    check = [Asked(seat, MOST_TOLD["health"], long["health"][seat]) for seat in seats] if is_checked else []
    asked = [Asked(seat, MOST_TOLD["problem"] + topic, longest) for seat in seats]
    problem = max(([[one], _repaired([one], WRONG)] for one in asked), key=lambda both: _price(both, seats))
    answers = _answers(long, MOST_TOLD, longest)
    return [*(tries * [check, *problem]), *(again for stage in answers for again in (stage, _repaired(stage)))]


def _answers(long: Mapping[str, Mapping[str, int]], told: Mapping[str, int], statement: int) -> list[list[Asked]]:
    """Solutions, and their judgments by everybody else."""
    solutions = [Asked(seat, told["solution"] + statement, most) for seat, most in long["solution"].items()]
    judgments = [
        Asked(judge, told["judge"] + statement + solution, most)
        for solver, solution in long["solution"].items()
        for judge, most in long["judge"].items()
        if judge != solver
    ]
    return [solutions, judgments]


def _repaired(stage: Sequence[Asked], wrong: int = 0) -> list[Asked]:
    return [Asked(one.seat, one.read + TOLD["repair"] + wrong + one.written, one.written) for one in stage]


def _price(stages: Sequence[Sequence[Asked]], seats: Mapping[str, Taken]) -> Decimal:
    return cost_of([one for stage in stages for one in stage], seats) or Decimal(0)


def _amounts(
    seats: Mapping[str, Taken], check: Sequence[Asked], stages: Sequence[Sequence[Asked]], cycles: int
) -> Amounts:
    a_cycle = [one for stage in stages for one in stage]
    longest = [max(one.written for one in stage) for stage in stages if stage]
    seconds = sum(written / TOKENS_A_SECOND + SECONDS_BEFORE_A_REPLY for written in longest)
    tokens = sum(one.read + one.written for one in check) + cycles * sum(one.read + one.written for one in a_cycle)
    once, often = cost_of(list(check), seats), cost_of(a_cycle, seats, cycles)
    cost = None if once is None or often is None else once + often
    before = SECONDS_BEFORE_A_REPLY if check else 0
    return Amounts(tokens, cost, round(before + cycles * (seconds + SANDBOX_SECONDS)))


def _lengths(seats: Mapping[str, Taken], *, at_most: bool) -> dict[str, dict[str, int]]:
    """Tokens of an answer, by kind and seat. A seat's own limit takes the place of every kind's."""
    return {kind: {seat: _length(one, kind, at_most) for seat, one in seats.items()} for kind in TYPICAL}


def _length(seat: Taken, kind: str, at_most: bool) -> int:
    longest = seat.max_tokens or MOST[kind]
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
