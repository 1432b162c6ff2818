"""A figure of many runs by what they differ in: every number is that of its runs, and nobody sees another's."""

from statistics import fmean

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.library.annotations import tags
from experiments.models import Judgment, Message, Run
from experiments.runs.statistics.estimates import share
from experiments.studies import charts
from tests.experiments.reviews import reviewed
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


def groups_of(browser, measure, group, **filters):
    return browser.get("/api/runs/chart/", {"measure": measure, "group": group, **filters}).json()["groups"]


def charted(*asked, **filters):
    return {one["label"]: one for one in groups_of(*asked, **filters)}


def test_each_run_counts_once_in_each_of_its_groups_for_who_sees_it_and_what_was_not_measured_is_missing(
    browser, read, alice, charlie, played
):
    runs = [
        played("sim/cooperative:first=0", "sim/competitive:first=0"),
        played("sim/cooperative:first=0", "sim/competitive:first=0", max_turns=3),
        played("sim/cooperative:first=0:words=9", "sim/neutral:first=0:words=9"),
    ]
    tags.tag(runs[:1], "baseline", by=alice)
    tags.tag(runs[:2], "long", by=alice)
    counted = {label: one["n"] for label, one in charted(browser, "run:turns", "tag").items()}
    assert counted == {"baseline": 1, "long": 2, "no tag": 1}

    assert sorted(one["n"] for one in charted(browser, "run:turns", "seat:B").values()) == [1, 2]
    assert list(charted(browser, "run:turns", "day")) == [f"{runs[0].created:%Y-%m-%d}"]
    assert [one["n"] for one in groups_of(browser, "run:turns", "experiment")] == [1, 1, 1]
    seated = runs[2].experiment.participants.get(seat="B").model.slug
    [only] = groups_of(browser, "run:turns", "models", model=seated)
    assert [one["run"] for one in only["values"]] == [str(runs[2].pk)]
    found = browser.get("/api/runs/chart/", {"measure": "judgment:charm:Z", "group": "weather"}).json()
    assert (found["measure"], found["group"]) == ("run:output_tokens", "models"), "the first choice"

    theirs = signed_in(charlie)
    assert charted(theirs, "run:cost", "models") == {}
    empty = read(theirs.get("/runs/chart/")).by_id("runs-chart")
    assert empty.cssselect(".measures") == []
    assert [link.get("href") for link in empty.cssselect(".empty-page a")] == ["/runs/?whose=all"]

    tokens = {str(run.pk): run.output_tokens for run in Run.objects.with_totals()}
    labels = [
        " + ".join(one.model.label for one in run.experiment.participants.filter(seat__in="AB").order_by("id"))
        for run in runs
    ]

    groups = charted(browser, "run:output_tokens", "models")
    assert set(groups) == set(labels)
    assert labels[0] == labels[1] != labels[2]
    assert {one["run"]: one["value"] for one in groups[labels[0]]["values"]} == {
        str(run.pk): tokens[str(run.pk)] for run in runs[:2]
    }
    assert groups[labels[0]]["mean"] == fmean(tokens[str(run.pk)] for run in runs[:2])
    assert groups[labels[0]]["low"] == 0 < groups[labels[0]]["mean"] < groups[labels[0]]["high"]  # cut at the scale
    assert (groups[labels[2]]["n"], groups[labels[2]]["low"]) == (1, None)

    asked = {"measure": "run:output_tokens", "group": "models"}
    page = read(browser.get("/runs/chart/", asked)).by_id("runs-chart")
    rows = page.cssselect(".measures tbody tr")
    links = [[link.get("href") for link in row.cssselect("a")] for row in rows]
    assert [row.cssselect("th")[0].text for row in rows] == [labels[0], labels[2]]  # the highest first
    assert links == [[run.get_absolute_url() for run in runs[:2]], [runs[2].get_absolute_url()]]
    assert [len(row.cssselect("svg.strip circle")) for row in rows] == [2, 1]

    Judgment.objects.filter(run=runs[0]).delete()
    Message.objects.filter(pk=runs[1].messages.filter(seat="B").first().pk).update(flags={"refusal": {"by": "rule"}})
    [scored] = charted(browser, "judgment:cooperation:A", "workflow").values()
    by_turn = Judgment.objects.filter(run=runs[1], subject="A").values_list("scores", flat=True)
    values = {one["run"]: one["value"] for one in scored["values"]}
    assert (scored["n"], scored["missing"], set(values)) == (2, 1, {str(runs[1].pk), str(runs[2].pk)})
    assert values[str(runs[1].pk)] == pytest.approx(fmean(scores["cooperation"] for scores in by_turn))
    [flagged] = charted(browser, "flag:refusal:B", "workflow").values()
    wilson = share([False, True, False])
    assert [one["value"] for one in flagged["values"]] == [0, 1, 0]
    assert (flagged["mean"], flagged["low"], flagged["high"]) == (1 / 3, wilson.low, wilson.high)


def test_more_runs_ask_the_database_no_more_and_only_the_newest_are_drawn(alice, monkeypatch):
    runs = [reviewed.record(alice, turns).run for turns in (1, 2, 1)]

    def asked(rows):
        with CaptureQueriesContext(connection) as found:
            chart = charts.chart(rows, measure="judgment:cooperation:A", by="tag", reader=alice)
        return chart, len(found)

    one, few = asked(Run.objects.filter(pk=runs[0].pk))
    every, many = asked(Run.objects.all())
    assert (one.runs, every.runs, every.is_cut) == (1, 3, False)
    assert many == few

    monkeypatch.setattr(charts, "MOST_RUNS", 2)
    monkeypatch.setattr(charts, "MOST_GROUPS", 1)
    cut, _count = asked(Run.objects.all())
    assert (cut.runs, cut.is_cut) == (2, True)
    assert {run for group in cut.groups for run in group.runs} == set(runs[1:])
    drawn, _count = asked(Run.objects.filter(pk__in=[runs[1].pk, runs[2].pk]))
    assert (len(drawn.groups), drawn.hidden) == (1, 0)
