"""Runs in a figure, studies and campaigns beside each other: numbers lead to their runs, and nobody sees another's."""

from statistics import fmean

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.tokens import create_token
from arena_lab import Arena
from experiments.library.annotations import tags
from experiments.models import Battle, Campaign, Experiment, Judgment, Message, Run
from experiments.runs.statistics.estimates import share
from experiments.studies import charts, comparison, results, services
from leaderboard.boards import compute
from leaderboard.ratings.studies import table
from leaderboard.ratings.studies.analysis import Plan, difference_of
from leaderboard.ratings.studies.pooling import pooled
from tests.client.conftest import IN_PROCESS, answer
from tests.experiments.reviews import reviewed
from tests.experiments.studies import designs
from tests.fixtures import signed_in
from tests.leaderboard import boards
from tests.making import maker


@maker
def analyzed(provider, alice, drive, /, title, plan, design):
    study = designs.begun(alice, design, plan, title=title, at_once=100)
    drive()
    results.look(study, by=alice)
    return study


def query(*studies, **more):
    return {"study": [str(study.pk) for study in studies], **more}


def test_what_two_studies_share_is_pooled_and_numbers_lead_to_their_study(analyzed, browser, alice, read, monkeypatch):
    first, second = (
        analyzed(title, designs.plan(), designs.design(repeats=1, seed=seed))
        for title, seed in (("First", 3), ("Second", 8))
    )
    found = browser.get("/api/studies/compare/", query(first, second, outcome="refused")).json()

    assert (found["outcome"], found["outcomes"]) == ("refused", ["refused", "sooner", "tokens"])
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    with Arena(IN_PROCESS, create_token(alice)) as arena:
        told = arena.studies.compare(str(first.pk), str(second.pk), outcome="refused")
    assert [one.contrast for one in told.contrasts] == [one["contrast"] for one in found["contrasts"]]
    one = next(one for one in found["contrasts"] if one["contrast"] == "refusals of models")
    differences = []
    for study, estimate in zip((first, second), one["estimates"], strict=True):
        look = study.looks.get()
        plan = Plan.read(look.analyzed)
        own = difference_of(plan, plan.contrasts[1], table.read(plan, look.data))
        assert estimate["difference"] == {"value": own.value, "low": own.low, "high": own.high}
        stored = look.results["results"][1]
        assert (own.value, own.low, own.high) == (stored["difference"], stored["low"], stored["high"])
        differences.append(own)
    errors = [(d.high - d.low) / 3.919927969080108 for d in differences]
    together = pooled([d.value for d in differences], errors, most=1.0)
    assert (one["pooled"]["value"], one["pooled"]["low"]) == pytest.approx((together.value, together.low))

    page = read(browser.get(reverse("study-compare"), query(first, second, outcome="refused")))
    [section] = [part for part in page.by_id("compared").cssselect("section") if "refusals of models" in part.text]
    assert [row.cssselect("th")[0].text for row in section.cssselect("tbody tr")] == ["First", "Second", "Together"]
    for row, study in zip(section.cssselect("tbody tr"), (first, second), strict=False):
        links = [link.get("href") for link in row.cssselect("a")]
        assert links[0] == study.get_absolute_url()
        assert len(read(browser.get(links[1])).by_id("study-runs").cssselect("tbody tr")) == 4
    assert "2 studies together: difference" in page.by_id("compared").cssselect(".findings")[0].text


def test_other_scales_and_sources_and_what_does_not_vary_or_is_not_analyzed_are_not_pooled(
    analyzed, alice, browser, read, monkeypatch
):
    plan, other = designs.plan(explored=[designs.SOONER]), designs.plan(explored=[designs.SOONER])
    other["outcomes"][0]["source"] = designs.REFUSED | {"over": "any", "threshold": 0.5}
    other["outcomes"][2] |= {"least": 0, "most": 100_000}
    first, second = analyzed("First", plan, designs.small()), analyzed("Second", other, designs.small())
    reasons = {
        name: browser.get("/api/studies/compare/", query(first, second, outcome=name)).json()["contrasts"][0]
        for name in ("refused", "tokens")
    }

    assert {name: (one["pooled"], one["not_pooled"]) for name, one in reasons.items()} == {
        "refused": (None, "source"),
        "tokens": (None, "scale"),
    }
    page = read(browser.get(reverse("study-compare"), query(first, second, outcome="tokens")))
    assert "not on the same scale" in page.by_id("compared").text
    rows = [row.cssselect("th")[0].text for row in page.by_id("compared").cssselect(".compare-settings tbody tr")]
    assert [words for words in rows if words.endswith("differs")] == ["Scale from differs", "Scale to differs"]
    table = read(browser.get(reverse("study-compare"), query(first, second, outcome="refused"))).by_id("compared")
    [measured] = [row for row in table.cssselect(".compare-settings tbody tr") if "(0.5)" in row.text]
    assert not {"refusal", "over:", "seat:"} & set(measured.text.split())  # the plan's keys are no words

    with pytest.raises(comparison.Invalid, match="outcome “cost”"):
        comparison.of(comparison.chosen(alice, [str(study.pk) for study in (first, second)]), alice, "cost")
    waiting = services.create(owner=alice, title="Waits", design=designs.design(), plan=designs.plan())
    page = read(browser.get(reverse("study-compare"), query(first, waiting)))
    assert "Waits is not analyzed yet" in " ".join(page.by_id("compared").text.split())
    assert "Fewer than two of these studies" in page.by_id("compared").text

    seen = comparison._seen
    same = {"difference": 0.2, "low": 0.2, "high": 0.2}
    monkeypatch.setattr(comparison, "_seen", lambda look, contrast: {**seen(look, contrast), **same})
    contrasts = browser.get("/api/studies/compare/", query(first, second, outcome="sooner")).json()["contrasts"]
    assert {(one["pooled"], one["not_pooled"]) for one in contrasts} == {(None, "no_spread")}


