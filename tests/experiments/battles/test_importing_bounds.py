"""What strangers send is read in bounded memory, and never trusted about its size."""

import io
import json
import zipfile
from pathlib import Path

import duckdb
import pytest

from accounts.errors import TooLarge
from experiments.library.datasets import process
from experiments.library.imports.files import Allowance, lines
from experiments.library.imports.values import Unreadable
from experiments.workflows.battles.campaign.logs import files, importing
from tests.cases import each_case
from tests.experiments.battles.logs_of_others import FOLDER, pair, slim, write


def test_a_line_without_an_end_is_refused_and_the_next_is_read(tmp_path, take, monkeypatch):
    monkeypatch.setattr("experiments.library.imports.files.LINE_BYTES", 1000)
    monkeypatch.setattr("experiments.library.imports.files.SKIPPED_AT_ONCE", 300)
    write(tmp_path / "log.jsonl", ["x" * 5000, slim("flux", "sdxl", 1, "flux")])

    _board, report = take(tmp_path / "log.jsonl")

    assert (report.stored, [refused.line for refused in report.refusals]) == (1, [1])
    assert "longer than" in report.refusals[0].reason
    allowance = Allowance(1 << 20)
    assert [line.number for line in lines(io.BytesIO(b"x" * 5000 + b"\n\nend"), allowance)] == [1, 3]
    assert allowance.read == 5005, "also what is skipped is read"


def test_a_damaged_member_is_refused_and_the_others_are_read(tmp_path, take):
    pair(tmp_path / "arena", [slim("flux", "sdxl", 0, "flux")])
    path = tmp_path / "logs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{FOLDER}/a_vs_b.jsonl", json.dumps(slim("a", "b", 0, "a", note="DAMAGED HERE")))
        archive.writestr(f"{FOLDER}/flux_vs_sdxl.jsonl", json.dumps(slim("flux", "sdxl", 0, "flux")))
    path.write_bytes(path.read_bytes().replace(b"DAMAGED HERE", b"DAMAGED THER"))

    board, report = take(path)

    assert board.battles.filter(left__name="flux").count() == 1
    assert "damaged" in report.refusals[0].reason


@pytest.mark.system
def test_a_parquet_file_is_read_by_the_limited_process_and_a_bomb_is_refused_there(tmp_path, take, monkeypatch):
    texts = "repeat('a', 3000000) AS conversation_a, repeat('b', 3000000) AS conversation_b"
    query = f"SELECT 'x' AS model_a, 'y' AS model_b, 'tie' AS winner, {texts} FROM range(60)"
    duckdb.sql(f"COPY ({query}) TO '{tmp_path / 'bomb.parquet'}' (FORMAT parquet)")
    assert (tmp_path / "bomb.parquet").stat().st_size < 1 << 20

    _board, report = take(tmp_path / "bomb.parquet")

    assert (report.stored, report.refused) == (0, 60)
    assert "longer than 4 MiB" in report.refusals[0].reason
    (tmp_path / "v.parquet").write_bytes(b"PAR1nonsense")
    assert "This Parquet file cannot be read" in take(tmp_path / "v.parquet")[1].refusals[0].reason
    monkeypatch.setattr(process, "START", "import os; os.abort()")
    assert "ended unexpectedly" in take(tmp_path / "v.parquet")[1].refusals[0].reason


@pytest.mark.system
def test_a_parquet_file_within_a_zip_is_copied_within_the_bounds_and_the_copy_is_deleted(
    tmp_path, take, monkeypatch, settings
):
    with zipfile.ZipFile(tmp_path / "logs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("votes/v.parquet", b"PAR1nonsense" + bytes(1 << 20))

    assert "This Parquet file cannot be read" in take(tmp_path / "logs.zip")[1].refusals[0].reason
    assert not list(Path(settings.UPLOADS_DIR).rglob("*.parquet"))
    monkeypatch.setattr(importing, "UNPACKED", 0)
    with pytest.raises(TooLarge):
        take(tmp_path / "logs.zip")
    assert not list(Path(settings.UPLOADS_DIR).rglob("*.parquet"))


@each_case("size", [1, 7, 64])
def test_a_list_is_read_in_pieces_of_any_size(size, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", size)
    values = [{"model_a": "é", "n": [1, {"x": "]}"}]}, {"b": "猫" * 30}]

    found = list(files.json_list(io.BytesIO(json.dumps(values, ensure_ascii=False).encode()), Allowance(10**6)))

    assert [row.content for row in found] == values


def test_what_holds_too_much_too_many_files_no_logs_or_secrets_is_given_up(tmp_path, take, settings, monkeypatch):
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    with zipfile.ZipFile(tmp_path / "secret.zip", "w") as archive:
        archive.writestr(f"{FOLDER}/a_vs_b.jsonl", "{}")
    data = bytearray((tmp_path / "secret.zip").read_bytes())
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(sign) + at] |= 1
    (tmp_path / "secret.zip").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{FOLDER}/a_vs_b.jsonl", "\n" * 10_000_000)
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(100):
            archive.writestr(f"{number}.jsonl", "")

    settings.UPLOAD_BYTES = 10_000
    with pytest.raises(TooLarge):
        take(tmp_path / "bomb.zip")
    monkeypatch.setattr("experiments.library.imports.files.DIRECTORY_BYTES", 1000)
    for name, said in (
        ("many.zip", "too many files"),
        ("notes.txt", "jsonl"),
        ("empty", "jsonl"),
        ("nothing.jsonl", "no such file"),
        ("secret.zip", "without a password"),
    ):
        with pytest.raises(Unreadable, match=said):
            take(tmp_path / name)


def test_batches_are_small_and_followed_also_through_nonsense_and_a_long_cell_is_a_cell(tmp_path, take, monkeypatch):
    """A worker that reads a long file of nonsense is not taken for dead."""
    row = f'x,y,tie,1,"[{{""role"": ""user"", ""content"": ""{"q" * 300_000}""}}]"'
    (tmp_path / "v.csv").write_text(f"model_a,model_b,winner,question_id,conversation_a\n{row}\n")
    assert take(tmp_path / "v.csv", called="Votes")[1].stored == 1
    monkeypatch.setattr(importing, "BATCH", 10)
    stored, read = [], []
    write(tmp_path / "log.jsonl", (slim("flux", "sdxl", number, "flux") for number in range(25)))
    (tmp_path / "none.jsonl").write_text("nonsense\n" * 35)

    take(tmp_path / "log.jsonl", heard=lambda report: stored.append(report.stored))
    monkeypatch.setattr(importing, "HEARD_AFTER", 10)
    take(tmp_path / "none.jsonl", called="Nonsense", heard=lambda report: read.append(report.read))

    assert (stored, read) == ([10, 20, 25], [10, 20, 30])
