"""Files that are made to do harm: refused by the limited process, in words, long before the machine suffers."""

import contextlib
import gzip
import os
import subprocess
import sys
import zipfile

import duckdb
import pytest
from django.conf import settings

from experiments.datasets import process, writing
from experiments.datasets.process import Refused
from experiments.datasets.reader import documents
from experiments.datasets.reader.limits import Limits
from experiments.datasets.reader.tables import open_table
from experiments.models import Dataset, DatasetImage, Image
from tests.cases import each_case
from tests.experiments.datasets.files import packed, parquet, png

pytestmark = [pytest.mark.system, pytest.mark.django_db]
FOUND = "select current_setting('enable_progress_bar')"
ASKED = f"""
import sys; sys.path.insert(0, {str(settings.BASE_DIR)!r})
from pathlib import Path
from experiments.datasets.reader import duck, parquet
from experiments.datasets.reader.limits import Limits
limits = Limits(memory=1 << 28, unpacked=1 << 28)
print(%s.execute({FOUND!r}).fetchone()[0])
"""
COLUMNS = 1_000_000


def written(path, query):
    database = duckdb.connect()
    database.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    database.close()
    return path


@pytest.mark.exhaustive
def test_a_small_table_that_says_the_same_a_thousand_times_is_refused(tmp_path):
    path = written(tmp_path / "a.parquet", "SELECT repeat('a', 100000) AS prompt FROM range(3000)")
    assert path.stat().st_size < 100_000

    with process.spool_in(tmp_path / "spool") as spool, pytest.raises(Refused, match="looks like a bomb"):
        process.read(path, spool, what="samples", columns={}, subset="", limits={"taken": 8 << 20})


@pytest.mark.exhaustive
def test_a_table_of_vast_texts_does_not_fit_and_says_what_would(load, tmp_path):
    path = written(tmp_path / "a.parquet", "SELECT repeat('a', 30000000) AS prompt FROM range(60)")

    with pytest.raises(Refused, match=r"(groups that are too large|more than 200000 characters)"):
        load(path)


@each_case("spoil", [lambda data: data[:-9], lambda data: data[:60] + b"\xff" * 40 + data[100:]])
def test_a_table_that_is_cut_off_or_spoiled_is_refused(load, tmp_path, spoil):
    path = parquet(tmp_path / "a.parquet", [{"prompt": f"question {number}"} for number in range(500)])
    path.write_bytes(spoil(path.read_bytes()))

    with pytest.raises(Refused, match=r"a\.parquet: The table cannot be read"):
        load(path)


@each_case("name", ["data[1].parquet", "*.parquet", "a?b.parquet"])
def test_a_name_is_no_pattern(load, tmp_path, name):
    parquet(tmp_path / "other.parquet", [{"prompt": "another file"}])
    path = parquet(tmp_path / "x.parquet", [{"prompt": "this one"}]).rename(tmp_path / name)

    assert load(path).samples.get().instruction == "this one"


@each_case("name", ["a\x1b[31m", "a\nb", "\u202ea", "x" * 201])
def test_a_contestant_and_a_subset_have_names_that_can_be_shown(load, tmp_path, name):
    with pytest.raises(Refused, match="cannot be a contestant's name"):
        load(packed(tmp_path / "a.zip", {f"{name}/0.png": png()}), modality="image")
    with pytest.raises(Refused, match="cannot be a subset's name"):
        load(packed(tmp_path / "b.zip", {f"{name}/a/0.png": png(), "t/a/0.png": png()}), modality="image")


@each_case("size", [1, 7, 64])
def test_a_document_is_read_in_pieces_of_any_size(tmp_path, size, monkeypatch):
    monkeypatch.setattr(documents, "CHUNK", size)
    path = tmp_path / "a.json"
    path.write_text('\n[ {"a": "é", "n": [1, {"x": "]}"}]} ,\n{"b": "猫"}]\n', encoding="utf-8")

    table = open_table(path, "a.json", Limits())

    assert list(table.rows([])) == [{"a": "é", "n": [1, {"x": "]}"}]}, {"b": "猫"}]
    assert table.share == 1


