"""Hard limits of a run, where a call is made only if it fits for certain; totals, and pieces of text, that add up."""

from decimal import Decimal

from experiments.engine.events import joined
from experiments.engine.reservations import Spent, Totals, refuse


def test_a_call_is_made_only_if_its_cost_fits_and_the_last_token_is_used_and_no_more():
    for spent, reserved, limit, words in (
        ("1000000", None, None, None),
        ("0.99", "0.01", "1.00", None),
        ("1", "0", "1", None),
        ("0.99", "0.0101", "1.00", "could cost up to $0.0101; with $0.9900 spent"),
        ("0", None, "1000", "price"),
    ):
        cost, most = (value and Decimal(value) for value in (reserved, limit))
        refused = refuse(Spent(0, Decimal(spent)), cost, 1, tokens=None, cost=most)
        assert (refused and refused.reason) == (words and "limit_cost"), (spent, reserved, limit)
        assert words is None or words in refused.message

    def asked(spent, least, under_way=0):
        return refuse(Spent(spent, Decimal(9), under_way), None, least, tokens=100, cost=None)

    assert asked(99, 1) is None, "a limit of tokens asks nothing about money"
    assert asked(100, 1).reason == "limit_tokens"
    assert asked(30, 40, under_way=30) is None
    assert "at least 41 tokens; 40 are left" in asked(30, 41, under_way=30).message


def test_totals_of_runs_are_added_field_by_field_and_read_as_they_were_kept():
    first, second = Totals(1, 2, 3, 4, Decimal("0.5"), 6, 7), Totals(10, 20, 30, 40, Decimal("1.25"), 60, 70)

    assert first + second == Totals(11, 22, 33, 44, Decimal("1.75"), 66, 77)
    assert Totals.read(first.data) == first
    assert Totals.read({}) == Totals()


def piece(text="", reasoning="", offset=0, reasoning_offset=0, call="c1", type_="run.delta"):
    data = {"call": call, "text": text, "reasoning": reasoning}
    return {"type": type_, "data": {**data, "offset": offset, "reasoning_offset": reasoning_offset}}


def test_neighbouring_pieces_of_a_call_become_one_and_what_does_not_continue_a_piece_stays_by_itself():
    [one] = joined([piece("Hel", "hm", 5, 2), piece("lo", "", 8, 4), piece("!", "m", 10, 4)])

    assert one == piece("Hello!", "hmm", 5, 2)
    for second in (
        piece("lo", offset=4),  # one is missing between them
        piece("lo", offset=3, reasoning_offset=1),
        piece("lo", offset=3, call="c2"),
        piece("lo", offset=3, type_="run.event"),
    ):
        assert joined([piece("Hel"), second]) == [piece("Hel"), second]
    assert joined([]) == []
