"""Pictures of contestants in folders and zips: found by their numbers, refused when something is wrong with them."""

import os
import stat
import struct
import zipfile
import zlib

import pytest

from experiments.datasets import images, process
from experiments.datasets.process import Refused
from experiments.models import Dataset, Image
from tests.cases import each_case
from tests.experiments.datasets.files import moving, packed, picture, png, table

pytestmark = [pytest.mark.system, pytest.mark.django_db]


def made(dataset):
    rows = dataset.contestants.order_by("name", "outputs__sample__index")
    return list(rows.values_list("name", "outputs__sample__index", "outputs__image__mime"))


def test_a_zip_of_pictures_per_model_becomes_samples_and_contestants(load, tmp_path):
    files = {
        "models/a/0.png": png("red"),
        "models/a/000001_second.jpg": picture("JPEG", "blue"),
        "models/a/1.webp": picture("WEBP", "blue"),
        "models/b/1.png": png("green"),
        "models/b/1.jpg": picture("JPEG", "green"),
        "models/empty/readme.txt": b"no picture",
        "models/.hidden/0.png": png(),
        "models/a/no-number.png": png(),
    }

    dataset = load(packed(tmp_path / "set.zip", files), modality="image")

    # A plain number wins over a name that begins with one only among files of one kind; PNG wins over all.
    assert made(dataset) == [("a", 0, "image/png"), ("a", 1, "image/jpeg"), ("b", 1, "image/png")]
    assert [told["code"] for told in dataset.warnings] == ["no_table"]


def test_folders_of_subsets_and_experiments_are_read_as_genarena_lays_them_out(load, tmp_path):
    files = {
        "arena/basic/models/solar_20260131/m1/0.png": png("red"),
        "arena/hard/models/solar_20260131/m1/0.png": png("blue"),
    }

    dataset = load(packed(tmp_path / "arena.zip", files), modality="image")

    assert list(dataset.samples.values_list("subset", "index")) == [("basic", 0), ("hard", 0)]
    assert dataset.contestants.get().version == "solar_20260131"


