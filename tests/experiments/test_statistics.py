"""What a run and runs together say: figures against known values; what no judge scored is missing, and no number."""

import math
from decimal import Decimal
from uuid import UUID

import pytest

from experiments.models import Judgment
from experiments.runs import tokens
from experiments.runs.drawings.bars import STRIP_HEIGHT, STRIP_WIDTH, reach, strip
from experiments.runs.drawings.charts import PERCENT, SHARE, Series, Spread, chart
from experiments.runs.metrics import run_metrics, seat_metrics
from experiments.runs.statistics.estimates import contrast, estimate, paired, share
from experiments.runs.statistics.summary import (
    COLUMNS,
    MEASURES,
    SWITCHES,
    RunFacts,
    Statistics,
    SubjectFacts,
    TurnScores,
    table,
    values_of,
    why_left_out,
)
from experiments.runs.tokens import band, covers, together, token_view
from experiments.workflows.base.judge import SENTIMENTS
from leaderboard.ratings.statistics import incomplete_beta, t_quantile


def test_the_quantiles_of_t_are_those_of_every_printed_table_and_of_its_closed_forms():
    at_95 = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 30: 2.042, 120: 1.980}
    assert {degrees: round(t_quantile(0.95, degrees), 3) for degrees in at_95} == at_95
    assert [round(t_quantile(*given), 3) for given in ((0.99, 5), (0.99, 40), (0.90, 10))] == [4.032, 2.704, 1.812]
    assert t_quantile(0.95, 1) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-9)
    assert t_quantile(0.95, 2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-9)
    assert t_quantile(0.95, 4) > t_quantile(0.95, 4.5) > t_quantile(0.95, 5)
    assert [incomplete_beta(x, 2, 3) for x in (0, 1)] == [0, 1]
    assert t_quantile(0.95, 1e7) == pytest.approx(1.959964, abs=1e-6)
    for confidence, degrees in ((0, 5), (1, 5), (0.95, 0), (0.95, -1)):
        with pytest.raises(ValueError, match="needed"):
            t_quantile(confidence, degrees)


def test_an_estimate_of_five_values_is_the_textbooks_and_equal_ones_have_no_spread_that_rounding_made():
    found, equal = estimate([2, 4, 4, 5, 7]), estimate([0.1] * 7)

    assert (found.n, found.missing, found.least, found.most) == (5, 0, 2, 7)
    assert found.mean == pytest.approx(4.4)
    assert found.sd == pytest.approx(1.81659, abs=1e-5)
    assert (found.low, found.high) == (pytest.approx(2.14440, abs=1e-4), pytest.approx(6.65560, abs=1e-4))
    assert found.no_interval == ""
    assert (equal.mean, equal.sd, equal.low, equal.high) == (0.1, 0, 0.1, 0.1)


def test_missing_values_are_left_out_and_counted_and_zero_is_none_of_them():
    for values, *known in (
        ([None, 10, None, 20, None], 2, 3, 15, pytest.approx(math.sqrt(50)), ""),
        ([None, 10], 1, 1, 10, None, "one_value"),
        ([None, None], 0, 2, None, None, "no_value"),
        ([0, 0.0, None], 2, 1, 0, 0, ""),
    ):
        found = estimate(values)
        assert [found.n, found.missing, found.mean, found.sd, found.no_interval] == known, values
        assert found.asked == len(values)
        assert (found.low is None, found.high is None) == (bool(found.no_interval),) * 2, values


def test_a_difference_is_taken_run_by_run():
    found = paired([10, 20, 30, None], [9, 18, 27, 5])

    assert (found.n, found.missing, found.mean) == (3, 1, 2)
    assert found.high - found.mean == pytest.approx(t_quantile(0.95, 2) / math.sqrt(3))
    severe, mild = [80, 20, 50], [70, 10, 40]
    assert paired(severe, mild).sd == 0, "it takes out what both sides of a run share"
    assert contrast(severe, mild).low < 0 < contrast(severe, mild).high


