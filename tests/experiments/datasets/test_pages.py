"""Datasets by pages, programs and commands: for their owners, the lab and visitors."""

import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry
from accounts.tokens import create_token
from experiments.library.datasets import demonstration, images
from experiments.models import Battle, Dataset, Image, Output, Upload
from experiments.workflows.battles.campaign.boards import people_board
from tests.experiments.datasets.files import lines, packed, png, table
from tests.fixtures import told
from tests.markup import Page

ANSWERS = table([{"id": n, "prompt": f"question {n}", "kind": "easy", "gpt": f"answer {n}"} for n in range(3)])


def sent(browser, name="a.csv", data=ANSWERS):
    content = data if isinstance(data, bytes) else data.encode()
    return browser.post("/datasets/new/", {"file": SimpleUploadedFile(name, content)})


def test_from_a_file_over_its_columns_to_a_dataset(browser, work):
    there = sent(browser)["Location"]
    page = told(browser.get(there))
    assert "question 0" in page
    outputs = {"as-2": "output", "as-3": "output", "contestant-2": "gpt"}
    for parts, said in (
        ({"as-1": ""}, "Choose the column with the instruction."),
        ({"as-1": "instruction", "as-3": "instruction"}, "Two columns are mapped to instruction."),
        ({"as-1": "instruction", **outputs}, "Two columns are outputs"),
        ({"as-1": "instruction", "name": ""}, "Enter a name"),
    ):
        asked = {"name": "Typed", "modality": "text", "visibility": "private", "as-0": "", **parts}
        answer = browser.post(there, asked)
        assert answer.status_code == 422, said
        assert said in told(answer)
        assert f'value="{asked["name"]}"' in told(answer) or not asked["name"]
    assert not Dataset.objects.exists()
    assert '<option value="instruction" selected>' in page
    assert '<option value="index" selected>' in page

    asked = {"name": "Mine", "modality": "text", "visibility": "lab", "as-0": "index", "as-1": "instruction"}
    asked |= {"as-2": "category", "as-3": "output", "contestant-3": "GPT"}
    made = browser.post(there, asked)
    assert "hx-trigger" in told(browser.get(made["Location"]))
    work()

    page = told(browser.get(made["Location"]))
    assert "GPT" in page
    assert "3 of 3" in page
    dataset = Dataset.objects.get()
    assert (dataset.slug, dataset.visibility, dataset.samples.first().category) == ("mine", "lab", "easy")
    assert browser.get(there)["Location"] == made["Location"]  # the file is that dataset now


def test_a_file_that_cannot_be_taken_or_read_is_refused_with_the_reason_and_forgotten(alice, browser, settings):
    settings.UPLOAD_BYTES = 1000

    assert "Choose a file." in told(browser.post("/datasets/new/"))
    for size, status in ((0, 422), (2000, 422), (2_000_000, 413)):
        answer = sent(browser, data="x" * size)
        assert answer.status_code == status, size
        assert ("The file is larger than 1000" if size else "The file is empty.") in told(answer)
    alice.role = "reviewer"
    alice.save()
    assert sent(browser).status_code == 403, "reviewers only look"
    assert not Upload.objects.exists()

    type(alice).objects.update(role="researcher")
    there = sent(browser, "a.zip", b"no zip")["Location"]
    for _twice in range(2):
        assert "a.zip is not a valid zip archive" in told(browser.get(there))
    assert not Upload.objects.get().folder.exists()


