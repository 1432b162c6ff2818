"""What is left of a budget, in numbers and as a bar."""

from experiments.lab.budgets.standing import Part
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
