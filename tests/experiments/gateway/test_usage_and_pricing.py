"""Tokens and money: disjoint counts, nothing invented, an unknown price is not zero."""

from decimal import Decimal

from experiments.gateway import Capabilities, ChatMessage, Params, Price, Usage, cost, reserve
from experiments.gateway.usage import estimate_usage, parse_usage, prompt_was_cut, settle_usage
from tests.cases import each_case

PRICE = Price(Decimal("0.000002"), Decimal("0.00001"), cached_input=Decimal("0.0000005"), per_request=Decimal("0.01"))


@each_case(
    ("raw", "usage"),
    [
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}, Usage(6, 0, cached_input_tokens=4)),
        (
            {"input_tokens": 10, "output_tokens": 1, "input_tokens_details": {"cached_tokens": 4}},
            Usage(6, 1, cached_input_tokens=4),
        ),
        *(
            ({"prompt_tokens": 10, "prompt_tokens_details": {name: 4}}, Usage(6, 0, cache_write_tokens=4))
            for name in ("cache_write_tokens", "cache_creation_tokens")
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 40}},
            Usage(10, 2, cached_input_tokens=40),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}},
            Usage(10, 9, reasoning_tokens=7),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 1, "cost": 0}, Usage(10, 1, provider_cost=Decimal(0))),
        (
            {"prompt_tokens": 1, "cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}},
            Usage(1, 0, provider_cost=Decimal("0.021")),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 2**31 - 1, "cache_write_tokens": 5},
            },
            Usage(10, 2),
        ),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        *(({"prompt_tokens": bad, "completion_tokens": 7}, None) for bad in ("11 tokens", "²", "9" * 5000, True)),
        ({"prompt_tokens": -3, "completion_tokens": 10**30}, None),
        ({"prompt_tokens": 3, "cost": float("nan")}, Usage(3, 0)),
        ({"prompt_tokens": 3, "cost": -1, "prompt_tokens_details": None}, Usage(3, 0)),
        ({}, None),
    ],
)
def test_q17_counts_are_disjoint_whoever_counted(raw, usage):
    assert parse_usage(raw) == usage


@each_case(
    ("counts", "answer", "params", "capabilities", "is_believed"),
    [
        ((10, 999_990), "x" * 18, Params(max_tokens=6144), Capabilities(), False),
        ((10, 999_990), "x" * 18, Params(), Capabilities(), False),
        ((10, 6000), "x" * 18, Params(max_tokens=6144), Capabilities(), True),
        ((10, 6000), "x" * 18, Params(max_tokens=300), Capabilities(), False),
        ((10, 6000), "x" * 18, Params(), Capabilities(max_output_tokens=300), False),
        ((10, 6000), "x" * 1200, Params(max_tokens=300), Capabilities(), True),
        ((10, 60_000), "42", Params(), Capabilities(), True),
        ((0, 18), "x" * 18, Params(), Capabilities(), False),
        ((10, 0), "x" * 18, Params(), Capabilities(), False),
        ((10, 0), "", Params(), Capabilities(), True),
        ((900_000, 7), "x" * 18, Params(), Capabilities(), False),
    ],
)
def test_counts_that_contradict_the_text_are_estimated(
    asker_request, counts, answer, params, capabilities, is_believed
):
    request = asker_request(params=params, capabilities=capabilities)
    reported = Usage(*counts, provider_cost=Decimal("0.5"))
    usage, remark = settle_usage(reported, request, answer)
    estimate = Usage(1, -(-len(answer) // 4), provider_cost=Decimal("0.5"), estimated=True)
    assert usage == (reported if is_believed else estimate)
    assert bool(remark) != is_believed


def test_q16_an_estimate_is_flagged_and_counts_bytes(asker_request):
    request = asker_request(messages=(ChatMessage("user", "a" * 400),))
    assert estimate_usage(request, "漢字" * 10) == Usage(100, 15, estimated=True)


@each_case(
    ("prompt_bytes", "usage", "context", "cut"),
    [
        (40_000, Usage(4096, 1), None, True),
        (40_000, Usage(4000, 96), None, True),
        (40_000, Usage(5999, 1), 6000, True),
        (200_000, Usage(5000, 1), None, True),
        (40_000, Usage(5999, 1), None, False),
        (17_000, Usage(4096, 1), None, False),
        (40_000, Usage(1, 4095, cached_input_tokens=9000), None, False),
        (40_000, Usage(96, 1, cached_input_tokens=1000, cache_write_tokens=3000), None, True),
        (40_000, Usage(4096, 1, estimated=True), None, False),
    ],
)
def test_q18_a_prompt_that_was_cut_shows_in_the_count(asker_request, prompt_bytes, usage, context, cut):
    messages = (ChatMessage("user", "x" * prompt_bytes),)
    request = asker_request(messages=messages, capabilities=Capabilities(context_tokens=context))
    assert prompt_was_cut(request, usage) is cut


def test_the_providers_own_cost_wins_over_tokens_times_price():
    assert cost(Usage(10, 5, provider_cost=Decimal("0.5")), PRICE) == (Decimal("0.5"), "provider")
    assert cost(Usage(10, 5, provider_cost=Decimal(0)), PRICE) == (Decimal(0), "provider")
    usage = Usage(1000, 200, reasoning_tokens=150, cached_input_tokens=4000, cache_write_tokens=500)
    assert cost(usage, PRICE) == (Decimal("0.017"), "price")
    price = Price(Decimal("0.001"), Decimal("0.002"))
    assert cost(Usage(1, 1, cached_input_tokens=1), price) == (Decimal("0.004"), "price"), "cached costs like input"


def test_an_unknown_price_is_unknown_and_not_zero(asker_request):
    assert cost(Usage(10, 5), None) == (None, "unknown")
    assert reserve(asker_request(), None) is None


@each_case(
    ("params", "capabilities", "tokens"),
    [
        (Params(max_tokens=100), Capabilities(max_output_tokens=50), 100),
        (Params(), Capabilities(max_output_tokens=50), 50),
        (Params(), Capabilities(), 8192),
        (Params(), Capabilities(reasoning_effort=True), 32_768),
        (Params(max_tokens=100), Capabilities(reasoning_effort=True), 100),
    ],
)
def test_a_reservation_assumes_the_longest_answer(asker_request, params, capabilities, tokens):
    request = asker_request(messages=(ChatMessage("user", "x" * 300),), params=params, capabilities=capabilities)
    assert reserve(request, PRICE) == Decimal("0.01") + 100 * PRICE.input + tokens * PRICE.output
