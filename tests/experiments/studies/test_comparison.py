"""Studies, and campaigns, beside each other: what they share is pooled or compared, what they do not is refused."""

import httpx
import pytest
from django.urls import reverse

from accounts.tokens import create_token
from arena_lab import Arena
from experiments.models import Battle, Campaign, Experiment
from experiments.studies import comparison, results, services
from leaderboard.boards import compute
from leaderboard.ratings.studies import table
from leaderboard.ratings.studies.analysis import Plan, difference_of
from leaderboard.ratings.studies.pooling import pooled
from tests.client.conftest import IN_PROCESS, answer
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
