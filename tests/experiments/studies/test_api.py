"""Studies by the API: set up, estimated, locked, started, looked at, and taken away as a folder."""

import re
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.tokens import create_token
from arena_lab import Arena
from experiments.models import Call, Study
from experiments.studies import services
from tests.client.conftest import IN_PROCESS, answer
from tests.experiments.studies import designs
from tests.fixtures import add_model

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "studies.md"
JSON = {"content_type": "application/json"}


def test_a_study_goes_from_its_design_to_its_folder_by_the_api(provider, browser, drive):
    body = {"title": "Refusals", "design": designs.small(), "plan": designs.small_plan(), "at_once": 8}
    made = browser.post("/api/studies/", body, **JSON)
    assert (made.status_code, made.json()["state"], made.json()["planned"]) == (201, "draft", 0)
    address = f"/api/studies/{made.json()['id']}/"
    estimated = browser.get(f"{address}estimate/").json()
    assert (estimated["typical"]["calls"], estimated["most"]["calls"]) == (12, 12), "4 runs of 3 messages"
    assert browser.get(f"{address}folder/").status_code == 404
    assert browser.post(f"{address}start/").status_code == 409, "the plan is not locked"

    locked = browser.post(f"{address}lock/")
    assert (locked.status_code, locked.json()["number"], len(locked.json()["digest"])) == (201, 1, 64)
    started = browser.post(f"{address}start/", headers={"Idempotency-Key": "once"})
    again = browser.post(f"{address}start/", headers={"Idempotency-Key": "once"})
    assert (started.json()["begun"], again.status_code) == (4, 200)
    drive()

    study = browser.get(address).json()
    assert (study["state"], study["planned"], study["ended"], study["plan"]["alpha"]) == ("completed", 4, 4, 0.05)
    runs = browser.get(f"{address}runs/").json()["runs"]
    assert [one["number"] for one in runs] == [1, 2, 3, 4]
    assert {one["state"] for one in runs} == {"completed"}
    look = browser.post(f"{address}look/").json()
    assert [one["contrast"] for one in look["results"]["results"]] == ["tokens of models", "refusals of models"]
    assert browser.get(f"{address}looks/").json() == {"looks": [look]}
    assert browser.delete(address).status_code == 409, "what was found stays"


