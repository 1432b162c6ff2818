"""Hard limits of a run: a call is made only if it fits for certain."""

from decimal import Decimal

from experiments.engine.reservations import Spent, refuse
from tests.cases import each_case


@each_case(
    ("spent", "reserved", "limit", "words"),
    [
        ("1000000", None, None, None),
        ("0.99", "0.01", "1.00", None),
        ("1", "0", "1", None),
        ("0.99", "0.0101", "1.00", "could cost up to $0.0101; with $0.9900 spent"),
        ("0", None, "1000", "price"),
    ],
    ids=["no limit", "to the cent", "a free call", "more than is left", "a model of unknown price"],
)
def test_a_call_is_made_only_if_its_cost_fits(spent, reserved, limit, words):
    cost, most = (value and Decimal(value) for value in (reserved, limit))
    refused = refuse(Spent(0, Decimal(spent)), cost, 1, tokens=None, cost=most)

    assert (refused and refused.reason) == (words and "limit_cost")
    assert words is None or words in refused.message


def test_the_last_token_is_used_and_no_more():
    def asked(spent, least, under_way=0):
        return refuse(Spent(spent, Decimal(9), under_way), None, least, tokens=100, cost=None)

    assert asked(99, 1) is None, "a limit of tokens asks nothing about money"
    assert asked(100, 1).reason == "limit_tokens"
    assert asked(30, 40, under_way=30) is None
    assert "at least 41 tokens; 40 are left" in asked(30, 41, under_way=30).message
