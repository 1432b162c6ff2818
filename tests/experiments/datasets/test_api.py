"""Datasets by programs and commands."""

import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.tokens import create_token
from experiments.models import Dataset, Upload
from tests.experiments.datasets.files import lines, table

ROWS = table([{"n": number, "q": f"question {number}", "gpt": "x"} for number in range(3)])


@pytest.fixture
def api(alice):
    return Client(headers={"Authorization": f"Bearer {create_token(alice, name='script')}"})


def file(text=ROWS, name="a.csv"):
    return SimpleUploadedFile(name, text.encode())


def test_a_file_becomes_a_dataset_and_gets_outputs(api, work, settings):
    columns = {"instruction": "q", "index": "n", "outputs": {"GPT": "gpt"}}
    asked = {"file": file(), "name": "Mine", "visibility": "lab", "columns": json.dumps(columns)}

    made = api.post("/api/datasets/", asked)

    assert made.status_code == 201, made.content
    assert (made.json()["slug"], made.json()["state"]) == ("mine", "waiting")
    work()
    detail = api.get("/api/datasets/mine/").json()
    assert (detail["state"], detail["samples"], detail["progress"]) == ("ready", 3, 1)
    assert [(one["name"], one["outputs"]) for one in detail["contestants"]] == [("GPT", 3)]
    assert list(settings.UPLOADS_DIR.iterdir()) == [], "neither the upload nor the spool is left"

    more = lines([{"index": 0, "contestant": "other", "text": "y"}])
    asked = {"file": file(more, "o.jsonl"), "version": "x_20260131"}
    files = (asked, {"file": file("x,y\n1,2\n", "o.csv")})
    sent, wrong = (api.post("/api/datasets/mine/outputs/", one) for one in files)
    assert (sent.status_code, wrong.status_code) == (202, 202), sent.content
    work()
    told, refused = (api.get(f"/api/datasets/mine/uploads/{one.json()['id']}/").json() for one in (sent, wrong))
    assert (told["state"], told["new"]) == ("done", {"other": 1})
    assert told["warnings"] == ["other has outputs for 1 of 3 samples."]
    assert Dataset.objects.get().contestants.get(name="other").version == "x_20260131"
    assert (refused["state"], Dataset.objects.get().state) == ("refused", "ready")


def test_what_is_wrong_with_a_request_is_named(api, settings):
    settings.UPLOAD_BYTES = 1000
    for asked, field in (
        ({"name": "x"}, "file"),
        ({"file": file()}, "name"),
        ({"file": file(), "name": "x", "columns": "{"}, "columns"),
        ({"file": file(), "name": "x", "columns": "[1]"}, "columns"),
        ({"file": file(), "name": "x", "columns": '{"instruction": 3}'}, "columns"),
        ({"file": file(), "name": "x", "modality": "smell"}, "modality"),
        ({"file": file(), "name": "x", "slug": "Not So"}, "slug"),
        ({"file": file(), "name": "x", "slug": "new"}, "slug"),
        ({"file": file("x" * 2000), "name": "x"}, "file"),
    ):
        answer = api.post("/api/datasets/", asked)
        assert (answer.status_code, field in answer.json()["errors"]) == (400, True), asked
    assert api.post("/api/datasets/", {"file": file("x" * 2_000_000), "name": "x"}).status_code == 413
    assert not Dataset.objects.exists()
    assert not Upload.objects.exists()


def load(*words, **options):
    said = StringIO()
    call_command("load_dataset", *map(str, words), stdout=said, **options)
    return said.getvalue()


def test_it_prints_what_was_read(alice, tmp_path):
    (tmp_path / "a.csv").write_text(table([{"q": "x", "gpt": "y"}, {"q": "", "gpt": "z"}]))
    (tmp_path / "o.csv").write_text(table([{"index": 1, "contestant": "late", "text": "w"}]))

    said = load(
        tmp_path / "a.csv",
        *("--name", "Mine", "--owner", "alice", "--column", "instruction=q", "--output-column", "GPT=gpt"),
        *("--outputs", tmp_path / "o.csv", "--visibility", "public"),
    )

    assert "Dataset mine: 2 samples, 2 contestants." in said
    assert "Warning: 1 sample has no instruction." in said
    assert "late 1" in said
    assert "Warning: late has outputs for 1 of 2 samples." in said
    assert Dataset.objects.get().visibility == "public"


def test_it_fails_with_the_reason_and_leaves_nothing(alice, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text(table([{"prompt": "x"}]))
    (tmp_path / "other.csv").write_text(table([{"index": 9, "contestant": "late", "text": "w"}]))
    monkeypatch.chdir(tmp_path)
    for words, owner, said in (
        (["missing.csv"], "alice", "There is no file or folder"),
        (["a.csv", "--column", "instruction"], "alice", "--column is written PART=COLUMN"),
        (["a.csv"], "nobody", "There is no active person called nobody"),
        (["a.csv", "--outputs", "missing.csv"], "alice", "There is no file or folder"),
        (["a.csv", "--outputs", "other.csv"], "alice", "None of the outputs"),
    ):
        with pytest.raises(CommandError) as error:
            load(*words, "--owner", owner)
        assert said in str(error.value)
        assert not Dataset.objects.exists(), words