@each_case(
    ("files", "said"),
    [
        ({"solar_20261301/a/0.png": png()}, "ends with a day that the calendar does not have"),
        ({"x_20260101/a/0.png": png(), "y_20260101/a/1.png": png()}, "The contestant a is in two experiments"),
        ({"a/0.png": b"no picture"}, "a/0.png: This is no picture"),
        ({"a/0.png": png()[:-20]}, "a/0.png: A picture is broken or cut off."),
        ({"a/0.png": moving()}, "a/0.png: A picture is animated"),
        ({"a/0.png": png(size=(20_000, 1))}, "a/0.png: A picture has more than"),
        ({"a/0.png": png(), "more.zip": b"PK"}, "more.zip is an archive within the archive"),
        ({"a.csv": b"prompt,output_a\nq,text\n"}, "It holds texts, but the outputs of this dataset are pictures"),
        ({f"a/{number}.csv": b"\0" * (30 << 20) for number in range(4)}, "times when it is unpacked"),
        ({"../0.png": png()}, "which would lead out of its folder"),
        ({"/etc/0.png": png()}, "which would lead out of its folder"),
        ({"a\\..\\0.png": png()}, "which would lead out of its folder"),
        ({"C:/a/0.png": png()}, "which would lead out of its folder"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_stored(load, tmp_path, files, said):
    with pytest.raises(Refused) as refused:
        load(packed(tmp_path / "set.zip", files), modality="image")

    assert said in str(refused.value)
    assert not Dataset.objects.exists()
    assert not Image.objects.exists()
    assert not list((tmp_path / "uploads").iterdir())


def test_a_picture_that_says_it_is_vast_is_not_unpacked(load, tmp_path):
    """A PNG of 50,000 x 50,000 pixels in a hundred bytes."""
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")

    with pytest.raises(Refused, match="A picture has more than 50000000 pixels"):
        load(packed(tmp_path / "set.zip", {"a/0.png": data}), modality="image")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def test_an_archive_whose_entries_lie_about_their_length_is_refused(load, tmp_path):
    path = packed(tmp_path / "set.zip", {"a/0.png": png()})
    data = bytearray(path.read_bytes())
    directory = data.rindex(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = struct.pack("<I", 10)  # the unpacked length
    path.write_bytes(data)

    with pytest.raises(Refused, match=r"a/0\.png"):
        load(path, modality="image")


def test_too_much_content_is_refused(load, tmp_path, settings):
    settings.DATASET_UNPACKED = 1 << 20

    with pytest.raises(Refused, match=r"set\.zip is larger than 1\.0"):
        load(packed(tmp_path / "set.zip", {"a/0.png": os.urandom(2 << 20)}), modality="image")


def test_links_locked_and_doubled_entries_are_refused(load, tmp_path):
    link = zipfile.ZipInfo("a/0.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    for name, entries, said in (
        ("link.zip", [(link, b"/etc/passwd")], "is a link"),
        ("twice.zip", [("a/0.png", png()), ("a/0.png", png())], "two files called a/0.png"),
    ):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for entry, data in entries:
                archive.writestr(entry, data)
        with pytest.raises(Refused, match=said):
            load(tmp_path / name, modality="image")
    (tmp_path / "set.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(Refused, match=r"set\.zip is not a zip archive"):
        load(tmp_path / "set.zip")


def test_a_process_that_dies_or_is_silent_is_told_of(tmp_path, settings, monkeypatch):
    settings.DATASET_SILENT_SECONDS = 0.3
    for words, said in (
        ("import time; time.sleep(600)", "took longer"),
        ("raise SystemExit('oh no')", r"ended without a word \(oh no\)"),
    ):
        monkeypatch.setattr(process, "START", words)
        with pytest.raises(Refused, match=said):
            process.read(tmp_path, tmp_path, what="preview")


def test_the_process_has_neither_our_environment_nor_django(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-secret")
    looks = (
        "import sys; sys.path.insert(0, sys.argv[1]); import experiments.datasets.reader.program, os;"
        'print(\'{"found": {"django": %s, "environment": %s}}\' % (int(\'django\' in sys.modules), len(os.environ)))'
    )
    monkeypatch.setattr(process, "START", looks)

    found = process.read(tmp_path, tmp_path, what="preview").said

    assert found["django"] == 0
    assert found["environment"] <= 1  # LC_CTYPE, which Python sets for itself


def test_limits_end_the_process_with_a_sentence(load_text, monkeypatch, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(table([{"prompt": "x" * 1000} for _ in range(20_000)]))
    with process.spool_in(tmp_path / "spool") as spool, pytest.raises(Refused, match="longer than a dataset may take"):
        process.read(path, spool, what="samples", columns={}, subset="", limits={"seconds": 0})
    with process.spool_in(tmp_path / "spool") as spool, pytest.raises(Refused, match="larger than"):
        process.read(path, spool, what="samples", columns={}, subset="", limits={"unpacked": 1 << 20})


def test_pictures_that_belong_to_nothing_are_forgotten(load, tmp_path):
    dataset = load(packed(tmp_path / "set.zip", {"a/0.png": png()}), modality="image")
    kept = Image.objects.get()

    assert images.forget_unused() == 0
    dataset.contestants.all().delete()
    dataset.pictures.all().delete()

    assert images.forget_unused() == 1
    assert not kept.path.exists()
    assert not Image.objects.exists()


def test_a_spool_is_not_believed(tmp_path, load, alice):
    """Whoever has taken over the process cannot pass off other bytes, or a link to a file of ours."""
    dataset = Dataset.objects.create(owner=alice, name="x", slug="x")
    checked = images.Checked("0" * 64, "image/png", 1, 1, 3)
    (tmp_path / ("0" * 64)).write_bytes(b"abc")
    with pytest.raises(images.Spoiled):
        images.take_over(dataset, [checked], tmp_path)
    (tmp_path / ("0" * 64)).unlink()
    (tmp_path / ("0" * 64)).symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic"):
        images.take_over(dataset, [checked], tmp_path)
    assert not Image.objects.exists()
