"""Logs of a board are given away in GenArena's shapes, and whole in our own."""

import io
import json
import zipfile

import pytest
from django.utils.timezone import now
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.models import Battle
from experiments.workflows.battles.campaign.boards import people_board
from experiments.workflows.battles.campaign.counting import recount
from experiments.workflows.battles.campaign.logs.exporting import audit_lines, full_lines, slim_lines
from experiments.workflows.battles.campaign.logs.packing import file_names, pair_file, zipped
from tests.experiments.battles.logs_of_others import FOLDER, audit, pair, slim


def read(chunks):
    return [json.loads(line) for line in b"".join(chunks).splitlines()]


def unpacked(chunks):
    archive = zipfile.ZipFile(io.BytesIO(b"".join(chunks)))
    return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture
def board(tmp_path, take, uploaded):
    """Four battles: won, disagreed on, failed, and won by the one with the smaller key, later void."""
    given = [("flux", "A", "B"), ("tie", "A", "A"), ("tie", None, "B"), ("sdxl", "B", "A")]
    rows = [audit("flux", "sdxl", index, *judged) for index, judged in enumerate(given)]
    dataset = uploaded(samples=4, names=("sdxl", "flux"))
    found, _report = take(pair(tmp_path / "a", rows, folder=f"{FOLDER}/raw_outputs").parents[3], dataset)
    found.battles.filter(sample__index=3).update(void_reason="the image was broken", voided=now())
    recount(found)
    return found


def test_the_zip_has_the_layout_of_an_arena_folder_and_comes_back_as_each_log_by_itself_does(board, tmp_path, take):
    board.dataset.contestants.filter(name="sdxl").update(version="GenArena_20260301")
    path = tmp_path / "board.zip"
    path.write_bytes(b"".join(zipped(board)))
    files = unpacked(zipped(board))

    folder = "pk_logs/GenArena_20260301"
    assert path.read_bytes() == b"".join(zipped(board)), "the same board gives the same bytes"
    assert sorted(files) == [
        *("README.md", "arena/battles.jsonl", "arena/state.json", "data/samples.jsonl"),
        *(f"{folder}/{name}" for name in ("config.json", "elo_snapshot.json", "flux_vs_sdxl.jsonl")),
        f"{folder}/raw_outputs/flux_vs_sdxl.jsonl",
    ]
    assert [json.loads(line) for line in files[f"{folder}/flux_vs_sdxl.jsonl"].splitlines()] == read(slim_lines(board))
    config = json.loads(files[f"{folder}/config.json"])
    assert (config["judge_model"], config["contestants"], config["began"]) == ("imported", ["flux", "sdxl"], None)
    assert read([files["arena/battles.jsonl"].encode()]) == read(full_lines(board))
    whole, report = take(path, called="All of it")
    assert (report.stored, report.opened, report.void, read(slim_lines(whole))) == (3, 1, 1, read(slim_lines(board)))
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "logs", [name for name in files if name.startswith("pk_logs")])
    copy, report = take(tmp_path / "logs", called="A copy")
    assert (report.stored, report.confirmed, read(audit_lines(copy))) == (2, 2, read(audit_lines(board)))
    for lines, void in ((slim_lines, 0), (audit_lines, 0), (full_lines, 1)):
        path = tmp_path / f"{lines.__name__}.jsonl"
        path.write_bytes(b"".join(lines(board)))
        copy, report = take(path, called=lines.__name__)
        assert (report.void, len(read(lines(copy)))) == (void, len(read(lines(board))) - void)
        assert read(slim_lines(copy)) == read(slim_lines(board))
        assert lines is slim_lines or read(audit_lines(copy)) == read(audit_lines(board))


