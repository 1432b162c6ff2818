"""A judge that talks nonsense gives no numbers, and no number is made up in its place: not on the pages, not in the
charts, not in the API, the events, the reports and the exports. What is missing is a gap, and its reason is in words.
"""

import csv
import io
import json
import re

import pytest

from experiments.models import Event, Judgment, Run
from experiments.workflows.base.judge import RANGES, SENTIMENTS
from tests.making import maker
from tests.markup import Page

pytestmark = pytest.mark.django_db
DIGITS = re.compile(r"\d")


def reply(number):
    """A judge's answer with `number` in the place of every number."""
    side = dict.fromkeys(("goal_deviation", "cooperation", "confidence"), number)
    side |= {"sentiment": dict.fromkeys(SENTIMENTS, number), "notes": "It names its price."}
    return json.dumps(dict.fromkeys(("A", "B", "model"), side) | {"dynamics": "One presses."})


GARBAGE = {"prose": "Both sides did rather well this time.", "too large": reply(3737), "an error": 404}


@maker
def judged(scripted, arena, starchamber, start, drive, /, *answers, max_turns=2):
    """An arena run of two turns and a talk, both judged with these answers."""
    judge = scripted.model("scripted/judge", *answers, is_tool=True)
    speakers = [scripted.model(f"scripted/{name}", "I take some.") for name in ("one", "two", "three")]
    runs = [
        start(arena(*speakers[:2], judge_model=judge, filter=False, max_turns=max_turns)),
        start(starchamber(speakers[2], judge_model=judge, logprobs=False)),
    ]
    drive()
    return [Run.objects.get(pk=run.pk) for run in runs]


def fetched(browser, path):
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return b"".join(answer) if answer.streaming else answer.content


def checks_of(browser, run):
    """What looks for numbers in one kind of record each, by its name; pages and files after the rows."""

    def file(path):
        return fetched(browser, f"/runs/{run.pk}/{path}/")

    return {
        "rows": lambda: assert_rows(run),
        "api": lambda: assert_api(browser, run),
        "events": lambda: assert_events(run),
        "page": lambda: assert_page(browser, run),
        "html": lambda: assert_html(file("report/html").decode()),
        "csv": lambda: assert_table(file("export/csv").decode("utf-8-sig")),
        **({"experiment": lambda: assert_experiment(browser, run)} if run.experiment.workflow == "arena" else {}),
    }


@pytest.mark.parametrize("garbage", GARBAGE)
def test_no_row_page_and_file_has_a_number_that_no_judge_gave(judged, browser, garbage):
    """Pages and files are made of the rows: what each of them shows is looked at once."""
    runs = judged(GARBAGE[garbage])
    assert [run.state for run in runs] == ["completed", "waiting"]
    for run in runs:
        checks = checks_of(browser, run)
        for name in checks if garbage == "too large" else ("rows", "events", "api", "page"):
            checks[name]()


def test_these_checks_notice_a_number(judged, browser):
    for run in judged(reply(0.37)):
        for check in checks_of(browser, run).values():
            with pytest.raises(AssertionError):
                check()


def assert_rows(run):
    judgments = list(run.judgments.values("scores", "confidence", "unscored_reason"))
    assert len(judgments) == (4 if run.experiment.workflow == "arena" else 1)
    for judgment in judgments:
        is_unscored(judgment)


def assert_api(browser, run):
    assert_metrics(json.loads(fetched(browser, f"/api/runs/{run.pk}/"))["metrics"])
    for judgment in json.loads(fetched(browser, f"/api/runs/{run.pk}/judgments/"))["results"]:
        is_unscored(judgment)


def assert_events(run):
    kinds = {"judge_evaluation_completed": 0, "model_metrics": 0}
    for event in Event.objects.filter(run=run, type__in=kinds):
        kinds[event.type] += 1
        for judgment in event.data.get("judgments", []):
            is_unscored(judgment)
        if "metrics" in event.data:
            assert_metrics({event.data["seat"]: event.data["metrics"]})
    assert min(kinds.values()) > 0


def assert_page(browser, run):
    page = Page(fetched(browser, f"/runs/{run.pk}/").decode())
    verdicts = classed(page, "judgment") + classed(page, "verdict") + classed(page, "notes-list")
    assert verdicts
    for verdict in verdicts:
        assert not DIGITS.search(without(verdict, "unscored", "message-meta", "model-name")), verdict.text
    assert "not scored" in page.text.lower()
    assert_figures(page)


def assert_experiment(browser, run):
    page = Page(fetched(browser, f"/experiments/{run.experiment_id}/").decode())
    for cell in page.root.iter():
        is_figure = cell.get("data-label") in {"Mean", "95 % interval", "SD", "Range"}
        if is_figure and "token" not in cell.getparent().getparent().text.lower():
            assert not DIGITS.search(cell.text), cell.text
    found = json.loads(fetched(browser, f"/api/experiments/{run.experiment_id}/statistics/"))
    for subject in found["subjects"].values():
        for name, estimate in subject["measures"].items():
            if name != "tokens":
                values = {part: estimate[part] for part in ("n", "mean", "sd", "low", "high", "least", "most")}
                assert values == {"n": 0, **dict.fromkeys(("mean", "sd", "low", "high", "least", "most"))}, name


def test_a_turn_without_scores_between_two_with_scores_is_a_gap_in_every_line(judged, browser):
    def silent_in_the_second_turn(body):
        return "No idea, this time." if "turn, number 2" in body["messages"][0]["content"] else reply(0.2)

    run, _talk = judged(silent_in_the_second_turn, max_turns=3)
    assert {j.turn for j in Judgment.objects.filter(run=run) if j.scores} == {1, 3}

    for path in (f"/runs/{run.pk}/", f"/runs/{run.pk}/report/html/"):
        page = Page(fetched(browser, path).decode())
        lines = [part for part in page.root.iter("g") if "line" in (part.get("class") or "").split()]
        assert len(lines) >= 2 * (len(SENTIMENTS) + 2)
        for line in lines:
            strokes = [part for part in line.findall("polyline") if part.get("class") != "leader"]
            assert all(len((stroke.get("points") or "").split()) == 1 for stroke in strokes), "no stroke over the gap"
            assert len(line.findall("polygon")) == 2, "both values have their mark"


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
    of_judge = re.compile(r"deviat|cooperation|emotion|sentiment|judge's confidence", re.IGNORECASE)
    scores = [fact for fact in facts.values() if of_judge.search(fact[0].text)]
    assert len(scores) >= 3
    for fact in scores:
        assert not DIGITS.search(without(fact[1], "muted")), fact.text
    charts = classed(page, "chart")
    assert len(charts) >= 3
    for chart in charts:
        assert not {"polyline", "polygon", "circle", "path", "svg"} & {part.tag for part in chart.iter()}, chart.text
        assert all(not DIGITS.search(cell.text) for cell in chart.iter("td")), chart.text


def assert_html(html):
    page = Page(html)
    judgments = page.by_id("judgments")
    for line in judgments.iter("p", "td", "dd"):
        if "not scored" not in line.text:
            assert not DIGITS.search(line.text), line.text
    assert "not scored" in judgments.text
    assert_figures(page)


def assert_table(text):
    for row in csv.DictReader(io.StringIO(text)):
        if row["seat"] == "researcher":
            continue
        given = [value for name, value in row.items() if name.startswith("score_") or name == "judge_confidence"]
        assert given == [""] * (len(RANGES) + 1)
        assert row["unscored_reason"]
