"""The score of a page: what the published curves give at the points they are named by."""

import pytest

from benchmarks.pages import CURVES, score


def test_each_curve_passes_through_its_points_and_falls_and_figures_weigh_as_published() -> None:
    for name, curve in CURVES.items():
        assert curve.score(curve.p10) == pytest.approx(0.9), name
        assert curve.score(curve.median) == pytest.approx(0.5), name
        scores = [curve.score(curve.median * share) for share in (0, 0.25, 0.5, 1, 2, 4)]
        assert scores == sorted(scores, reverse=True), name
        assert (scores[0], scores[-1] > 0) == (1, True), name

    for at, expected in (("p10", 90), ("median", 50)):
        assert score({name: getattr(curve, at) for name, curve in CURVES.items()}) == expected
    perfect = dict.fromkeys(CURVES, 0.0)
    lost = {name: 100 - score(perfect | {name: 1e9}) for name in CURVES}
    assert lost == {"first_paint": 20, "largest_paint": 25, "blocking": 30, "shift": 25}
