"""What a run may come to: calls exactly, the rest as a guess and as an upper bound, and nothing where it is unknown."""

from dataclasses import replace
from decimal import Decimal

from experiments.estimates import Plan, Taken, estimate
from experiments.gateway.types import Price
from tests.cases import each_case

PRICE = Price(Decimal("0.000001"), Decimal("0.000002"))
SIDES = {"A": Taken("a", PRICE, 1000), "B": Taken("b", PRICE, 1000)}
TOOLS = {"judge": Taken("j", PRICE), "filter": Taken("f", PRICE)}
PLAN = Plan(turns=3, runs=1, instructions=400, gap_seconds=2.0, seats={**SIDES, **TOOLS})


@each_case(
    ("seats", "calls"),
    [({**SIDES, **TOOLS}, 15), (SIDES, 6), ({**SIDES, "judge": TOOLS["judge"]}, 9)],
    ids=["all", "sides", "judge"],
)
def test_every_call_is_counted(seats, calls):
    assert estimate(replace(PLAN, seats=seats)).calls == calls
    assert estimate(replace(PLAN, seats=seats, runs=4)).calls == 4 * calls


def test_reasoning_that_the_judge_reads_is_counted_and_more_of_it_in_later_turns():
    reads = replace(PLAN, judge_sees_reasoning=True)
    thinks = replace(reads, seats={**PLAN.seats, "A": replace(SIDES["A"], reasons=True)})

    assert estimate(reads).most.tokens - estimate(PLAN).most.tokens == 2000 + 4000 + 6000
    assert estimate(reads).typical.tokens == estimate(PLAN).typical.tokens < estimate(thinks).typical.tokens


def test_repeats_multiply_tokens_and_money_but_not_the_time_of_a_run():
    one, four = estimate(PLAN), estimate(replace(PLAN, runs=4))

    assert one.typical.tokens < one.most.tokens
    assert one.typical.cost < one.most.cost
    assert one.typical.seconds < one.most.seconds
    assert (four.most.tokens, four.most.cost) == (4 * one.most.tokens, 4 * one.most.cost)
    assert four.most.seconds == one.most.seconds


def test_an_unknown_price_makes_no_figure():
    found = estimate(replace(PLAN, seats={**PLAN.seats, "B": Taken("b", None, 1000)}))

    assert (found.typical.cost, found.most.cost, found.unpriced) == (None, None, ("b",))


def test_without_a_last_turn_only_the_calls_of_a_turn_are_known():
    found = estimate(replace(PLAN, turns=None))

    assert (found.calls_per_turn, found.calls, found.typical, found.most) == (5, None, None, None)


def test_two_short_replies_cost_what_their_tokens_cost():
    plan = replace(PLAN, turns=1, instructions=0, seats={s: replace(t, max_tokens=10) for s, t in SIDES.items()})
    read, written = 160 + 170, 20

    assert estimate(plan).most.cost == read * PRICE.input + written * PRICE.output