def test_subsets_are_told_apart_and_snapshots_grow_and_name_who_is_not_rated(tmp_path, take):
    rows = [slim("flux", "sdxl", 0, "flux"), slim("flux", "sdxl", 1, "sdxl"), slim("flux", "sdxl", 2, "flux")]
    pair(tmp_path / "whole", rows)
    beaten = [slim("flux", "dalle", index, "flux") for index in range(3)]
    pair(tmp_path / "whole", beaten, folder="pk_logs/second_20260401", name="dalle_vs_flux")
    for subset in ("basic", "advanced"):
        pair(tmp_path / "subsets" / subset, [slim("flux", "sdxl", 0, "flux")])
    apart, _report = take(tmp_path / "subsets", called="Subsets")
    assert [row["subset"] for row in read(slim_lines(apart))] == ["advanced", "basic"]
    assert read(slim_lines(apart, "basic")) == [slim("flux", "sdxl", 0, "flux")]
    logs = [name for name in sorted(unpacked(zipped(apart))) if name.endswith("sdxl.jsonl")]
    assert logs == [f"{subset}/pk_logs/first_20260105/flux_vs_sdxl.jsonl" for subset in ("advanced", "basic")]

    board, _report = take(tmp_path / "whole")
    files = unpacked(zipped(board))

    first, second = (
        json.loads(files[f"pk_logs/{name}/elo_snapshot.json"]) for name in ("first_20260105", "second_20260401")
    )
    assert (first["battle_count"], second["battle_count"], first["model_count"]) == (3, 6, 2)
    assert first["elo"]["flux"] - first["elo"]["sdxl"] == pytest.approx(400 * 0.30103, abs=0.01)
    assert set(second["elo"]) == {"flux", "sdxl"}
    assert list(second["unrated"]) == ["dalle"]
    state = json.loads(files["arena/state.json"])
    assert (state["total_battles"], state["models"]["dalle"]) == (
        6,
        {"elo": None, "wins": 0, "losses": 3, "ties": 0, "ci_lower": None, "ci_upper": None},
    )


def test_votes_name_nobody_and_those_to_be_cast_are_not_told(uploaded, alice, charlie):
    dataset = uploaded(names=("gpt", "llama"))
    board, (left, right) = people_board(dataset), dataset.contestants.order_by("pk")
    samples = list(dataset.samples.all())
    kept = {"board": board, "left": left, "right": right, "shown_left_first": False}
    for voter, sample in ((alice, samples[0]), (alice, samples[1]), (charlie, samples[0])):
        who = {"ballot": f"user-{voter.pk}", "voter": voter}
        Battle.objects.create(**kept, **who, sample=sample, winner="left", judged=now())
    for ballot in ("guest-7", "guest-7/again"):  # two occasions of a visitor
        Battle.objects.create(**kept, sample=samples[2], ballot=ballot, winner="right", judged=now())
    Battle.objects.create(**kept, sample=samples[2], ballot=f"user-{alice.pk}", voter=alice)

    rows = read(full_lines(board))

    voters = [row["voter"] for row in rows]
    assert [voters.index(voter) for voter in voters] == [0, 0, 2, 3, 3]
    assert None not in voters
    text = json.dumps(rows)
    assert "alice" not in text
    assert "user-" not in text
    assert {row["shown_first"] for row in rows} == {"model_b"}


@settings(max_examples=40)
@given(st.lists(st.text(min_size=1, max_size=120), unique=True, min_size=2, max_size=6))
def test_any_names_give_files_of_their_own_that_file_systems_allow(names):
    files = file_names(names)

    made = {pair_file(a, b, files).casefold() for a in names for b in names if a < b}
    assert len(made) == len(names) * (len(names) - 1) // 2
    assert max(len(name.encode()) for name in made) <= 255
    assert not any("/" in name or "\x00" in name or name.startswith(".") for name in made)


@pytest.mark.databases
def test_the_slim_and_the_audit_log_are_genarenas_own_and_the_full_one_tells_what_is_open_or_void(board):
    slims, (first, second) = read(slim_lines(board)), read(audit_lines(board))
    rows = {row["sample_index"]: row for row in read(full_lines(board))}

    assert slims == [slim("flux", "sdxl", 0, "flux"), slim("flux", "sdxl", 1, "tie", consistent=False)]
    assert list(slims[0]) == list(slim("a", "b", 0))
    wanted = audit("flux", "sdxl", 0, "flux", "A", "B")
    for key in ("original_call", "swapped_call"):
        call = first[key]
        assert call.pop("parse_error") is None
        assert call == wanted[key]
    assert {name: first[name] for name in slims[0]} == slims[0]
    assert [second[key]["parsed_result"]["winner"] for key in ("original_call", "swapped_call")] == ["A", "A"]

    assert [rows[index]["winner"] for index in range(4)] == ["model_a", "tie", None, "model_b"]
    assert rows[2]["open_reason"] == "Judged elsewhere, unread: API error: 503"
    assert rows[3]["void_reason"] == "the image was broken"
    assert (rows[0]["judge"], rows[0]["judged_by"]) == ("imported", "imported")
    verdict = rows[0]["verdicts"][0]  # sdxl stands left, so the first verdict showed it first
    assert (verdict["first"], verdict["winner"], verdict["raw"]) == ("model_b", "model_a", "The winner is B.")
    assert verdict["scores"] == {"score_a": 8, "score_b": 6}
    board.dataset.contestants.filter(name="flux").update(void_reason="the weights were wrong")
    assert read(slim_lines(board)) == [], "battles of a contestant that is left out are no results"
    assert {row["void_reason"] for row in read(full_lines(board))} >= {"flux: the weights were wrong"}