def test_pipes_and_links_that_lead_nowhere_hold_nothing_up(load, tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "data.csv").write_text("prompt\nq\n")
    (folder / "gone.csv").symlink_to(tmp_path / "not there")
    os.mkfifo(folder / "pipe.csv")

    assert load(folder).samples.count() == 1


@pytest.mark.system
def test_the_process_is_refused_every_socket(tmp_path, monkeypatch):
    """Also where it may make no namespaces, as in a container."""
    looks = """
import sys; sys.path.insert(0, sys.argv[1])
import errno, json, socket
from experiments.datasets.reader import limits
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


def test_a_picture_of_another_dataset_cannot_be_named(alice, tmp_path):
    """Whoever has taken over the process knows the hash of a picture, and gets no further with it."""
    theirs, mine = (Dataset.objects.create(owner=alice, name=name, slug=name) for name in ("theirs", "mine"))
    image = Image.objects.create(sha256="0" * 64, mime="image/png", width=1, height=1, size=1)
    DatasetImage.objects.create(dataset=theirs, image=image)
    sample = {"subset": "", "index": 0, "category": "", "instruction": "", "images": [image.pk], "source": ""}
    record = writing.SampleRecord(kind="sample", metadata={}, outputs={}, **sample)
    output = {"subset": None, "index": 0, "contestant": "a", "version": "", "text": "", "image": image.pk}

    for found in (record, writing.OutputRecord(kind="output", **output)):
        with pytest.raises(Refused, match="a picture that it did not bring"):
            writing.Writer(mine, tmp_path, lambda: None, "").write([found])
    assert not mine.samples.exists()


def test_a_zip_whose_entries_overlap_is_refused(load, tmp_path):
    """The same packed bytes under many names: what they say of their length counts, all together."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/0.png", b"\0" * (30 << 20))
        first = archive.filelist[0]
        for number in range(1, 4):
            entry = zipfile.ZipInfo(f"a/{number}.png")
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset", "external_attr"):
                setattr(entry, name, getattr(first, name))
            archive.filelist.append(entry)

    with pytest.raises(Refused, match="looks like a bomb"):
        load(path, modality="image")
    assert not list((tmp_path / "uploads").iterdir())


@pytest.mark.system
@pytest.mark.parametrize(
    "connected", ["duck._connect({'/nowhere'}, limits)", "parquet._connect(Path('/nowhere'), limits)"]
)
def test_duckdb_draws_no_bar_of_its_progress_where_the_process_says_what_it_found(connected):
    """It takes a program without a file for a person at a terminal, and draws after two seconds."""
    command = [sys.executable, "-I", "-c", ASKED % connected]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "False"


def test_a_table_of_a_million_columns_is_refused(load_text):
    header = ",".join(f"c{number}" for number in range(COLUMNS))

    with pytest.raises(Refused):
        load_text("wide.csv", f"{header}\n{'1,' * (COLUMNS - 1)}1\n")
    assert not Dataset.objects.exists()


@each_case("name", ["a.csv.gz", "a.jsonl.gz", "a.csv", "a.json", "a.parquet"])
def test_what_was_packed_to_a_thousandth_is_not_unpacked(load_text, name):
    """Whatever it is called."""
    with pytest.raises(Refused):
        load_text(name, gzip.compress(b"prompt\n" + b"a" * (200 << 20), compresslevel=9))


@each_case("data", [b"\x00" * 100_000, b"prompt\n\x00\x00\x00\n", b"\xff\xfe\x00", b"", b'"' * 99_999])
@pytest.mark.parametrize("name", ["a.csv", pytest.param("a.jsonl", marks=pytest.mark.exhaustive), "a.parquet", "a.zip"])
def test_bytes_that_are_no_table_end_in_a_refusal_or_in_clean_text(load_text, name, data):
    with contextlib.suppress(Refused):
        made = load_text(name, data)
        assert not any("\x00" in sample.instruction for sample in made.samples.all())
