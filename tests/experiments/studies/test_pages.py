"""The page of a study: what can be done next, its conditions filling up, and its results with their reasons."""

import pytest
from django.urls import reverse

from experiments.models import Call, Run
from experiments.studies import services
from experiments.templatetags.arena import p_value
from tests.experiments.studies import designs

pytestmark = pytest.mark.django_db


def test_a_study_is_locked_started_and_analyzed_on_its_page(provider, alice, browser, drive, read):
    plan = designs.plan()
    plan["explored"] = [*plan["explored"], designs.SOONER]
    study = services.create(owner=alice, title="Refusals <b>", design=designs.design(repeats=1), plan=plan)
    address = reverse("study", args=[study.pk])
    [link] = read(browser.get(reverse("studies"))).find("a", href=address)
    assert link.text == "Refusals <b>"
    assert browser.get(reverse("study-design", args=[study.pk]))["Location"] == address, "made by no form"

    for verb in ("lock", "start"):
        assert read(browser.get(address)).find("form", action=f"{address}{verb}/")
        assert browser.post(f"{address}{verb}/").status_code == 302
    drive()
    live = read(browser.get(address, headers={"HX-Request": "true"})).by_id("study-live")
    assert (live.get("data-state"), live.get("hx-get")) == ("completed", None), "else a click anywhere loads the page"
    assert [link.text for link in live.cssselect("td a")] == ["1/1"] * 8
    browser.post(f"{address}look/")

    page = read(browser.get(address))
    results_part = page.by_id("results-title").getparent().getparent()
    found = results_part.cssselect(".measures tbody tr")
    names = ("tokens of models tokens", "refusals of models refused", "refusals of contexts refused")
    assert [row.cssselect("th")[0].text for row in found] == [*names, "models in time sooner"]
    assert [row.cssselect(".badge")[0].text for row in found][1:] == ["not found", "exploratory", "exploratory"]
    assert "mixed model" in found[2].text.casefold()
    assert all(row.cssselect("svg.strip") for row in found)
    [curves] = results_part.cssselect("figure.curves")
    links = [link.get("href").split("?")[1] for link in curves.cssselect(".curve-names a")]
    assert links == [f"contrast=models+in+time&side={side}" for side in ("first", "second")]
    assert [len(line.cssselect("polyline")) for line in curves.cssselect("g.line")] == [1, 1]
    turns = {
        row.cssselect("th")[0].text: [cell.text for cell in row.cssselect("td")] for row in curves.cssselect("tbody tr")
    }
    assert [turns["0"][at] for at in (1, 3)] == ["4", "4"], "all runs are at risk in the beginning"
    assert {band.get("aria-label").split(":")[0] for band in curves.cssselect(".band")} == {f"Turn {n}" for n in turns}
    behind = read(browser.get(f"{address}runs/{found[0].cssselect('td a')[0].get('href').split('/')[-1]}"))
    rows = behind.by_id("study-runs").cssselect("tbody tr")
    assert [(row.cssselect("td")[0].text.split(", ")[0], len(row.cssselect("th a"))) for row in rows] == [
        ("long", 1)
    ] * 4
    assert browser.get(f"{address}folder/")["Content-Type"] == "application/zip"
    assert browser.post(f"{address}erase/").status_code == 404
    assert [p_value(one) for one in (None, 0.0, 0.00009, 0.0312)] == ["–", "< 0.0001", "< 0.0001", "0.0312"]


def test_runs_that_wait_for_a_person_and_models_of_several_upstreams_are_told(provider, alice, browser, drive, read):
    study = designs.begun(alice, designs.small(), designs.small_plan())
    address, api = study.get_absolute_url(), reverse("api-study-detail", args=[study.pk])
    runs = Run.objects.filter(planned__study=study)
    runs.update(state=Run.State.WAITING)
    live = read(browser.get(address)).by_id("study-live")
    assert live.get("data-state") == "running"
    [waiting] = live.cssselect("[data-part=waiting]")
    assert "4 runs" in " ".join(waiting.text.split())

    runs.update(state=Run.State.QUEUED)
    drive()
    assert browser.get(api).json()["upstreams"] == []
    calls = Call.objects.filter(run__planned__study=study, state="completed").order_by("pk")
    changed = calls.first()
    calls.filter(pk=changed.pk).update(served_provider="Elsewhere")
    [told] = browser.get(api).json()["upstreams"]
    assert (told["name"], told["upstreams"][-1]) == (changed.model.slug, {"name": "Elsewhere", "answers": 1})
    page = " ".join(browser.get(address, headers={"HX-Request": "true"}).content.decode().split())
    assert "was served by several upstreams:" in page
    assert "Elsewhere (1)." in page
