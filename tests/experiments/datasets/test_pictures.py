"""Pictures in folders and zips, and files that are made to do harm: found by their numbers, or refused in words."""

import gzip
import os
import signal
import stat
import struct
import subprocess
import zipfile
import zlib

import duckdb
import pytest

from experiments.library.datasets import images, process, writing
from experiments.library.datasets.process import Refused
from experiments.library.datasets.reader import tables
from experiments.library.datasets.reader.limits import Limits
from experiments.library.datasets.reader.tables import open_table
from experiments.models import Dataset, DatasetImage, Image
from tests.experiments.datasets.files import moving, packed, parquet, picture, png, table


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
    rows = dataset.contestants.order_by("name", "outputs__sample__index")
    made = list(rows.values_list("name", "outputs__sample__index", "outputs__image__mime"))
    assert made == [("a", 0, "image/png"), ("a", 1, "image/jpeg"), ("b", 1, "image/png")]
    assert [told["code"] for told in dataset.warnings] == ["no_table"]

    files = {f"arena/{subset}/models/solar_20260131/m1/0.png": png() for subset in ("basic", "hard")}
    dataset = load(packed(tmp_path / "arena.zip", files), modality="image", name="As GenArena lays them out")
    assert list(dataset.samples.values_list("subset", "index")) == [("basic", 0), ("hard", 0)]
    assert dataset.contestants.get().version == "solar_20260131"


UNSHOWN = ("a\x1b[31m", "a\nb", "\u202ea", "x" * 201)  # names that cannot be shown


def vast():
    """A picture that says it has 50,000 x 50,000 pixels."""
    data = bytearray(png())
    data[16:24] = struct.pack(">II", 50_000, 50_000)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    return bytes(data)


def test_what_is_wrong_is_said_and_nothing_is_stored(load, tmp_path):
    for files, said in (
        ({"solar_20261301/a/0.png": png()}, "ends with a date that does not exist"),
        ({"x_20260101/a/0.png": png(), "y_20260101/a/1.png": png()}, "The contestant a is in two experiments"),
        ({"a/0.png": b"no picture"}, "a/0.png: This is not a picture"),
        ({"a/0.png": png()[:-20]}, "a/0.png: A picture is broken or cut off."),
        ({"a/0.png": moving()}, "a/0.png: A picture is animated"),
        ({"a/0.png": png(size=(20_000, 1))}, "a/0.png: A picture has more than"),
        ({"a/0.png": vast()}, "A picture has more than 50000000 pixels"),
        ({"a/0.png": png(), "more.zip": b"PK"}, "more.zip is an archive within the archive"),
        ({"a.csv": b"prompt,output_a\nq,text\n"}, "It has texts, but the outputs of this dataset are pictures"),
        ({f"a/{number}.csv": b"\0" * (30 << 20) for number in range(4)}, "times when unpacked"),
        ({"../0.png": png()}, "outside of its folder"),
        ({"/etc/0.png": png()}, "outside of its folder"),
        ({"a\\..\\0.png": png()}, "outside of its folder"),
        ({"C:/a/0.png": png()}, "outside of its folder"),
        *(({f"{name}/0.png": png()}, "is not a valid contestant name") for name in UNSHOWN),
        *(({f"{name}/a/0.png": png(), "t/a/0.png": png()}, "is not a valid subset name") for name in UNSHOWN),
    ):
        with pytest.raises(Refused) as refused:
            load(packed(tmp_path / "set.zip", files), modality="image")
        assert said in str(refused.value)
        assert not Dataset.objects.exists(), said
        assert not Image.objects.exists(), said
        assert not list((tmp_path / "uploads").iterdir()), said