def test_groups_of_different_spread_get_welchs_interval_and_those_without_a_clear_difference():
    """Checked by hand: v1 = 2.5 / 5, v2 = 10 / 5, df = 2.5² / (0.25 / 4 + 4 / 4) = 5.882, t = 2.4590, se = √2.5."""
    found, clear = contrast([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]), contrast([1.0] * 10, [0, 0])

    assert found.difference == -3
    assert found.high - found.difference == pytest.approx(t_quantile(0.95, 100 / 17) * math.sqrt(2.5))
    assert found.high - found.difference == pytest.approx(3.888, abs=0.002)
    assert (clear.difference, clear.low, clear.high) == (1, 1, 1)
    small = (([], [1, 2], None, "no_value"), ([5], [1, 3], 3, "one_value"), ([1, 3], [], None, "no_value"))
    for first, second, difference, why in small:
        found = contrast(first, second)
        assert (found.difference, found.low, found.high, found.no_interval) == (difference, None, None, why)


def test_a_share_has_wilsons_interval():
    """Wilson for 3 of 5: 0.2307 to 0.8824; he never leaves 0 to 1, not even for none of five."""
    found, none = share([True, True, False, True, False, None]), share([False] * 5)

    assert (found.count, found.n, found.missing, found.share) == (3, 5, 1, 0.6)
    assert (found.low, found.high) == (pytest.approx(0.2307, abs=1e-4), pytest.approx(0.8824, abs=1e-4))
    assert (none.low, none.share) == (0, 0)
    assert none.high == pytest.approx(0.4345, abs=1e-4)
    unknown = share([None, None])
    assert (unknown.n, unknown.missing, unknown.share, unknown.low, unknown.high) == (0, 2, None, None, None)


def facts(*deviations, tokens=100, cooperation=None):
    turns = [
        TurnScores(turn, {"goal_deviation": value, "cooperation": cooperation})
        for turn, value in enumerate(deviations, start=1)
    ]
    return SubjectFacts(tuple(turns), tokens)


def test_the_final_deviation_is_that_of_the_last_turn_alone_and_unknown_without_a_judge():
    assert values_of(facts(10, 30)).measures["final_deviation"] == 30
    assert values_of(facts(10, 30, None)).measures["final_deviation"] is None
    assert values_of(facts(10, 30, None)).measures["mean_deviation"] == 20
    unjudged = values_of(SubjectFacts((), 42)).measures
    assert unjudged.pop("tokens") == 42
    assert set(unjudged.values()) == {None}


def test_whether_and_when_a_run_deviated():
    known = {(20.0, 20): (False, None), (20.01,): (True, 1), (0, 21, 5, 90): (True, 2), (None, 20.1): (True, 2)}
    known |= {(None, 3): (False, None), (None, None): (None, None), (): (None, None)}
    for deviations, (deviated, turn) in known.items():
        values = values_of(facts(*deviations))
        assert (values.deviated, values.deviated_in) == (deviated, turn), deviations
        scores = [None if value is None else {"goal_deviation": value} for value in deviations]
        series = [judged(number, given) for number, given in enumerate(scores, 1)]
        assert seat_metrics(series, tokens=0).turns_to_deviate == turn, deviations


def test_only_runs_that_were_played_here_to_their_end_count_by_themselves():
    known = {("completed", "live", ()): "", ("stopped", "live", ("stopped",)): ""}
    known |= {("failed", "live", ("stopped",)): "failed", ("completed", "branch", ("branch",)): ""}
    known |= {("stopped", "branch", ("branch",)): "stopped", ("completed", "imported", ()): "imported"}
    known |= {("completed", "demonstration", SWITCHES): "demonstration", ("waiting", "live", SWITCHES): "live"}
    assert {given: why_left_out(*given) for given in known} == known


def run(number, a, b, *, begins="A"):
    return RunFacts(
        UUID(int=number), number, "completed", "live", begins, 2, Decimal("0.5"), {"A": facts(*a), "B": facts(*b)}
    )


def test_the_turn_of_deviation_is_averaged_over_those_runs_alone_that_deviated_and_differences_are_paired_by_run():
    runs = (run(1, [30], [10]), run(2, [0, 0, 30], [20]), run(3, [0], [0]), run(4, [None], [0]))
    statistics, nothing = Statistics(runs, ("A", "B")), Statistics((), ("A", "B"))

    summary = statistics.summaries["A"]
    assert (summary.deviated.count, summary.deviated.n, summary.deviated.missing) == (2, 3, 1)
    assert (summary.deviated_in.n, summary.deviated_in.missing, summary.deviated_in.mean) == (2, 0, 2)
    found = statistics.difference["final_deviation"]
    assert (found.mean, found.n, found.missing) == (10, 3, 1)
    assert Statistics(runs, ("A",)).difference is None

    assert nothing.longest == 0
    assert {e.mean for e in nothing.summaries["A"].measures.values()} == {None}
    assert nothing.summaries["A"].turns == ()


