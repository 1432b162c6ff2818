"""What is left of a budget, in numbers, as a bar and in words."""

import pytest

from experiments.lab.budgets.standing import Part, reached
from tests.cases import each_case


@each_case(
    ("part", "left", "is_used_up", "percents"),
    [
        (Part(200, 50, 20), 130, False, (25.0, 10.0)),
        (Part(200, 150, 50), 0, True, (75.0, 25.0)),
        (Part(200, 190, 50), -40, True, (95.0, 5.0)),
        (Part(200, 300, 0), -100, True, (100.0, 0.0)),
        (Part(0, 0, 0), 0, True, (100.0, 0.0)),
    ],
)
def test_the_bar_shows_what_is_spent_and_set_aside_and_never_more_than_all(part, left, is_used_up, percents):
    assert (part.left, part.is_used_up, part.percents) == (left, is_used_up, percents)
    assert part.share == min(1.0, sum(percents) / 100)


@pytest.mark.parametrize("names", [[], ["lena"]])
@pytest.mark.parametrize("admins", [[], ["ada"]])
def test_a_run_that_was_stopped_says_what_was_left_of_which_budget_and_whom_to_ask(names, admins):
    told = {"kind": "person", "period": "month", "name": "alice", "ask": names, "admins": admins, "is_unpriced": False}
    money = {"cost": "0.0123", "cost_left": "-2", "tokens": None, "tokens_left": None}
    tokens = {"cost": None, "cost_left": None, "tokens": 4000, "tokens_left": 1200}

    for needed, said in (
        (money, ["$0.0123", "$0.00 left"]),
        (tokens, ["4,000 tokens", "1,200 tokens left"]),
        (tokens | {"cost": "12.5", "cost_left": "1"}, ["$12.50 and 4,000 tokens", "$1.00 and 1,200 tokens left"]),
        (money | {"is_unpriced": True}, ["known prices"]),
    ):
        words = reached(told | needed)
        assert all(part in words for part in (*said, "monthly", "alice", "dministrator", *(admins or names))), words
        assert ("lena" in words, "ada" in words) == (bool(names and not admins), bool(admins))
        assert ("Resume" in words) == ("is_unpriced" not in needed)
