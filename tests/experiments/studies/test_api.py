"""Studies by the API: set up, estimated, locked, started, looked at, and taken away as a folder."""

import io
import zipfile
from decimal import Decimal

from experiments.models import Call, Study
from experiments.studies import services
from tests.experiments.studies import designs

JSON = {"content_type": "application/json"}


def test_a_study_goes_from_its_design_to_its_folder_by_the_api(provider, browser, drive):
    body = {"title": "Refusals", "design": designs.design(repeats=1), "plan": designs.plan(), "at_once": 8}
    made = browser.post("/api/studies/", body, **JSON)
    assert (made.status_code, made.json()["state"], made.json()["planned"]) == (201, "draft", 0)
    address = f"/api/studies/{made.json()['id']}/"
    estimated = browser.get(f"{address}estimate/").json()
    assert (estimated["typical"]["calls"], estimated["most"]["calls"]) == (24, 24), "8 runs of 3 messages"
    assert browser.get(f"{address}folder/").status_code == 404
    assert browser.post(f"{address}start/").status_code == 409, "the plan is not locked"

    locked = browser.post(f"{address}lock/")
    assert (locked.status_code, locked.json()["number"], len(locked.json()["digest"])) == (201, 1, 64)
    started = browser.post(f"{address}start/", headers={"Idempotency-Key": "once"})
    again = browser.post(f"{address}start/", headers={"Idempotency-Key": "once"})
    assert (started.json()["begun"], again.status_code) == (8, 200)
    drive()

    study = browser.get(address).json()
    assert (study["state"], study["planned"], study["ended"], study["plan"]["alpha"]) == ("completed", 8, 8, 0.05)
    runs = browser.get(f"{address}runs/").json()["runs"]
    assert [one["number"] for one in runs] == list(range(1, 9))
    assert {one["state"] for one in runs} == {"completed"}
    look = browser.post(f"{address}look/").json()
    assert [one["contrast"] for one in look["results"]["results"]] == [
        "tokens of models",
        "refusals of models",
        "refusals of contexts",
    ]
    assert browser.get(f"{address}looks/").json() == {"looks": [look]}
    archive = browser.get(f"{address}folder/")
    names = zipfile.ZipFile(io.BytesIO(b"".join(archive.streaming_content))).namelist()
    assert {"study/data.csv", "study/recompute.py", "study/leaderboard/ratings/studies/table.py"} <= set(names)
    assert browser.delete(address).status_code == 409, "what was found stays"


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
    made = [
        services.create(
            owner=alice, title=title, design=designs.design(repeats=1), plan=designs.plan(), at_once=at_once
        )
        for title, at_once in (("All", 8), ("Some", 3), ("None", 1))
    ]
    for study in made[:2]:
        services.lock(study, by=alice)
        services.start(study, by=alice)
    services.pause(made[1], by=alice)
    drive()
    Call.objects.update(cost=1)
    listed = {one["title"]: one for one in browser.get("/api/studies/").json()["results"]}

    counts = {title: [one[name] for name in ("planned", "begun", "ended")] for title, one in listed.items()}
    assert counts == {"All": [8, 8, 8], "Some": [8, 3, 3], "None": [0, 0, 0]}
    calls = [Call.objects.filter(run__planned__study=study).count() for study in made]
    assert [Decimal(listed[study.title]["spent"]) for study in made] == calls
    assert calls[0] > calls[1] > calls[2] == 0
    assert Study.objects.with_counts().query.group_by is None, "each study is one row of its list"