@pytest.fixture
def campaigns(alice):
    """Two judges of the same battles of a and b on six prompts; the first judged a further prompt."""
    first = boards.board_of(alice, [("a", "b", winner) for winner in ("left",) * 4 + ("right", "tie", "left")])
    second = boards.judged_by(first.dataset, "another judge")
    others = [
        Battle(board=second, sample_id=sample, left_id=left, right_id=right, winner=winner, judged=judged)
        for (sample, left, right, judged), winner in zip(
            first.battles.order_by("sample__index").values_list("sample", "left", "right", "judged"),
            ("right", "right", "left", "left", "right", "right"),
            strict=False,
        )
    ]
    Battle.objects.bulk_create(others)
    made = []
    for board, title in ((first, "One judge"), (second, "Another")):
        experiment = Experiment.objects.create(owner=alice, workflow="battles", title=title, config={})
        Campaign.objects.create(experiment=experiment)
        board.battles.update(experiment=experiment)
        made.append(str(experiment.pk))
    return made


def test_win_rates_of_campaigns_are_compared_on_the_prompts_that_they_share_without_void_battles_or_such_of_two_bad(
    campaigns, alice, browser, monkeypatch
):
    asked = {"campaign": campaigns, "contestant": "a"}
    first, second = browser.get("/api/studies/campaigns/", asked).json()

    assert [first[name] for name in ("title", "battles", "prompts", "against")] == ["One judge", 7, 7, None]
    assert first["rate"] == pytest.approx(5.5 / 7)
    assert second["rate"] == pytest.approx(2 / 6)
    assert 0 <= second["low"] < second["rate"] < second["high"] <= 1
    against = second["against"]
    assert (against["prompts"], against["missing"]) == (6, "")
    assert against["difference"]["value"] == pytest.approx(2 / 6 - 4.5 / 6)
    assert against["p"] == against["adjusted"] == 2 / 2**3, "three prompts differ, all in one direction"

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    with Arena(IN_PROCESS, create_token(alice)) as arena:
        told = arena.studies.campaigns(*campaigns, contestant="b")
    assert [one.rate for one in told] == pytest.approx([1.5 / 7, 4 / 6])
    assert told[1].against.difference.value == pytest.approx(4.5 / 6 - 2 / 6)

    shared = Battle.objects.filter(experiment=campaigns[1]).order_by("sample__index")
    shared.exclude(pk=shared.first().pk).update(void_reason="a wrong judge")
    board = boards.board_of(alice, [("a", "b", winner) for winner in ("left", "both_bad", "tie")])
    _first, second = browser.get("/api/studies/campaigns/", asked).json()
    assert (second["battles"], second["rate"], second["low"]) == (1, 0, None)
    assert (second["against"]["difference"], second["against"]["missing"]) == (None, "too_few_units")

    board.battles.update(experiment=campaigns[0])
    Battle.objects.filter(experiment=campaigns[0]).exclude(board=board).delete()
    first, _second = browser.get("/api/studies/campaigns/", asked).json()
    [row] = [one for one in compute.current(compute.ensure_ladder(board)).standings.rows if one.name == "a"]
    assert (first["battles"], first["rate"]) == (2, row.win_rate) == (2, 0.75)


def test_what_cannot_be_compared_is_refused_and_nobody_sees_anothers(provider, campaigns, browser, alice, bob, charlie):
    asked = {"campaign": campaigns, "contestant": "a"}
    assert signed_in(charlie).get("/api/studies/campaigns/", asked).status_code == 404
    for changed, wrong in (({"contestant": "z"}, "contestant"), ({"campaign": campaigns[:1]}, "campaign")):
        refused = browser.get("/api/studies/campaigns/", asked | changed)
        assert (refused.status_code, list(refused.json()["errors"])) == (400, [wrong])
    assert browser.get("/api/studies/campaigns/", {**asked, "contestant": "\0"}).status_code == 400
    assert browser.get("/api/studies/campaigns/", {**asked, "campaign": ["x", "y"]}).status_code == 404

    own, others = (
        services.create(owner=who, title="Study", design=designs.design(), plan=designs.plan()) for who in (alice, bob)
    )
    assert browser.get("/api/studies/compare/", query(own, own)).status_code == 400
    assert browser.get("/api/studies/compare/", query(own, others)).status_code == 404
    assert browser.get(reverse("study-compare"), query(own, others)).status_code == 404
    back = browser.get(reverse("study-compare"), query(own))
    assert (back.status_code, back["Location"]) == (303, reverse("studies"))


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
