"""Hard limits of a run: a call is made only if it fits for certain."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from experiments.engine.budget import Spent, refuse

money = st.decimals(min_value=0, max_value=1000, places=8)
tokens = st.integers(0, 10**9)


def refusal(spent_tokens=0, spent_cost="0", reservation="0.01", tokens=None, cost=None, least=1, under_way=0):
    reserved = None if reservation is None else Decimal(reservation)
    limit = None if cost is None else Decimal(cost)
    return refuse(Spent(spent_tokens, Decimal(spent_cost), under_way), reserved, least, tokens=tokens, cost=limit)


def test_without_limits_every_call_is_made():
    assert refusal(10**12, "1000000", None) is None


def test_a_call_that_fits_to_the_cent_is_made():
    assert refusal(spent_cost="0.99", reservation="0.01", cost="1.00") is None


def test_a_call_that_could_cost_more_than_is_left_is_not_made():
    refused = refusal(spent_cost="0.99", reservation="0.0101", cost="1.00")

    assert refused.reason == "limit_cost"
    assert refused.message == (
        "The next call could cost up to $0.0101; with $0.9900 spent or set aside, that is over the limit of $1.0000."
    )


def test_under_a_limit_of_cost_a_model_of_unknown_price_is_not_asked():
    refused = refusal(reservation=None, cost="1000")

    assert refused.reason == "limit_cost"
    assert "price" in refused.message


def test_a_free_call_is_made_when_all_money_is_spent():
    assert refusal(spent_cost="1", reservation="0", cost="1") is None


def test_the_last_token_is_used_and_no_more():
    assert refusal(spent_tokens=99, tokens=100) is None
    assert refusal(spent_tokens=100, tokens=100).reason == "limit_tokens"
    assert refusal(spent_tokens=30, under_way=30, least=40, tokens=100) is None
    refused = refusal(spent_tokens=30, under_way=30, least=41, tokens=100)
    assert refused.message == "The next call needs at least 41 tokens; 40 are left of the limit of 100 tokens."


@given(tokens, money, money, money)
def test_no_call_is_made_that_could_go_over_the_limit(used, spent, reservation, limit):
    is_made = refuse(Spent(used, spent), reservation, used, tokens=None, cost=limit) is None

    assert is_made == (spent + reservation <= limit)


@given(tokens, tokens, tokens, money, money | st.none())
def test_a_limit_of_tokens_asks_nothing_about_money(used, least, limit, spent, reservation):
    assert (refuse(Spent(used, spent), reservation, least, tokens=limit, cost=None) is None) == (used + least <= limit)