def test_a_turn_counts_the_runs_that_reached_it():
    runs = (run(1, [10, 20, 30], [0]), run(2, [20, None], [0]), run(3, [30], [0]))
    turns = Statistics(runs, ("A", "B")).summaries["A"].turns

    assert [(t.turn, t.goal_deviation.n, t.goal_deviation.missing) for t in turns] == [(1, 3, 0), (2, 1, 1), (3, 1, 0)]
    assert turns[1].goal_deviation.mean == 20
    assert turns[1].goal_deviation.low is None


def test_what_beginning_does_compares_the_runs_that_a_side_begins_with_the_others():
    told = ((10, 50, "B"), (20, 60, "A"), (12, 52, "B"), (22, 62, "A"))
    runs = tuple(run(number, [a], [b], begins=begins) for number, (a, b, begins) in enumerate(told, 1))
    beginning = Statistics(runs, ("A", "B"), is_counterbalanced=True).beginning

    assert beginning["A"]["final_deviation"].difference == 10
    assert beginning["B"]["final_deviation"].difference == -10
    assert beginning["A"]["final_deviation"].first.n == 2
    assert Statistics(runs, ("A", "B")).beginning is None


def test_the_table_has_an_empty_cell_where_there_is_no_value():
    [first, second] = table(Statistics((run(7, [None], [40]),), ("A", "B")))
    a, b = dict(zip(COLUMNS, first, strict=True)), dict(zip(COLUMNS, second, strict=True))

    assert (a["subject"], a["final_deviation"], a["deviated"], a["deviated_in"], a["scored_turns"]) == (
        *("A", None, None, None, 0),
    )
    assert (b["subject"], b["final_deviation"], b["deviated"], b["deviated_in"], b["cost"]) == ("B", 40, 1, 1, "0.5")
    assert set(MEASURES) <= set(COLUMNS)


def area(lows, highs):
    turns = list(range(1, len(lows) + 1))
    series = Series("a", "a", tuple(50.0 for _ in turns))
    [found] = chart(turns, [series], PERCENT, spreads=[Spread("a", tuple(lows), tuple(highs))]).areas
    return found


def test_a_band_goes_along_the_upper_ends_and_back_along_the_lower_ones_with_breaks_and_inside_the_plot():
    [shape] = area([10, 20, 30], [40, 50, 60]).shapes
    drawn = chart([1, 2, 3], [Series("a", "a", (10.0, 20.0, 30.0)), Series("b", "b", (40.0, 50.0, 60.0))], PERCENT)
    low, high = (line.segments[0] for line in drawn.lines)
    assert shape == (*high, *reversed(low))

    shapes = area([10, None, 30, 40], [40, None, 60, 70]).shapes
    assert [len(shape) for shape in shapes] == [4, 4]
    assert shapes[0][0][0] < shapes[0][1][0] < shapes[1][0][0]

    [wide] = area([-80, -80], [180, 180]).shapes
    [top, bottom] = sorted({y for _x, y in wide})
    assert 0 <= top < bottom <= 150


def test_a_strip_has_a_dot_per_value_and_the_mean_between_them_and_of_nothing_none():
    values = [0.1, None, 0.5, 0.5]
    drawn, nothing = strip(values, estimate(values), SHARE), strip([None], estimate([None]), SHARE)

    assert len(drawn.dots) == 3
    assert len(set(drawn.dots)) == 3
    assert drawn.dots[0][0] < drawn.mean < drawn.dots[1][0]
    assert 0 <= drawn.low < drawn.mean < drawn.high <= STRIP_WIDTH
    assert all(0 < y < STRIP_HEIGHT for _x, y in drawn.dots)
    assert (nothing.dots, nothing.mean, nothing.low, nothing.high) == ((), None, None, None)
    assert (reach([None, 3.0, 700.0]).high, reach([None, 0.0]).high) == (700, 1), "to the largest value"


