"""What pages, files and figures say of a judgment that gave no score: a reason, and no number."""

import csv
import io
import json
import re

from pypdf import PdfReader

from experiments.workflows.base.judge import RANGES
from tests.markup import Page

DIGITS = re.compile(r"\d")


def is_unscored(judgment):
    assert judgment["scores"] is None
    assert judgment["confidence"] is None
    assert len(judgment["unscored_reason"].split()) > 2, "the reason is a sentence"


def assert_metrics(metrics):
    for seat, values in metrics.items():
        assert [values[name] for name in ("goal_deviation", "turns_to_deviate", "cooperation")] == [None] * 3, seat
        for turn in values["turns"]:
            shown = [turn["goal_deviation"], turn["cooperation"], turn["confidence"], *turn["sentiment"].values()]
            assert shown == [None] * len(shown)
            assert turn["unscored_reason"]


def without(element, *classes):
    """The words of an element, less those of its parts of these classes."""
    if set(classes) & set((element.get("class") or "").split()):
        return ""
    return " ".join([*element.xpath("text()"), *(without(child, *classes) for child in element)])


def classed(page, name):
    return [element for element in page.root.iter() if name in (element.get("class") or "").split()]


def assert_figures(page):
    """Every figure of what the judge found is a dash, and no chart draws a point."""
    facts = {f.text: f for f in page.root.iter("div") if [c.tag for c in f] == ["dt", "dd"]}
    scores = {name: fact for name, fact in facts.items() if is_score(fact[0].text)}
    assert len(scores) >= 3
    for fact in scores.values():
        assert not DIGITS.search(without(fact[1], "muted")), fact.text
    charts = classed(page, "chart")
    assert len(charts) >= 3
    for chart in charts:
        assert not {"polyline", "polygon", "circle", "path", "svg"} & {part.tag for part in chart.iter()}, chart.text
        assert all(not DIGITS.search(cell.text) for cell in chart.iter("td")), chart.text


def is_score(name):
    return bool(re.search(r"deviat|cooperation|emotion|sentiment|judge's confidence", name, re.IGNORECASE))


def assert_html(html):
    page = Page(html)
    judgments = page.by_id("judgments")
    for line in judgments.iter("p", "td", "dd"):
        if "not scored" not in line.text:
            assert not DIGITS.search(line.text), line.text
    assert "not scored" in judgments.text
    assert_figures(page)


def assert_pdf(pdf):
    text = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)
    assert "not scored" in text
    lines = [line for line in text.splitlines() if re.match(r"(Goal deviation|Cooperation|Sentiment|Dominant)", line)]
    assert lines
    assert "37" not in re.sub(r"[0-9a-f-]{36}", "", "".join(lines))
    for line in lines:
        value = re.sub(r"^.*?(latest|average|averages|emotion|confidence, average)\s*", "", line)
        assert not DIGITS.search(value) or "(0 to 1)" in line or "to 1)" in line, line


def assert_document(document):
    assert document["judgments"]
    for judgment in document["judgments"]:
        is_unscored(judgment)
    assert_metrics(document["metrics"])


def assert_lines(lines):
    kinds = [json.loads(line) for line in lines.splitlines()]
    judgments = [line.get("data", line) for line in kinds if line["kind"] == "judgment"]
    assert judgments
    for judgment in judgments:
        is_unscored(judgment)


def assert_table(text):
    for row in csv.DictReader(io.StringIO(text)):
        if row["seat"] == "researcher":
            continue
        given = [value for name, value in row.items() if name.startswith("score_") or name == "judge_confidence"]
        assert given == [""] * (len(RANGES) + 1)
        assert row["unscored_reason"]


def assert_inspect(log):
    [sample] = log["samples"]
    assert not any(score.get("value") for score in (sample.get("scores") or {}).values())
    assert (log["results"] or {}).get("scores", []) == []
    reasons = [entry["unscored_reason"] for entry in sample["metadata"]["unscored"].values()]
    assert reasons
    assert all(reasons)
