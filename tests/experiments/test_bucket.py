"""Files in a bucket: each machine has a disk of its own, and finds every file."""

import threading

import boto3
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from moto.server import ThreadedMotoServer

from arenasite import environment
from arenasite.backups import restoring, taking
from arenasite.backups.archive import FILES, Reader
from experiments.library.datasets import demonstration, images, uploads
from experiments.models import Dataset, Export, Image, Upload, shared_files
from experiments.runs import removal
from experiments.runs.reports import jobs
from experiments.runs.reports.formats import FORMATS
from tests.experiments.datasets.files import table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]

ROWS = table([{"index": number, "prompt": f"question {number}"} for number in range(3)]).encode()


@pytest.fixture
def bucket(monkeypatch):
    """The names of what is in it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "AWS_ACCESS_KEY_ID": "one",
        "AWS_SECRET_ACCESS_KEY": "two",
        "AWS_DEFAULT_REGION": "us-east-1",
        "ARENA_FILES_BUCKET": "lab",
        "ARENA_FILES_ENDPOINT": f"http://{host}:{port}",
        "ARENA_FILES_PREFIX": "arena",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=variables["ARENA_FILES_ENDPOINT"])
    client.create_bucket(Bucket="lab")
    yield lambda: [one["Key"] for one in client.list_objects_v2(Bucket="lab").get("Contents", ())]
    server.stop()


@pytest.fixture
def at(bucket, settings, tmp_path):
    """Goes to a machine."""
    options = environment.bucket()
    settings.STORAGES = settings.STORAGES | {
        "bucket": {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
    }

    def go(machine):
        settings.FILES_DIR = tmp_path / machine
        for place in ("exports", "images", "uploads"):
            setattr(settings, f"{place.upper()}_DIR", settings.FILES_DIR / place)

    go("web")
    return go


def test_what_is_sent_or_made_at_one_machine_is_read_at_another_and_forgotten_by_all(at, bucket, alice, client, played):
    upload = uploads.keep(SimpleUploadedFile("a.csv", ROWS), owner=alice, kind="samples")
    assert bucket() == [f"arena/uploads/{upload.pk}/a.csv"]

    at("worker")
    assert uploads.preview(upload)["columns"]
    assert Upload.objects.get(pk=upload.pk).found["columns"], "it is read once, and kept"
    upload.forget_file()
    assert bucket() == []
    assert not shared_files.is_kept(upload.path)
    run = played(max_turns=1)
    export = jobs.request_file(run, by=alice, format_=FORMATS["csv"], language="en")
    jobs.make_all(threading.Event())
    made = export.path.read_bytes()

    at("web")
    client.force_login(alice)
    address = reverse("file-download", args=[export.pk])
    assert b"".join(client.get(address).streaming_content) == made
    assert jobs.request_file(run, by=alice, format_=FORMATS["csv"], language="en").state == Export.State.DONE
    removal.remove([run], by=alice)
    assert bucket() == []
    assert client.get(address).status_code == 404


def test_pictures_are_shown_everywhere_and_kept_in_a_backup_and_who_asks_while_the_bucket_is_away_is_told_so(
    at, bucket, alice, client, settings, tmp_path
):
    at("worker")
    dataset = demonstration.make_images(alice)
    image = Image.objects.first()
    images.store(image.content())
    name = f"images/{image.pk[:2]}/{image.pk}"
    assert f"arena/{name}" in bucket()
    assert len(bucket()) == Image.objects.count()

    at("web")
    client.force_login(alice)
    address = reverse("dataset-image", args=[dataset.slug, image.pk])
    assert len(client.get(address).content) == image.size
    assert [one.name for one in image.path.parent.iterdir()] == [image.pk]

    at("operator")
    path, manifest, _digest = taking.take(tmp_path / "backup.zip")
    assert manifest["files"] == Image.objects.count()
    assert f"{FILES}{name}" in Reader(path).names(FILES)
    shared_files.forget(image.path)
    assert f"arena/{name}" not in bucket()
    restoring.restore(Reader(path), replace=True)
    assert f"arena/{name}" in bucket()

    at("other")
    client.force_login(alice)
    known = settings.STORAGES["bucket"]["OPTIONS"]["endpoint_url"]
    settings.STORAGES["bucket"]["OPTIONS"]["endpoint_url"] = "http://127.0.0.1:9"
    settings.STORAGES = dict(settings.STORAGES)
    sent = SimpleUploadedFile("a.csv", ROWS)
    for answer in (client.get(address), client.post(reverse("dataset-new"), {"file": sent})):
        assert answer.status_code == 503
        assert b"The storage of files does not answer" in answer.content
    assert not Upload.objects.exists()
    assert list(settings.UPLOADS_DIR.iterdir()) == []

    settings.STORAGES["bucket"]["OPTIONS"]["endpoint_url"] = known
    settings.STORAGES = dict(settings.STORAGES)
    dataset.contestants.all().delete()
    Dataset.objects.all().delete()
    images.forget_unused()
    assert bucket() == []
