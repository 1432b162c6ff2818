"""A run as a file over HTTP: at once, by a worker, and back again."""

import json

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient

from experiments.models import Experiment, Export, Run

FORMATS = {
    "html": ("report", "text/html; charset=utf-8", b"<!doctype html>"),
    "pdf": ("report", "application/pdf", b"%PDF-"),
    "json": ("report", "application/json", b'{"report_version":'),
    "jsonl": ("export", "application/jsonl", b'{"kind":"run"'),
    "csv": ("export", "text/csv; charset=utf-8", b'\xef\xbb\xbf"run"'),
    "inspect": ("export", "application/json", b'{"version":2'),
}


def body(response):
    return b"".join(response)


@pytest.fixture
def run(played):
    return played(max_turns=1)


@pytest.fixture(autouse=True)
def bells(monkeypatch):
    rung = []
    monkeypatch.setattr("experiments.runs.reports.jobs.wake", lambda: rung.append(1))
    return rung


def test_each_format_is_a_file_to_be_saved_and_an_unknown_one_is_named(api, run, is_problem):
    for format_, (where, type_, beginning) in FORMATS.items():
        response = api.get(f"runs/{run.pk}/{where}/", format=format_)

        assert response.status_code == 200, format_
        assert response["Content-Type"] == type_
        assert response["Content-Disposition"].startswith('attachment; filename="')
        assert run.experiment.workflow in response["Content-Disposition"]
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
        assert body(response)[: len(beginning)].lower() == beginning.lower()
    for where in ("report", "export"):
        for format_ in ("exe", "", "HTML", "\u0000"):
            problem = is_problem(api.get(f"runs/{run.pk}/{where}/", format=format_), 400, "format")
            assert list(problem["errors"]) == ["format"], (where, format_)
    is_problem(api.get(f"runs/{run.pk}/export/"), 400, "jsonl", "csv", "inspect")
    assert json.loads(body(api.get(f"runs/{run.pk}/report/")))["run"]["id"] == str(run.pk), "a report is JSON by itself"


@pytest.mark.django_db(transaction=True)
def test_the_real_server_sends_it_piece_by_piece(alice, run, recwarn):
    """Under ASGI an ordinary iterator would be gathered as a whole; Django warns of it."""
    client = AsyncClient()
    client.force_login(alice)

    async def fetch():
        response = await client.get(f"/api/runs/{run.pk}/export/", {"format": "jsonl"})
        assert response.is_async
        return b"".join([chunk async for chunk in response.streaming_content])

    text = async_to_sync(fetch)()

    assert json.loads(text.splitlines()[0])["id"] == str(run.pk)
    assert not [warning for warning in recwarn if "synchronous iterator" in str(warning.message)]


def test_a_file_waits_as_one_however_often_it_is_asked_for_and_is_fetched_until_it_is_removed(
    api, run, bells, make_files, is_problem
):
    for wrong in ({}, {"format": "exe"}, {"format": "csv", "language": "xx"}, {"format": ["csv"]}, []):
        is_problem(api.post(f"runs/{run.pk}/files/", wrong), 400)
    assert not Export.objects.exists()
    response = api.post(f"runs/{run.pk}/files/", {"format": "csv"})

    assert response.status_code == 202
    asked = response.json()
    assert (asked["state"], asked["progress"], asked["download"]) == ("queued", 0, None)
    assert asked["name"].endswith(".csv")
    assert bells == [1]
    assert api.get(f"files/{asked['id']}/").json() == asked
    is_problem(api.get(f"files/{asked['id']}/download/"), 409, "not ready")
    assert api.post(f"runs/{run.pk}/files/", {"format": "csv"}).json()["id"] == asked["id"]
    assert api.post(f"runs/{run.pk}/files/", {"format": "csv", "language": "zh-hans"}).json()["id"] != asked["id"]
    assert Export.objects.count() == 2
    make_files()

    done = api.get(f"files/{asked['id']}/").json()
    response = api.client.get(done["download"], headers=api.headers)

    assert (done["state"], done["progress"]) == ("done", 1)
    assert response["Content-Disposition"] == f'attachment; filename="{done["name"]}"'
    assert int(response["Content-Length"]) == done["size"] == len(body(response))
    Export.objects.get(pk=asked["id"]).path.unlink()
    is_problem(api.get(f"files/{asked['id']}/download/"), 404, "Request it again")
    assert api.post(f"runs/{run.pk}/files/", {"format": "csv"}).json()["state"] == "queued"


def test_garbage_is_refused_with_its_place_and_a_report_of_megabytes_becomes_a_run_whose_models_are_not_offered(
    api, alice, run, is_problem, counts
):
    report, before, seed = body(api.get(f"runs/{run.pk}/report/")).decode(), counts(), '"seed":7'
    for sent in (
        report[: len(report) // 2],
        b"\xff\xfe\x00",
        *(report.replace(seed, f'"seed":{other}') for other in ("NaN", '7,"seed":8', "9" * 5000, '7,"x":"\\u0000"')),
        report.replace(seed, '"seed":' + "[" * 100_000 + "]" * 100_000),
        report.replace('"workflow":"arena"', '"workflow":"poker"'),
    ):
        assert sent != report
        assert is_problem(api.post("runs/import/", sent), 400)["errors"], sent[:100]
    is_problem(api.post("runs/import/", '"' + "x" * (20 << 20) + '"'), 413, "too large")
    assert counts() == before

    large = json.loads(report.replace("sim/cooperative:first=0", "elsewhere/one"))
    large["messages"][0]["raw_text"] = large["messages"][1]["reasoning"] = "long " * 390_000
    response = api.post("runs/import/", large)
    assert response.status_code == 201
    assert Run.objects.get(pk=response.json()["id"]).origin == Run.Origin.IMPORTED
    assert "elsewhere/one" not in [model["slug"] for model in api.get("models/").json()["results"]]
    type(alice).objects.filter(pk=alice.pk).update(role="reviewer")
    is_problem(api.post("runs/import/", report), 403, "role")
    assert Experiment.objects.count() == 2
