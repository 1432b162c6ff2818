"""Pieces of streaming text on their way to viewers, and what the runs of a campaign add up to."""

from decimal import Decimal

from experiments.engine.events import joined
from experiments.engine.reservations import Totals
from tests.cases import each_case


def piece(text="", reasoning="", offset=0, reasoning_offset=0, call="c1", type_="run.delta"):
    data = {"call": call, "text": text, "reasoning": reasoning}
    return {"type": type_, "data": {**data, "offset": offset, "reasoning_offset": reasoning_offset}}


def test_neighbouring_pieces_of_a_call_become_one_with_the_offsets_of_the_first():
    [one] = joined([piece("Hel", "hm", 5, 2), piece("lo", "", 8, 4), piece("!", "m", 10, 4)])

    assert one == piece("Hello!", "hmm", 5, 2)


@each_case(
    "second",
    [
        piece("lo", offset=4),  # one is missing between them
        piece("lo", offset=3, reasoning_offset=1),
        piece("lo", offset=3, call="c2"),
        piece("lo", offset=3, type_="run.event"),
    ],
)
def test_what_does_not_continue_a_piece_stays_by_itself(second):
    assert joined([piece("Hel"), second]) == [piece("Hel"), second]
    assert joined([]) == []


def test_totals_of_runs_are_added_field_by_field_and_read_as_they_were_kept():
    first, second = Totals(1, 2, 3, 4, Decimal("0.5"), 6, 7), Totals(10, 20, 30, 40, Decimal("1.25"), 60, 70)

    assert first + second == Totals(11, 22, 33, 44, Decimal("1.75"), 66, 77)
    assert Totals.read(first.data) == first
    assert Totals.read({}) == Totals()