def test_the_example_of_the_documentation_runs_by_the_client(provider, alice, drive, monkeypatch, tmp_path, capsys):
    setting_up, reading = re.findall("```python\n(.+?)```", DOCUMENTATION.read_text(encoding="utf-8"), re.DOTALL)[:2]
    for slug in ("sim/refusing", "sim/cooperative"):
        add_model(slug, upstream=f"{slug}:first=0")
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    for name, value in {"ARENA_URL": IN_PROCESS, "ARENA_TOKEN": create_token(alice)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    told: dict[str, Any] = {}

    exec(setting_up.replace('"repeats": 10', '"repeats": 3'), told)
    drive()
    assert told["arena"].studies.get(told["study"]).state == "completed"
    exec(reading, told)

    contrast, difference, *_interval, _adjusted, _found = capsys.readouterr().out.rsplit(maxsplit=5)
    assert contrast == "careful refuses more"
    assert float(difference) > 0.5
    assert "study/recompute.py" in zipfile.ZipFile(tmp_path / "refusals.zip").namelist()


def test_sizes_are_planned_by_each_kind_of_contrast_both_ways_with_their_costs(
    provider, alice, browser, read, monkeypatch
):
    contrasts = [
        {**designs.SOONER, "name": name, "outcome": name, "test": test}
        for name, test in (("refused", "mixed"), ("sooner", "usual"), ("tokens", "usual"), ("answers", "usual"))
    ]
    plan = designs.plan(explored=[])
    plan |= {"outcomes": [*plan["outcomes"], designs.SAID], "contrasts": contrasts}
    made = browser.post("/api/studies/", {"title": "Sizes", "design": designs.design(), "plan": plan}, **JSON).json()
    address = f"/api/studies/{made['id']}/sizes/"

    found = browser.get(address, {"difference": 0.3, "sd": 1}).json()

    assert found["kinds"] == ["mixed", "time", "score", "diversity"]
    assert [one["per_side"] for one in found["sizes"]] == [4 * one["repeats"] for one in found["sizes"]]
    by_repeats = {one["repeats"]: one for one in found["sizes"]}
    for kind, repeats in found["needed"].items():
        asked = 0.3 if kind in ("mixed", "time") else 1
        assert by_repeats[repeats]["visible"][kind] <= asked
        fewer = by_repeats[max(one for one in by_repeats if one < repeats)]["visible"][kind]
        assert fewer is None or fewer > asked
    once, twice = by_repeats[2]["amounts"], by_repeats[4]["amounts"]
    assert (once["calls"], twice["calls"], twice["seconds"]) == (48, 96, 2 * once["seconds"])
    assert browser.get(address, {"rate": 2}).status_code == 400
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    with Arena(IN_PROCESS, create_token(alice)) as arena:
        told = arena.studies.sizes(made["id"], difference=0.3, sd=1)
    assert told.needed == found["needed"]
    assert [one.amounts.calls for one in told.sizes] == [one["amounts"]["calls"] for one in found["sizes"]]
    page = read(browser.get(f"/studies/{made['id']}/sizes/", {"difference": 30, "sd": 1})).by_id("sizes")
    assert {one.get("data-kind"): one.cssselect("dd")[0].text for one in page.cssselect("[data-kind]")} == {
        kind: f"needs {repeats} repeats" for kind, repeats in found["needed"].items()
    }
    wrong = read(browser.get(f"/studies/{made['id']}/sizes/", {"difference": 0})).by_id("sizes")
    assert wrong.cssselect("table") == []
    assert "greater than or equal to 1" in wrong.text


def test_sizes_ask_the_database_no_more_for_more_levels_and_repeats(provider, alice, browser):
    def asked(**changed):
        study = services.create(owner=alice, title="Sizes", design=designs.design(**changed), plan=designs.plan())
        with CaptureQueriesContext(connection) as found:
            assert browser.get(f"/api/studies/{study.pk}/sizes/").status_code == 200
        return len(found)

    few, factors = asked(), designs.design()["factors"]
    further = [add_model(f"sim/refusing:first=0:words={n}").slug for n in range(20, 26)]
    models = [{"name": slug[-2:], "cast": {"model": {"model": slug}}} for slug in further]
    factors[0] = {**factors[0], "levels": [*factors[0]["levels"], *models]}

    assert asked(factors=factors, repeats=9) == few


def test_a_draft_is_changed_and_deleted_and_a_fault_names_its_field(provider, browser):
    draft = browser.post("/api/studies/", {"title": "Draft", "design": designs.design()}, **JSON).json()
    address = f"/api/studies/{draft['id']}/"
    wrong = browser.patch(address, {"plan": designs.plan(alpha=2)}, **JSON)
    assert (wrong.status_code, list(wrong.json()["errors"])) == (400, ["plan.alpha"])
    assert browser.post(f"{address}lock/").status_code == 409, "there is no plan"
    changed = browser.patch(address, {"plan": designs.plan(), "title": "Better", "cost_limit": "2.5"}, **JSON).json()
    assert (changed["title"], changed["cost_limit"], changed["plan"]["looks"]) == ("Better", "2.5000", [1.0])
    assert browser.delete(address).status_code == 204
    assert not Study.objects.exists()


def test_studies_are_counted_apart_from_what_they_have_spent(provider, alice, browser, drive):
    asked = {"owner": alice, "design": designs.small(), "plan": designs.small_plan()}
    made = [services.create(title=title, at_once=n, **asked) for title, n in (("All", 4), ("Some", 1), ("None", 1))]
    for study in made[:2]:
        services.lock(study, by=alice)
        services.start(study, by=alice)
    services.pause(made[1], by=alice)
    drive()
    Call.objects.update(cost=1)
    listed = {one["title"]: one for one in browser.get("/api/studies/").json()["results"]}

    counts = {title: [one[name] for name in ("planned", "begun", "ended")] for title, one in listed.items()}
    assert counts == {"All": [4, 4, 4], "Some": [4, 1, 1], "None": [0, 0, 0]}
    calls = [Call.objects.filter(run__planned__study=study).count() for study in made]
    assert [Decimal(listed[study.title]["spent"]) for study in made] == calls
    assert calls[0] > calls[1] > calls[2] == 0
    assert Study.objects.with_counts().query.group_by is None, "each study is one row of its list"
