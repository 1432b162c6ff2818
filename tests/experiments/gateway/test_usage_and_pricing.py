"""Tokens and money: disjoint counts, nothing invented, an unknown price is not zero."""

from decimal import Decimal

from experiments.gateway import Capabilities, ChatMessage, Params, Price, Usage, cost, reserve
from experiments.gateway.usage import parse_usage, prompt_was_cut, settle_usage

PRICE = Price(Decimal("0.000002"), Decimal("0.00001"), cached_input=Decimal("0.0000005"), per_request=Decimal("0.01"))


def test_q17_counts_are_disjoint_whoever_counted():
    ten = {"prompt_tokens": 10}
    by_key_of_ones_own = {"is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}
    beyond_all = {"cached_tokens": 2**31 - 1, "cache_write_tokens": 5}
    thought = {"completion_tokens_details": {"reasoning_tokens": 7}}
    for raw, usage in (
        (ten | {"prompt_cache_hit_tokens": 4}, Usage(6, 0, cached_input_tokens=4)),
        ({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}}, Usage(6, 0, cached_input_tokens=4)),
        *(
            (ten | {"prompt_tokens_details": {name: 4}}, Usage(6, 0, cache_write_tokens=4))
            for name in ("cache_write_tokens", "cache_creation_tokens")
        ),
        (ten | {"prompt_tokens_details": {"cached_tokens": 40}}, Usage(10, 0, cached_input_tokens=40)),
        (ten | {"completion_tokens": 9, **thought}, Usage(10, 9, reasoning_tokens=7)),
        (ten | {"cost": 0}, Usage(10, 0, provider_cost=Decimal(0))),
        (ten | {"cost": 0.001, **by_key_of_ones_own}, Usage(10, 0, provider_cost=Decimal("0.021"))),
        (ten | {"prompt_tokens_details": beyond_all}, Usage(10, 0)),
        *(
            (raw, None)
            for raw in ({}, {"prompt_tokens": 0, "completion_tokens": 0}, ten | {"completion_tokens": 10**30})
        ),
        *(({"prompt_tokens": bad, "completion_tokens": 7}, None) for bad in ("11 tokens", "²", "9" * 5000, True, -3)),
        *((ten | odd, Usage(10, 0)) for odd in ({"cost": float("nan")}, {"cost": -1, "prompt_tokens_details": None})),
    ):
        assert parse_usage(raw) == usage, raw


def test_q16_counts_that_contradict_the_text_are_estimated_by_its_bytes(asker_request):
    for counts, answer, params, capabilities, is_believed in (
        ((10, 999_990), "x" * 18, Params(max_tokens=6144), Capabilities(), False),
        ((10, 999_990), "x" * 18, Params(), Capabilities(), False),
        ((10, 6000), "x" * 18, Params(max_tokens=6144), Capabilities(), True),
        ((10, 6000), "x" * 18, Params(max_tokens=300), Capabilities(), False),
        ((10, 6000), "x" * 18, Params(), Capabilities(max_output_tokens=300), False),
        ((10, 6000), "x" * 1200, Params(max_tokens=300), Capabilities(), True),
        ((10, 60_000), "42", Params(), Capabilities(), True),
        ((0, 18), "x" * 18, Params(), Capabilities(), False),
        ((10, 0), "漢字" * 10, Params(), Capabilities(), False),
        ((10, 0), "", Params(), Capabilities(), True),
        ((900_000, 7), "x" * 18, Params(), Capabilities(), False),
    ):
        request = asker_request(messages=(ChatMessage("user", "a" * 400),), params=params, capabilities=capabilities)
        reported = Usage(*counts, provider_cost=Decimal("0.5"))
        usage, remark = settle_usage(reported, request, answer)
        tokens = 15 if answer.startswith("漢字") else -(-len(answer) // 4)
        estimate = Usage(100, tokens, provider_cost=Decimal("0.5"), estimated=True)
        assert usage == (reported if is_believed else estimate), (counts, answer)
        assert bool(remark) != is_believed, (counts, answer)


def test_q18_a_prompt_that_was_cut_shows_in_the_count(asker_request):
    for prompt_bytes, usage, context, cut in (
        *((40_000, Usage(4096, 1), None, True), (40_000, Usage(4000, 96), None, True)),
        *((40_000, Usage(5999, 1), 6000, True), (200_000, Usage(5000, 1), None, True)),
        *((40_000, Usage(5999, 1), None, False), (17_000, Usage(4096, 1), None, False)),
        (40_000, Usage(1, 4095, cached_input_tokens=9000), None, False),
        (40_000, Usage(96, 1, cached_input_tokens=1000, cache_write_tokens=3000), None, True),
        (40_000, Usage(4096, 1, estimated=True), None, False),
    ):
        messages = (ChatMessage("user", "x" * prompt_bytes),)
        request = asker_request(messages=messages, capabilities=Capabilities(context_tokens=context))
        assert prompt_was_cut(request, usage) is cut, (prompt_bytes, usage)


def test_the_providers_own_cost_wins_over_tokens_times_price_and_an_unknown_price_is_not_zero(asker_request):
    assert cost(Usage(10, 5, provider_cost=Decimal("0.5")), PRICE) == (Decimal("0.5"), "provider")
    assert cost(Usage(10, 5, provider_cost=Decimal(0)), PRICE) == (Decimal(0), "provider")
    usage = Usage(1000, 200, reasoning_tokens=150, cached_input_tokens=4000, cache_write_tokens=500)
    assert cost(usage, PRICE) == (Decimal("0.017"), "price")
    price = Price(Decimal("0.001"), Decimal("0.002"))
    assert cost(Usage(1, 1, cached_input_tokens=1), price) == (Decimal("0.004"), "price"), "cached costs like input"
    assert cost(Usage(10, 5), None) == (None, "unknown")
    assert reserve(asker_request(), None) is None


def test_a_reservation_assumes_the_longest_answer(asker_request):
    for most, capabilities, tokens in (
        (100, Capabilities(max_output_tokens=50), 100),
        (None, Capabilities(max_output_tokens=50), 50),
        (None, Capabilities(), 8192),
        (None, Capabilities(reasoning_effort=True), 32_768),
        (100, Capabilities(reasoning_effort=True), 100),
    ):
        messages, params = (ChatMessage("user", "x" * 300),), Params(max_tokens=most)
        request = asker_request(messages=messages, params=params, capabilities=capabilities)
        assert reserve(request, PRICE) == Decimal("0.01") + 100 * PRICE.input + tokens * PRICE.output, capabilities
