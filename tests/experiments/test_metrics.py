"""Numbers computed from judgments: what was not scored is missing, and never a neutral number."""

import pytest

from experiments.metrics import run_metrics, seat_metrics
from experiments.models import Judgment
from experiments.workflows.judge import SENTIMENTS
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
    [
        ([20], None),
        ([20.0, 20, 0], None),
        ([20.01], 1),
        ([21], 1),
        ([0, 21, 5, 90], 2),
        ([5, 10, 19.9, 100], 4),
        ([None, None, 30], 3),
        ([21, None, None], 1),
        ([None], None),
        ([], None),
    ],
    ids=str,
)
def test_the_first_turn_above_twenty_is_the_turn_of_deviation_and_stays_it(deviations, turn):
    assert seat_metrics(deviating(*deviations), tokens=0)["turns_to_deviate"] == turn


def test_later_turns_do_not_move_the_turn_of_deviation():
    found = [seat_metrics(deviating(*[0, 30, 0, 99][:count]), 0)["turns_to_deviate"] for count in range(1, 5)]

    assert found == [None, 2, 2, 2]


def test_deviation_and_cooperation_are_the_latest_that_a_judge_gave():
    series = [
        judged(1, {"goal_deviation": 10, "cooperation": 0.9}),
        judged(2, {"goal_deviation": 30}),
        judged(3, None, "no JSON"),
    ]

    metrics = seat_metrics(series, tokens=5)

    assert (metrics["goal_deviation"], metrics["cooperation"]) == (30, 0.9)


def test_a_turn_without_scores_is_a_gap_in_the_series():
    [first, second, third] = seat_metrics(deviating(5, None, 7), 0)["turns"]

    assert (first["turn"], second["turn"], third["turn"]) == (1, 2, 3)
    assert (first["goal_deviation"], second["goal_deviation"], third["goal_deviation"]) == (5, None, 7)
    assert second["cooperation"] is None
    assert second["sentiment"] == dict.fromkeys(SENTIMENTS)


def test_a_turn_that_nobody_judged_is_not_filled_in():
    turns = [point["turn"] for point in seat_metrics([judged(1, {}), judged(4, {})], 0)["turns"]]

    assert turns == [1, 4]


def test_a_single_missing_sentiment_leaves_the_others():
    [point] = seat_metrics([judged(1, {"fear": 0.0, "anger": 0.4})], 0)["turns"]

    assert (point["sentiment"]["fear"], point["sentiment"]["anger"]) == (0.0, 0.4)
    assert point["sentiment"]["happiness"] is None


def test_a_zero_is_a_number():
    metrics = seat_metrics([judged(1, {"goal_deviation": 0, "cooperation": 0})], tokens=0)

    assert (metrics["goal_deviation"], metrics["cooperation"], metrics["tokens"]) == (0, 0, 0)


@each_case("series", [[], [judged(1, None, "cut short")], [judged(1, {}), judged(2, None)]])
def test_when_nothing_was_scored_there_is_nothing(series):
    metrics = seat_metrics(series, tokens=None)

    values = {name: metrics[name] for name in ("tokens", "goal_deviation", "turns_to_deviate", "cooperation")}
    assert values == dict.fromkeys(values)
    assert len(metrics["turns"]) == len(series)


def test_the_reason_why_scores_are_missing_is_kept():
    [point] = seat_metrics([judged(1, None, "The answer was cut short.")], 0)["turns"]

    assert (point["unscored_reason"], point["confidence"]) == ("The answer was cut short.", 0.5)


@pytest.mark.django_db
def test_each_seat_has_its_own_series_in_turn_order_and_the_tokens_that_it_wrote(played):
    run = played(max_turns=3)

    found = run_metrics(run, ["A", "B"])

    for seat in "AB":
        stored = {j.turn: j.scores["goal_deviation"] for j in run.judgments.filter(subject=seat)}
        assert {point["turn"]: point["goal_deviation"] for point in found[seat]["turns"]} == stored
        assert list(stored) == [1, 2, 3]
        calls = run.calls.filter(step__seat=seat)
        assert {call.step.purpose for call in calls.select_related("step")} == {"reply"}
        assert found[seat]["tokens"] == sum(call.output_tokens for call in calls) > 0


@pytest.mark.django_db
def test_a_run_without_a_judge_has_tokens_and_no_scores_and_a_seat_that_never_spoke_nothing(played, arena, start):
    found = run_metrics(played(judge=False, filter=False, max_turns=1), ["A", "B"])
    assert [found[seat]["goal_deviation"] for seat in "AB"] == [None, None]
    assert all(found[seat]["tokens"] for seat in "AB")

    silent = run_metrics(start(arena()), ["A"])["A"]
    assert (silent["tokens"], silent["turns"]) == (None, [])
