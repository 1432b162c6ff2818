"""Token probabilities: what is known is averaged, what is not is said to be unknown."""

import math

import pytest

from experiments.runs.tokens import band, covers, strip, summary, together, token_view


def stored(*logprobs, **more):
    return [{"token": f"t{n}", "logprob": value, "alternatives": [], **more} for n, value in enumerate(logprobs)]


def ln(probability):
    return math.log(probability)


def test_a_probability_is_e_to_the_logprob_and_the_average_is_over_probabilities():
    view, impossible = token_view(stored(ln(0.9), ln(0.5), ln(0.1)), ""), token_view(stored(-math.inf, 0.0), "")

    assert [round(token.probability, 9) for token in view.tokens] == [0.9, 0.5, 0.1]
    assert view.confidence.average == pytest.approx(0.5)
    assert [token.probability for token in impossible.tokens] == [0.0, 1.0]
    assert impossible.confidence.average == 0.5
    assert [token.place for token in impossible.low] == [0]
    both = together([summary(stored(0.0, 0.0, 0.0)), summary(stored(ln(0.2)))])
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
        assert summary(stored(missing)).average is None, missing
    assert (summary(None), summary([]), together([]).average) == (None, None, None)
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
    short = strip(values, 100)

    assert (len(short), min(short)) == (100, 0.01)
    assert strip([None] * 50 + [0.5] * 50, 10) == [None] * 5 + [0.5] * 5
    assert strip([0.1, None], 10) == [0.1, None]