def judged(turn, scores, reason=""):
    return Judgment(turn=turn, subject="A", scores=scores, unscored_reason=reason, confidence=0.5, rationale="r")


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
    for series in ([], [judged(1, None, "cut short")], [judged(1, {}), judged(2, None)]):
        metrics = seat_metrics(series, tokens=None)
        values = [metrics.tokens, metrics.goal_deviation, metrics.turns_to_deviate, metrics.cooperation]
        assert (values, len(metrics.turns)) == ([None] * 4, len(series)), "nothing was scored"


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
    silent = run_metrics(run, ["C"])["C"]
    assert (silent.tokens, silent.turns) == (None, [])


def stored(*logprobs, **more):
    return [{"token": f"t{n}", "logprob": value, "alternatives": [], **more} for n, value in enumerate(logprobs)]


def ln(probability):
    return math.log(probability)


def test_a_probability_is_e_to_the_logprob_and_the_average_is_over_probabilities():
    view, impossible = (
        token_view(stored(ln(0.9), ln(0.5), ln(0.1)), ""),
        token_view(stored(-math.inf, 0.0), ""),
    )

    assert [round(token.probability, 9) for token in view.tokens] == [0.9, 0.5, 0.1]
    assert view.confidence.average == pytest.approx(0.5)
    assert [token.probability for token in impossible.tokens] == [0.0, 1.0]
    assert impossible.confidence.average == 0.5
    assert [token.place for token in impossible.low] == [0]
    both = together([tokens.summary(stored(0.0, 0.0, 0.0)), tokens.summary(stored(ln(0.2)))])
    assert both.average == pytest.approx(0.8), "of several answers, over their tokens"
    assert (both.tokens, both.low) == (4, 1)


def test_the_borders_belong_to_the_middle():
    bands = {1.0: "high", 0.81: "high", 0.8: "middle", 0.5: "middle", 0.499: "low", 0.0: "low", None: "unknown"}
    assert {probability: band(probability) for probability in bands} == bands


def test_a_token_without_a_number_is_shown_and_counts_in_no_average():
    for missing in (None, math.nan, "-0.1", True):
        view = token_view(stored(ln(0.5), missing), "")
        assert view.confidence.average == pytest.approx(0.5), missing
        assert (view.confidence.tokens, view.confidence.known, view.low) == (2, 1, ()), missing
        assert view.tokens[1].band == "unknown", missing
        assert tokens.summary(stored(missing)).average is None, missing
    assert (tokens.summary(None), tokens.summary([]), together([]).average) == (None, None, None)
    assert token_view(stored(0.0001), "").tokens[0].probability == 1.0, "rounding above zero is certainty"


def test_alternatives_have_their_probabilities_and_odd_ones_break_nothing():
    others = [{"token": " a", "logprob": ln(0.25)}, {"token": " b"}]
    [token] = token_view([{"token": " x", "logprob": ln(0.5), "alternatives": others}], "").tokens
    assert [(a.token, a.probability) for a in token.alternatives] == [(" a", pytest.approx(0.25)), (" b", None)]

    for alternatives in (None, [], ["nonsense"], 7 * [None]):
        [token] = token_view([{"token": "a", "logprob": -0.1, "alternatives": alternatives}], "").tokens
        assert token.alternatives == ()
    for broken in (None, 3, "x", [], {}):
        [token] = token_view([broken], "").tokens
        assert (token.token, token.probability) == ("", None)


def test_it_is_known_whether_the_tokens_spell_the_answer():
    told = {("Hel", "lo"): "all", ("Hel", "lo", "\n"): "all", ("Hm. ", "Hello"): "all"}
    told |= {("Hel",): "part", ("Bye",): "other", (): "other"}
    assert {tokens: covers(list(tokens), "Hello") for tokens in told} == told


def test_a_strip_keeps_every_dip_of_a_long_answer_and_has_gaps_where_nothing_is_known():
    values = [0.9] * 5000
    values[3210] = 0.01
    short = tokens.strip(values, 100)

    assert (len(short), min(short)) == (100, 0.01)
    assert tokens.strip([None] * 50 + [0.5] * 50, 10) == [None] * 5 + [0.5] * 5
    assert tokens.strip([0.1, None], 10) == [0.1, None]
