"""The score of a page: what the published curves give at the points they are named by."""

import pytest

from benchmarks.pages import CURVES, score
from tests.cases import each_case


@each_case("name", list(CURVES))
def test_each_curve_passes_through_its_points_and_falls(name: str) -> None:
    curve = CURVES[name]

    assert curve.score(curve.p10) == pytest.approx(0.9)
    assert curve.score(curve.median) == pytest.approx(0.5)
    scores = [curve.score(curve.median * share) for share in (0, 0.25, 0.5, 1, 2, 4)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1
    assert scores[-1] > 0


@each_case("at, expected", [("p10", 90), ("median", 50)])
def test_a_page_that_is_alike_in_all_figures_has_their_score(at: str, expected: int) -> None:
    assert score({name: getattr(curve, at) for name, curve in CURVES.items()}) == expected


def test_figures_weigh_as_published() -> None:
    perfect = dict.fromkeys(CURVES, 0.0)

    lost = {name: 100 - score(perfect | {name: 1e9}) for name in CURVES}

    assert lost == {"first_paint": 20, "largest_paint": 25, "blocking": 30, "shift": 25}
