"""Datasets by programs."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.tokens import create_token
from experiments.datasets import demonstration
from experiments.models import Dataset, Upload
from tests.cases import each_case
from tests.experiments.datasets.files import lines, table

pytestmark = [pytest.mark.django_db, pytest.mark.databases]

ROWS = table([{"n": number, "q": f"question {number}", "gpt": "x"} for number in range(3)])


@pytest.fixture
def api(alice):
    return Client(headers={"Authorization": f"Bearer {create_token(alice, name='script')}"})


@pytest.fixture
def theirs(charlie):
    return Client(headers={"Authorization": f"Bearer {create_token(charlie, name='script')}"})


def file(text=ROWS, name="a.csv"):
    return SimpleUploadedFile(name, text.encode())


@pytest.mark.system
def test_a_file_becomes_a_dataset_and_gets_outputs(api, work):
    columns = {"instruction": "q", "index": "n", "outputs": {"GPT": "gpt"}}
    asked = {"file": file(), "name": "Mine", "visibility": "lab", "columns": json.dumps(columns)}

    made = api.post("/api/datasets/", asked)

    assert made.status_code == 201, made.content
    assert (made.json()["slug"], made.json()["state"]) == ("mine", "waiting")
    work()
    detail = api.get("/api/datasets/mine/").json()
    assert (detail["state"], detail["samples"], detail["progress"]) == ("ready", 3, 1)
    assert [(one["name"], one["outputs"]) for one in detail["contestants"]] == [("GPT", 3)]

    more = lines([{"index": 0, "contestant": "other", "text": "y"}])
    sent = api.post("/api/datasets/mine/outputs/", {"file": file(more, "o.jsonl")})
    assert sent.status_code == 202, sent.content
    work()
    told = api.get(f"/api/datasets/mine/uploads/{sent.json()['id']}/").json()
    assert (told["state"], told["new"]) == ("done", {"other": 1})
    assert told["warnings"] == ["other has outputs for 1 of 3 samples."]


@each_case(
    ("asked", "field"),
    [
        ({"name": "x"}, "file"),
        ({"file": file()}, "name"),
        ({"file": file(), "name": "x", "columns": "{"}, "columns"),
        ({"file": file(), "name": "x", "columns": "[1]"}, "columns"),
        ({"file": file(), "name": "x", "columns": '{"instruction": 3}'}, "columns"),
        ({"file": file(), "name": "x", "modality": "smell"}, "modality"),
        ({"file": file(), "name": "x", "slug": "Not So"}, "slug"),
        ({"file": file(), "name": "x", "slug": "new"}, "slug"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(api, asked, field):
    answer = api.post("/api/datasets/", asked)

    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    assert not Dataset.objects.exists()


@pytest.mark.system
def test_a_refused_file_says_why(api, work):
    api.post("/api/datasets/", {"file": file("index,prompt\n1,a\n1,b\n"), "name": "Mine"})

    work()

    detail = api.get("/api/datasets/mine/").json()
    assert detail["state"] == "refused"
    assert "row 2: The number 1 appears a second time" in detail["refused_reason"]


def test_a_file_that_is_too_long_is_refused(api, settings):
    settings.UPLOAD_BYTES = 1000

    assert api.post("/api/datasets/", {"file": file("x" * 2000), "name": "x"}).status_code == 400
    answer = api.post("/api/datasets/", {"file": file("x" * 2_000_000), "name": "x"})
    assert answer.status_code == 413
    assert "larger than 1000" in answer.json()["detail"]
    assert not Upload.objects.exists()


def test_strangers_find_nothing_private_and_visitors_nothing_at_all(api, theirs, alice):
    dataset = demonstration.make_text(alice)
    assert [one["slug"] for one in theirs.get("/api/datasets/").json()["results"]] == [dataset.slug]
    Dataset.objects.update(visibility="private")

    assert theirs.get("/api/datasets/").json()["results"] == []
    assert theirs.get(f"/api/datasets/{dataset.slug}/").status_code == 404
    assert theirs.post(f"/api/datasets/{dataset.slug}/outputs/", {"file": file()}).status_code == 404
    assert Client().get("/api/datasets/").status_code == 401
    Dataset.objects.update(visibility="lab")
    assert theirs.post(f"/api/datasets/{dataset.slug}/outputs/", {"file": file()}).status_code == 403


def test_a_reviewer_makes_none(api, alice):
    alice.role = "reviewer"
    alice.save()

    assert api.post("/api/datasets/", {"file": file(), "name": "x"}).status_code == 403
    assert not Upload.objects.exists()
