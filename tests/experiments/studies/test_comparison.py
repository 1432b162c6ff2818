"""Studies beside each other: what they share is pooled, what they do not is refused with its reason, nothing leaks."""

import httpx
import pytest
from django.urls import reverse

from accounts.tokens import create_token
from arena_lab import Arena
from experiments.studies import comparison, results, services
from leaderboard.ratings.studies import table
from leaderboard.ratings.studies.analysis import Plan, difference_of
from leaderboard.ratings.studies.pooling import pooled
from tests.client.conftest import IN_PROCESS, answer
from tests.experiments.studies import designs
from tests.making import maker

pytestmark = pytest.mark.django_db


@maker
def analyzed(provider, alice, drive, /, title, plan=None, **design):
    asked = {"design": designs.design(repeats=1, **design), "plan": plan or designs.plan()}
    study = services.create(owner=alice, title=title, at_once=100, **asked)
    services.lock(study, by=alice)
    services.start(study, by=alice)
    drive()
    results.look(study, by=alice)
    return study


def query(*studies, **more):
    return {"study": [str(study.pk) for study in studies], **more}


def test_what_two_studies_share_is_pooled_and_numbers_lead_to_their_study(analyzed, browser, alice, read, monkeypatch):
    first, second = analyzed("First"), analyzed("Second", seed=8)
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
    other = designs.plan()
    other["outcomes"][0]["source"] = designs.REFUSED | {"over": "any", "threshold": 0.5}
    other["outcomes"][2] |= {"least": 0, "most": 100_000}
    first, second = analyzed("First"), analyzed("Second", plan=other)
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

    third, seen = analyzed("Third"), comparison._seen
    same = {"difference": 0.2, "low": 0.2, "high": 0.2}
    monkeypatch.setattr(comparison, "_seen", lambda look, contrast: {**seen(look, contrast), **same})
    contrasts = browser.get("/api/studies/compare/", query(first, third, outcome="refused")).json()["contrasts"]
    assert {(one["pooled"], one["not_pooled"]) for one in contrasts} == {(None, "no_spread")}


def test_too_few_studies_and_those_of_others_are_refused(provider, alice, bob, browser):
    own, others = (
        services.create(owner=who, title="Study", design=designs.design(), plan=designs.plan()) for who in (alice, bob)
    )
    assert browser.get("/api/studies/compare/", query(own, own)).status_code == 400
    assert browser.get("/api/studies/compare/", query(own, others)).status_code == 404
    assert browser.get(reverse("study-compare"), query(own, others)).status_code == 404
    back = browser.get(reverse("study-compare"), query(own))
    assert (back.status_code, back["Location"]) == (303, reverse("studies"))
