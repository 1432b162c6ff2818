"""Datasets by programs."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.tokens import create_token
from experiments.models import Dataset, Upload
from tests.cases import each_case
from tests.experiments.datasets.files import lines, table

ROWS = table([{"n": number, "q": f"question {number}", "gpt": "x"} for number in range(3)])
pytestmark = pytest.mark.django_db


@pytest.fixture
def api(alice):
    return Client(headers={"Authorization": f"Bearer {create_token(alice, name='script')}"})


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
        ({"file": file("x" * 2000), "name": "x"}, "file"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(api, settings, asked, field):
    settings.UPLOAD_BYTES = 1000

    answer = api.post("/api/datasets/", asked)

    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    assert api.post("/api/datasets/", {"file": file("x" * 2_000_000), "name": "x"}).status_code == 413
    assert not Dataset.objects.exists()
    assert not Upload.objects.exists()