def test_archives_that_lie_hold_links_or_doubles_overlap_or_swell_are_refused(load, tmp_path, settings):
    data = bytearray(packed(tmp_path / "lies.zip", {"a/0.png": png()}).read_bytes())
    directory = data.rindex(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = struct.pack("<I", 10)  # the unpacked length
    (tmp_path / "lies.zip").write_bytes(data)
    (tmp_path / "set.zip").write_bytes(b"PK\x03\x04 and then nothing")
    link = zipfile.ZipInfo("a/0.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    for name, entries in (
        ("link.zip", [(link, b"/etc/passwd")]),
        ("twice.zip", [("a/0.png", png()), ("a/0.png", png())]),
    ):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for entry, content in entries:
                archive.writestr(entry, content)
    with zipfile.ZipFile(tmp_path / "overlap.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/0.png", b"\0" * (30 << 20))
        first = archive.filelist[0]
        for number in range(1, 4):  # the same packed bytes under many names: what they say of their length counts
            entry = zipfile.ZipInfo(f"a/{number}.png")
            for field in ("compress_type", "CRC", "compress_size", "file_size", "header_offset", "external_attr"):
                setattr(entry, field, getattr(first, field))
            archive.filelist.append(entry)
    packed(tmp_path / "large.zip", {"a/0.png": os.urandom(2 << 20)})

    for name, said in (
        ("lies.zip", r"a/0\.png"),
        ("set.zip", r"set\.zip is not a valid zip archive"),
        ("link.zip", "is a link"),
        ("twice.zip", "two files called a/0.png"),
        ("overlap.zip", "looks like a zip bomb"),
        ("large.zip", r"large\.zip is larger than 1\.0"),
    ):
        settings.DATASET_UNPACKED = 1 << 20 if name == "large.zip" else 8 << 30
        with pytest.raises(Refused, match=said):
            load(tmp_path / name, modality="image")
        assert not list((tmp_path / "uploads").iterdir()), name


@pytest.mark.system
def test_a_process_that_dies_or_is_silent_is_told_of(tmp_path, settings, monkeypatch):
    for words, silent_seconds, said in (
        ("import time; time.sleep(600)", 0.3, "took longer"),
        ("raise SystemExit('oh no')", 600, r"ended unexpectedly \(oh no\)"),
    ):
        settings.DATASET_SILENT_SECONDS = silent_seconds
        monkeypatch.setattr(process, "START", words)
        with pytest.raises(Refused, match=said):
            process.read(tmp_path, tmp_path, what="preview")


@pytest.mark.system
def test_limits_end_the_process_with_a_sentence(load_text, monkeypatch, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(table([{"prompt": "x" * 1000} for _ in range(20_000)]))
    with process.spool_in(tmp_path / "spool") as spool, pytest.raises(Refused, match="longer than allowed"):
        process.read(path, spool, what="samples", columns={}, subset="", limits={"seconds": 0})
    with process.spool_in(tmp_path / "spool") as spool, pytest.raises(Refused, match="larger than"):
        process.read(path, spool, what="samples", columns={}, subset="", limits={"unpacked": 1 << 20})


def test_a_spool_is_not_believed_nor_a_picture_of_another_dataset(tmp_path, alice):
    """Whoever has taken over the process cannot pass off other bytes, a link to a file of ours, or a known hash."""
    dataset = Dataset.objects.create(owner=alice, name="x", slug="x")
    checked = Image(sha256="0" * 64, mime="image/png", width=1, height=1, size=3)
    (tmp_path / ("0" * 64)).write_bytes(b"abc")
    with pytest.raises(images.Spoiled):
        images.take_over(dataset, [checked], tmp_path)
    (tmp_path / ("0" * 64)).unlink()
    (tmp_path / ("0" * 64)).symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic"):
        images.take_over(dataset, [checked], tmp_path)
    assert not Image.objects.exists()

    theirs, mine = (Dataset.objects.create(owner=alice, name=name, slug=name) for name in ("theirs", "mine"))
    image = Image.objects.create(sha256="0" * 64, mime="image/png", width=1, height=1, size=1)
    DatasetImage.objects.create(dataset=theirs, image=image)
    sample = {"subset": "", "index": 0, "category": "", "instruction": "", "images": [image.pk], "source": ""}
    record = writing.SampleRecord(kind="sample", metadata={}, outputs={}, **sample)
    output = {"subset": None, "index": 0, "contestant": "a", "version": "", "text": "", "image": image.pk}

    for found in (record, writing.OutputRecord(kind="output", **output)):
        with pytest.raises(Refused, match="a picture that it did not bring"):
            writing.Writer(mine, tmp_path, lambda share: None, "", records=1).write([found])
    assert not mine.samples.exists()


def test_a_table_that_is_cut_off_spoiled_or_packed_to_a_thousandth_is_refused(load, load_text, tmp_path):
    path = parquet(tmp_path / "a.parquet", [{"prompt": f"question {number}"} for number in range(500)])
    whole = path.read_bytes()
    for spoiled in (whole[:-9], whole[:60] + b"\xff" * 40 + whole[100:]):
        path.write_bytes(spoiled)
        with pytest.raises(Refused, match=r"a\.parquet: The table cannot be read"):
            load(path)
    bomb = gzip.compress(b"prompt\n" + b"a" * (200 << 20), compresslevel=9)
    for name in ("a.csv.gz", "a.csv", "a.json"):
        with pytest.raises(Refused):
            load_text(name, bomb)

    duckdb.sql(f"COPY (SELECT repeat('a', 100000) AS prompt FROM range(100)) TO '{path}' (FORMAT parquet)")
    assert path.stat().st_size < 10_000, "it says the same a hundred times"
    with process.spool_in(tmp_path / "spool") as spool, pytest.raises(Refused, match="looks like a zip bomb"):
        process.read(path, spool, what="samples", columns={}, subset="", limits={"taken": 1 << 20})


def test_a_name_is_no_pattern_and_pipes_and_links_that_lead_nowhere_hold_nothing_up(load, tmp_path):
    parquet(tmp_path / "other.parquet", [{"prompt": "another file"}])
    for name in ("data[1].parquet", "*.parquet", "a?b.parquet"):
        path = parquet(tmp_path / "x.parquet", [{"prompt": "this one"}]).rename(tmp_path / name)

        assert load(path).samples.get().instruction == "this one", name

    folder = tmp_path / "set of *"
    folder.mkdir()
    (folder / "data.csv").write_text("prompt\nq\n")
    (folder / "gone.csv").symlink_to(tmp_path / "not there")
    os.mkfifo(folder / "pipe.csv")

    assert load(folder).samples.count() == 1


def test_a_document_is_read_in_pieces_of_any_size(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text('\n[ {"a": "é", "n": [1, {"x": "]}"}]} ,\n{"b": "猫"}]\n', encoding="utf-8")
    for size in (1, 7, 64):
        monkeypatch.setattr(tables, "CHUNK", size)
        table = open_table(path, "a.json", Limits())

        assert list(table.rows([])) == [{"a": "é", "n": [1, {"x": "]}"}]}, {"b": "猫"}], size
        assert table.share == 1, size


@pytest.mark.system
def test_the_process_has_neither_environment_django_nor_network_and_dies_with_its_parent(tmp_path, monkeypatch):
    """It is in a namespace of its own, where the kernel allows one, in which nothing but an idle loopback is found.
    DuckDB takes a program without a file for a person at a terminal: it would draw a bar of its progress there.
    """
    looks = """
import sys; sys.path.insert(0, sys.argv[1])
import ctypes, json, os
from experiments.library.datasets.reader import limits, program, tables
found = {"django": "django" in sys.modules, "environment": len(os.environ)}
asked = "select current_setting('enable_progress_bar')"
found["bar"] = str(tables.connect(limits.Limits()).execute(asked).fetchone()[0])
death, before = ctypes.c_int(), os.readlink("/proc/self/ns/net")
limits.die_with_parent()
ctypes.CDLL(None).prctl(2, ctypes.byref(death))  # PR_GET_PDEATHSIG
limits.leave_network()
links = [line.split(":")[0].strip() for line in open("/proc/self/net/dev") if ":" in line]
found |= {"ends": death.value, "is_other": os.readlink("/proc/self/ns/net") != before, "links": links}
print(json.dumps({"found": found}))
"""
    allowed = subprocess.run(["unshare", "--map-root-user", "--net", "true"], check=False).returncode == 0
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-secret")
    monkeypatch.setattr(process, "START", looks)

    found = process.read(tmp_path, tmp_path, what="preview").said

    assert not found["django"]
    assert found["environment"] <= 1  # LC_CTYPE, which Python sets for itself
    assert (found["bar"], found["ends"]) == ("False", signal.SIGKILL)
    assert found["is_other"] == allowed
    assert found["links"] == ["lo"] or not allowed


@pytest.mark.system
def test_the_process_is_refused_every_socket(tmp_path, monkeypatch):
    """Also where it may make no namespaces, as in a container."""
    looks = """
import sys; sys.path.insert(0, sys.argv[1])
import errno, json, socket
from experiments.library.datasets.reader import limits
limits.CLONE_NEWUSER = limits.CLONE_NEWNET = 0
limits.leave_network()
refused = []
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    try:
        socket.socket(family)
    except OSError as error:
        refused.append(errno.errorcode[error.errno])
print(json.dumps({"found": {"refused": refused}}))
"""
    monkeypatch.setattr(process, "START", looks)

    assert process.read(tmp_path, tmp_path, what="preview").said == {"refused": ["EPERM"] * 3}
