"""The figures of the HTML report: tokens, scores, sentiments and costs, none of them invented."""

import re
from typing import Any

from tests.experiments.reports.html_pages import section, told, words
from tests.experiments.reports.records import SCORES, Record, logprobs


def test_tokens_are_told_with_bands_that_are_more_than_colours(alice: Any) -> None:
    record = Record(alice, "starchamber")
    record.reply("model", 1, "t0 t1 t2", call={"logprobs": logprobs(0.9, 0.8, 0.5, 0.25, 0.0)})

    html = told(record)

    assert "average confidence 49 %, 2 of 5 tokens below 50 %" in words(html)
    assert '<span class="high" title="90 %"> t0</span><span class="middle" title="80 %"> t1</span>' in html
    assert '<span class="middle" title="50 %"> t2</span><span class="low" title="25 %"> t3</span>' in html
    assert "less than 50 %, solid line" in html


def test_many_tokens_are_cut_and_say_so_but_all_count(alice: Any) -> None:
    record = Record(alice, "starchamber")
    record.reply("model", 1, "t", call={"logprobs": logprobs(*[1.0] * 300, *[0.5] * 300)})

    html = told(record)

    assert "average confidence 75 %" in words(html)
    assert "… and 300 tokens more" in html


def test_the_metrics_take_the_latest_judgment_of_an_answer_given_again(alice: Any) -> None:
    record = Record(alice, "starchamber")
    record.judged(1, {"model": {**SCORES, "goal_deviation": 80.0}})
    record.judged(1, {"model": {**SCORES, "goal_deviation": 10.0}})

    html = told(record)

    assert "80" in section(html, "judgments")
    assert "Goal deviation, average 10 %" in section(html, "metrics")
    assert "Turns to deviate N/A" in section(html, "metrics")


def test_all_seven_sentiments_are_drawn_over_the_turns_with_a_gap_where_a_turn_is_unscored(alice: Any) -> None:
    record = Record(alice)
    for turn in (1, 2, 3, 4):
        record.judged(turn, {"A": None if turn == 3 else SCORES})

    html = told(record)

    [chart] = re.findall(r'(?s)aria-labelledby="chart-A-sentiment-title">.*?</figure>', html)
    assert chart.count('<g class="line line-') == 7
    [fear] = re.findall(r'(?s)<g class="line line-fear".*?</g>', chart)
    assert len(re.findall(r"<polyline points", fear)) == 2
    assert [int(n) for n in re.findall(r'text-anchor="middle">(\d+)</text>', chart)] == [1, 2, 3, 4]
    assert "fear –" in chart


def test_the_dominant_emotion_is_the_strongest_over_all_turns(alice: Any) -> None:
    record = Record(alice)
    record.judged(1, {"A": {**SCORES, "fear": 0.9}, "B": dict.fromkeys(SCORES, 0.0)})

    metrics = section(told(record), "metrics")

    assert "Dominant emotion fear" in metrics
    assert "Dominant emotion none" in metrics


def test_unknown_costs_make_a_lower_bound(alice: Any) -> None:
    record = Record(alice)
    record.reply("A", 1, "Hello.")
    record.reply("B", 1, "Hi.", call={"cost": None, "output_tokens": None})

    costs = section(told(record), "costs")

    assert "≥ $0.0012 (1 call unknown)" in costs
    assert "≥ 20 (1 call unknown)" in costs
    assert "Model B · reply 1 100 – – unknown" in costs