def test_visitors_see_public_datasets_with_pictures_which_are_kept_a_while_and_forgotten_with_them(alice, browser):
    visitor = Client()
    dataset = demonstration.make_images(alice)
    assert demonstration.make_images(alice) == dataset, "it is made once"
    assert (dataset.samples.count(), dataset.contestants.count(), dataset.is_ready) == (12, 4, True)
    sample = reverse("dataset-sample", args=[dataset.slug, dataset.samples.first().pk])
    page = told(visitor.get(sample))
    assert page.count('class="output"') == 4
    assert "A red circle left of a blue square" in page
    dataset.samples.update(images=[])
    drawn = images.thumbnails(dataset, dataset.samples.all())
    names = sorted(dataset.contestants.values_list("name", flat=True))
    assert [[one.contestant.name for one in shown] for shown in drawn.values()] == [names[: images.THUMBNAILS]] * 12

    picture = dataset.pictures.first()
    address = reverse("dataset-image", args=[dataset.slug, picture.image_id])

    answer = visitor.get(address)

    assert answer["Content-Type"] == "image/png"
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer.content.startswith(b"\x89PNG")
    assert visitor.get(address, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    Dataset.objects.update(visibility="lab")
    assert browser.get(address)["Cache-Control"].startswith("private")
    other = Dataset.objects.create(owner=alice, name="x", slug="other", state="ready")
    assert browser.get(address.replace(dataset.slug, other.slug)).status_code == 404
    picture.image.path.unlink()
    assert browser.get(address).status_code == 404, "its file is gone"

    kept = list(Image.objects.all())
    assert images.forget_unused() == 0
    dataset.contestants.all().delete()
    dataset.pictures.all().delete()
    assert images.forget_unused() == len(kept) > 0
    assert not any(image.path.exists() for image in kept)
    assert not Image.objects.exists()
    Dataset.objects.all().delete()
    demonstration.make_images(alice)
    assert {image.pk for image in Image.objects.all()} == {image.pk for image in kept}, "the same everywhere"


@pytest.mark.databases
def test_contestants_are_described_and_left_out_and_a_dataset_deleted_as_long_as_nothing_rests_on_it(alice, browser):
    dataset = demonstration.make_text(alice)
    assert demonstration.make_text(alice) == dataset
    assert Output.objects.filter(sample__dataset=dataset).count() == 48
    board, one = people_board(dataset), dataset.contestants.first()
    address = reverse("contestant-change", args=[dataset.slug, one.pk])

    browser.post(address, {"action": "describe", "label": "Shown so", "link": "https://example.org/"})
    browser.post(address, {"action": "describe", "label": "Shown so", "link": "javascript:alert(1)"})
    browser.post(address, {"action": "void", "reason": "It had seen the answers."})
    browser.post(address, {"action": "void", "reason": ""})

    one.refresh_from_db()
    board.refresh_from_db()
    assert (one.label, one.link) == ("Shown so", "https://example.org/")
    assert one.void_reason == "It had seen the answers."
    assert board.changes == 2  # the name on the ladder, and who is on it
    assert "It had seen the answers." in told(browser.get(dataset.get_absolute_url()))
    browser.post(address, {"action": "restore"})
    one.refresh_from_db()
    assert one.void_reason == ""

    left, right = dataset.contestants.order_by("pk")[:2]
    Battle.objects.create(board=board, sample=dataset.samples.first(), left=left, right=right, winner="left")
    visibility = reverse("dataset-visibility", args=[dataset.slug])
    for asked in ("private", "nobody"):
        browser.post(visibility, {"visibility": asked})
        assert Dataset.objects.get().visibility == "private"
    entry = AuditEntry.objects.get(action="shared", target=f"dataset:{dataset.pk}")
    assert entry.detail == {"before": "public", "after": "private"}
    browser.post(reverse("dataset-delete", args=[dataset.slug]))
    assert Dataset.objects.exists()
    Battle.objects.all().delete()

    browser.post(reverse("dataset-delete", args=[dataset.slug]))

    assert not Dataset.objects.exists()


def test_samples_are_found_by_words_category_and_page(alice, browser, load_text):
    rows = [{"index": n, "prompt": f"{'cats' if n % 2 else 'dogs'} {n}", "category": f"c{n % 3}"} for n in range(60)]
    dataset = load_text("a.csv", table(rows))
    address = dataset.get_absolute_url()

    page = told(browser.get(address))
    assert page.count("sample-row") == 50
    further = f"?after={dataset.samples.get(index=49).pk}"
    assert further in page
    assert told(browser.get(address + further)).count("sample-row") == 10
    assert told(browser.get(f"{address}?search=cats&category=c1")).count("sample-row") == 10
    assert "No sample matches." in told(browser.get(f"{address}?search=birds"))
    for nonsense in ("?after=x", "?after=99999999999999999999", "?subset=%00", "?search=%00", "?page=-1"):
        assert browser.get(address + nonsense).status_code == 200


def test_outputs_are_sent_and_what_became_of_them_is_shown_beside_small_pictures(browser, load, work, tmp_path):
    rows = [{"index": n, "instruction": f"scene {n}", "image": "given/0.png" if n == 0 else ""} for n in range(3)]
    files = {"data.csv": table(rows), "given/0.png": png("red"), "models/zealous/0.png": png("green")}
    files |= {f"models/{name}/1.png": png(name) for name in ("blue", "grey", "navy", "pink", "teal")}
    dataset = load(packed(tmp_path / "scenes.zip", files), modality="image")
    page = Page(told(browser.get(f"/datasets/{dataset.slug}/")))
    shown = [[image.get("alt") for image in row.iter("img")] for row in page.find("a", class_="sample-row")]
    given, made = ["Picture 1 of the sample"], [f"Output of {name}" for name in ("blue", "grey", "navy", "pink")]
    assert shown == [given, made, []]
    assert {image.get("loading") for image in page.find("img", width="48", height="48")} == {"lazy"}

    address = reverse("dataset-outputs", args=[dataset.slug])
    path = packed(tmp_path / "o.zip", {"b/0.png": png("green"), "zealous/0.png": png("grey")})
    browser.post(address, {"file": SimpleUploadedFile("o.zip", path.read_bytes())})
    assert "hx-trigger" in told(browser.get(address))
    work()
    page = told(browser.get(address))
    assert "b: 1 new output" in " ".join(page.split())
    assert "1 output already existed and was not changed." in page
    assert "b has outputs for 1 of 3 samples." in page
    wrong = browser.post(address, {"file": SimpleUploadedFile("o.zip", b"x"), "version": "no"})
    assert wrong.status_code == 422
    assert "A version is a name, an underscore and a date" in told(wrong)


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
