"""What a run may come to before it is started: calls, tokens, money and time, as a guess and as an upper bound."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from experiments.gateway.types import Price
from experiments.workflows.base.judge import LONGEST_REASONING, LONGEST_THOUGHT

TYPICAL_REPLY = 350  # tokens
TOKENS_A_SECOND = 60
SECONDS_BEFORE_A_REPLY = 1.0
RULES = 160  # tokens of what each side is told beside its instructions
ASIDE = {"filter": 450, "judge": 900, "friend": 250}  # tokens that a question to these holds beside the talk
JUDGMENT = (400, 2000)  # tokens of an answer: as a rule, and at most
ADVICE = (200, 2000)
TYPICAL_REASONING = 600  # tokens before a reply, of a model that is known to reason
MOST_REASONING = (LONGEST_REASONING + 2 * LONGEST_THOUGHT) // 3  # tokens of it that the judge reads at most
CONTEXT_OF_FILTER = 600  # tokens of the earlier talk that the filter is shown


@dataclass(frozen=True, slots=True)
class Taken:
    """A seat as far as it costs: the longest reply in tokens, the price, None when it is not known, and whether its
    model is known to reason.
    """

    name: str
    price: Price | None
    max_tokens: int = 0
    reasons: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be played. turns None: no last turn. instructions: characters. seats: those that are asked.
    judge_sees_reasoning: of every model that may reason, at most as much as it may write.
    """

    turns: int | None
    runs: int
    instructions: int
    gap_seconds: float
    seats: Mapping[str, Taken]
    friends: int = 0
    judge_sees_reasoning: bool = False

    @property
    def calls_per_turn(self) -> int:
        return 2 + (2 if "filter" in self.seats else 0) + (1 if "judge" in self.seats else 0)


@dataclass(frozen=True, slots=True)
class Amounts:
    """Of all runs together; cost None when a price is not known. seconds: of one run, without waiting for people."""

    tokens: int
    cost: Decimal | None
    seconds: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """calls None: there is no last turn, and typical and most are None then, too. unpriced: models without a price."""

    runs: int
    calls_per_turn: int
    calls: int | None
    typical: Amounts | None
    most: Amounts | None
    unpriced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One call: whose seat is asked, and the tokens that it reads and writes."""

    seat: str
    read: int
    written: int


def estimate(plan: Plan) -> Estimate:
    unpriced = tuple(dict.fromkeys(seat.name for seat in plan.seats.values() if seat.price is None))
    if plan.turns is None:
        return Estimate(plan.runs, plan.calls_per_turn, None, None, None, unpriced)
    calls = plan.runs * (plan.turns * plan.calls_per_turn + plan.friends)
    typical, most = (_amounts(plan, plan.turns, at_most=at_most) for at_most in (False, True))
    return Estimate(plan.runs, plan.calls_per_turn, calls, typical, most, unpriced)


def _amounts(plan: Plan, turns: int, *, at_most: bool) -> Amounts:
    asked = list(_played(plan, turns, at_most=at_most))
    written = sum(one.written for one in asked)
    seconds = written / TOKENS_A_SECOND + len(asked) * SECONDS_BEFORE_A_REPLY + plan.gap_seconds * (turns - 1)
    tokens = plan.runs * sum(one.read + one.written for one in asked)
    return Amounts(tokens, cost_of(asked, plan.seats, plan.runs), round(seconds))


def cost_of(asked: list[Asked], seats: Mapping[str, Taken], runs: int = 1) -> Decimal | None:
    """US dollars; None when a price is not known."""
    total = Decimal(0)
    for one in asked:
        price = seats[one.seat].price
        if price is None:
            return None
        total += price.per_request + price.input * one.read + price.output * one.written
    return runs * total


def _played(plan: Plan, turns: int, *, at_most: bool) -> Iterator[Asked]:
    """Every call of one run, with the talk growing by each reply."""
    instructions = plan.instructions // (3 if at_most else 4)
    longest = {side: plan.seats[side].max_tokens for side in ("A", "B")}
    reply = {side: most if at_most else min(most, TYPICAL_REPLY) for side, most in longest.items()}
    thought = sum(longest[side] if at_most else TYPICAL_REASONING * plan.seats[side].reasons for side in longest)
    talk = 0
    for turn in range(turns):
        for side, length in reply.items():
            yield Asked(side, instructions + RULES + talk, length)
            if "filter" in plan.seats:
                yield Asked("filter", ASIDE["filter"] + min(talk, CONTEXT_OF_FILTER) + length, length)
            talk += length
        if "judge" in plan.seats:
            reasoning = min(thought * (turn + 1), MOST_REASONING) if plan.judge_sees_reasoning else 0
            yield Asked("judge", ASIDE["judge"] + 2 * instructions + talk + reasoning, JUDGMENT[at_most])
    for _friend in range(plan.friends if "friend" in plan.seats else 0):
        yield Asked("friend", ASIDE["friend"] + instructions + talk, ADVICE[at_most])
