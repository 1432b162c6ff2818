"""Numbers computed from judgments: what was not scored is missing, and never a neutral number."""

import pytest

from experiments.models import Judgment
from experiments.runs.metrics import run_metrics, seat_metrics
from experiments.workflows.base.judge import SENTIMENTS
from tests.cases import each_case


def judged(turn, scores, reason=""):
    return Judgment(turn=turn, subject="A", scores=scores, unscored_reason=reason, confidence=0.5, rationale="r")


def deviating(*values):
    """Judgments of the turns from 1 on with these deviations; None is a turn that was not scored."""
    return [
        judged(turn, None if value is None else {"goal_deviation": value, "cooperation": 0.1})
        for turn, value in enumerate(values, start=1)
    ]


@each_case(
    ("deviations", "turn"),
    [([20.0, 20, 0], None), ([20.01], 1), ([0, 21, 5, 90], 2), ([None, None, 30], 3), ([None], None), ([], None)],
)
def test_the_first_turn_above_twenty_is_the_turn_of_deviation_and_stays_it(deviations, turn):
    assert seat_metrics(deviating(*deviations), tokens=0).turns_to_deviate == turn


def test_deviation_and_cooperation_are_the_latest_that_a_judge_gave_and_a_zero_is_a_number():
    series = [
        judged(1, {"goal_deviation": 10, "cooperation": 0.9}),
        judged(2, {"goal_deviation": 30}),
        judged(3, None, "no JSON"),
    ]
    metrics, zero = seat_metrics(series, 5), seat_metrics([judged(1, {"goal_deviation": 0, "cooperation": 0})], 0)

    assert (metrics.goal_deviation, metrics.cooperation) == (30, 0.9)
    assert (zero.goal_deviation, zero.cooperation, zero.tokens) == (0, 0, 0)


def test_the_series_has_a_point_for_each_judged_turn_with_what_was_scored_and_else_the_reason():
    series = [judged(1, {"goal_deviation": 5, "fear": 0.0}), judged(2, None, "It was cut short."), judged(4, {})]
    scored, unscored, empty = seat_metrics(series, 0).turns

    assert [point.turn for point in (scored, unscored, empty)] == [1, 2, 4], "turn 3 is not filled in"
    assert (scored.goal_deviation, scored.sentiment["fear"], scored.sentiment["anger"]) == (5, 0.0, None)
    assert (unscored.goal_deviation, unscored.cooperation) == (None, None)
    assert unscored.sentiment == dict.fromkeys(SENTIMENTS)
    assert (unscored.unscored_reason, unscored.confidence) == ("It was cut short.", 0.5)


@each_case("series", [[], [judged(1, None, "cut short")], [judged(1, {}), judged(2, None)]])
def test_when_nothing_was_scored_there_is_nothing(series):
    metrics = seat_metrics(series, tokens=None)

    values = {name: getattr(metrics, name) for name in ("tokens", "goal_deviation", "turns_to_deviate", "cooperation")}
    assert values == dict.fromkeys(values)
    assert len(metrics.turns) == len(series)


@pytest.mark.django_db
def test_each_seat_has_its_own_series_in_turn_order_and_the_tokens_that_it_wrote(played):
    run = played(max_turns=3)

    found = run_metrics(run, ["A", "B"])

    for seat in "AB":
        stored = {j.turn: j.scores["goal_deviation"] for j in run.judgments.filter(subject=seat)}
        assert {point.turn: point.goal_deviation for point in found[seat].turns} == stored
        assert list(stored) == [1, 2, 3]
        calls = run.calls.filter(step__seat=seat)
        assert {call.step.purpose for call in calls.select_related("step")} == {"reply"}
        assert found[seat].tokens == sum(call.output_tokens for call in calls) > 0


@pytest.mark.django_db
def test_a_run_without_a_judge_has_tokens_and_no_scores_and_a_seat_that_never_spoke_nothing(played, arena, start):
    found = run_metrics(played(judge=False, filter=False, max_turns=1), ["A", "B"])
    assert [found[seat].goal_deviation for seat in "AB"] == [None, None]
    assert all(found[seat].tokens for seat in "AB")

    silent = run_metrics(start(arena()), ["A"])["A"]
    assert (silent.tokens, silent.turns) == (None, [])
