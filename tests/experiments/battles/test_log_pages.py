"""Logs are sent, followed and taken away by page, API and command, and those of a board given away."""

import errno
import io
import json
import threading
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import InMemoryUploadedFile, SimpleUploadedFile
from django.core.management import CommandError
from django.urls import reverse
from django.utils.timezone import now
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.models import Battle, Board, Dataset, LogImport
from experiments.models.signals import swept
from experiments.workflows.battles.campaign.boards import people_board
from experiments.workflows.battles.campaign.counting import recount
from experiments.workflows.battles.campaign.logs import queueing, storing
from experiments.workflows.battles.campaign.logs.exporting import audit_lines, full_lines, slim_lines
from experiments.workflows.battles.campaign.logs.packing import FORMATS, file_names, pair_file, zipped
from tests.cases import each_case
from tests.experiments.battles.logs_of_others import FOLDER, audit, pair, run, slim, vote, write

ROWS = [slim("flux", "sdxl", 0, "flux"), slim("flux", "sdxl", 1, "nobody")]
FOLLOWS = 'id="file" aria-live="polite" hx-ext="morph" hx-get'  # a page that is refreshed


def file(rows=ROWS, name="log.jsonl"):
    return SimpleUploadedFile(name, "".join(f"{json.dumps(row)}\n" for row in rows).encode())


@pytest.fixture
def dataset(uploaded):
    return uploaded(visibility="public")


@pytest.fixture
def browser(client, alice):
    client.force_login(alice)
    return client


def send(browser, dataset, **fields):
    kept = {"file": file(), "keep_partial": "on"}
    return browser.post(reverse("battles-import", args=[dataset.slug]), kept | fields)


def test_a_small_log_is_read_at_once_and_its_report_shown_by_page_and_api(browser, dataset, api, tmp_path):
    answer = send(browser, dataset, judge="GPT <b>")

    page = browser.get(answer["Location"])
    text = page.content.decode()
    assert page.status_code == 200
    assert "final_winner is “nobody”" in text
    assert FOLLOWS not in text
    board = Board.objects.get()
    assert (board.judge, board.kind, board.battles.count()) == ("GPT <b>", "imported", 1)
    assert board.slug in text
    assert not list((tmp_path / "uploads").rglob("log"))

    address = reverse("api-dataset-battles", args=[dataset.slug])
    first, second = (api.post(address, {"file": file(), "keep_partial": True}, format="multipart") for _ in range(2))
    assert (first.status_code, first.data["state"], first.data["report"]["stored"]) == (201, "done", 1)
    assert (second.data["report"]["stored"], second.data["report"]["known"]) == (0, 1)
    found = api.get(reverse("api-log-import", args=[dataset.slug, first.data["id"]]))
    assert found.json()["report"]["refusals"][0]["line"] == 2


def test_a_large_log_waits_for_a_worker_and_one_that_is_refused_leaves_an_empty_dataset(browser, dataset, queued):
    answer = send(browser, dataset)
    assert (queued, Battle.objects.count()) == ([1], 0)
    assert FOLLOWS in browser.get(answer["Location"]).content.decode()
    swept.send(None)
    assert queued == [1, 1]
    queueing.read_all()
    assert (LogImport.objects.get().state, Battle.objects.count()) == ("done", 1)

    sent = browser.post(reverse("battles-import-new"), {"name": "Mine", "file": file()})
    mine = Dataset.objects.get(name="Mine")
    assert not mine.is_ready
    queueing.read_all()
    mine.refresh_from_db()
    assert (mine.state, mine.samples.count(), mine.contestants.count()) == ("refused", 0, 0)
    page = browser.get(sent["Location"]).content.decode()
    assert ("final_winner" in mine.refused_reason, "final_winner" in page, FOLLOWS in page) == (True, True, False)


def test_what_cannot_be_taken_is_refused_at_the_form_and_by_the_api(browser, dataset, api, settings, monkeypatch):
    page, address = (reverse(name, args=[dataset.slug]) for name in ("battles-import", "api-dataset-battles"))
    with monkeypatch.context() as disk:
        disk.setattr(InMemoryUploadedFile, "chunks", full)
        answer = send(browser, dataset)
    assert (answer.status_code, b"disk is full" in answer.content) == (422, True)
    assert not LogImport.objects.exists()
    assert not list(Path(settings.UPLOADS_DIR).rglob("log"))

    notes = send(browser, dataset, file=SimpleUploadedFile("notes.txt", b"hello"))
    assert LogImport.objects.get().state == "refused"
    assert "There are no logs in it" in browser.get(notes["Location"]).content.decode()
    assert browser.get(page).status_code == 200
    assert browser.post(page, {}).status_code == 422
    assert api.post(address, {}, format="multipart").status_code == 400
    settings.UPLOAD_BYTES = 10
    assert send(browser, dataset).status_code == 413
    assert api.post(address, {"file": file()}, format="multipart").status_code == 413
    assert Battle.objects.count() == 0


def test_a_log_becomes_a_dataset_of_its_own_and_one_that_is_not_taken_leaves_it_alone(browser, queued, monkeypatch):
    address = reverse("battles-import-new")
    assert browser.get(address).status_code == 200
    monkeypatch.setattr(queueing, "MOST_WAITING", 1)
    for status in (302, 403):
        assert browser.post(address, {"name": "Mine", "file": file(ROWS[:1])}).status_code == status
    assert LogImport.objects.get().dataset == Dataset.objects.get()
    queueing.read_all()
    monkeypatch.setattr(queueing, "AT_ONCE_BYTES", 10_000)

    refused = [
        browser.post(address, {"file": sent, "name": "Nothing"})
        for sent in (SimpleUploadedFile("a.txt", b"hello"), file(ROWS))
    ]
    answer = browser.post(address, {"file": file(ROWS[:1]), "name": "Pictures of elsewhere"})

    assert [(page.status_code, bool(page.context["form"].errors["file"])) for page in refused] == [(422, True)] * 2
    assert browser.get(answer["Location"]).status_code == 200
    assert dict(Dataset.objects.values_list("name", "state")) == {"Mine": "ready", "Pictures of elsewhere": "ready"}
    assert Battle.objects.count() == 2


def test_logs_of_a_public_board_are_taken_without_signing_in(client, dataset, take, tmp_path):
    board, _report = take(write(tmp_path / "log.jsonl", ROWS[:1]), dataset)
    for format_ in ("slim", "audit", "full", "zip"):
        page = client.get(reverse("board-export", args=[board.slug, format_]))
        assert page.status_code == 200
        assert page["Content-Disposition"].startswith(f'attachment; filename="{board.slug}')
        assert b"".join(page) == b"".join(
            client.get(reverse("api-board-export", args=[board.slug]), {"format": format_})
        )
    slim_log = b"".join(client.get(reverse("api-board-export", args=[board.slug])))
    assert json.loads(slim_log) == ROWS[0]
    assert client.get(reverse("board-export", args=[board.slug, "exe"])).status_code == 404
    assert client.get(reverse("api-board-export", args=[board.slug]), {"format": "exe"}).status_code == 400
    board.ladder.__class__.objects.update(withdrawn_reason="a mistake")
    assert client.get(reverse("board-export", args=[board.slug, "full"])).status_code == 404


def test_the_commands_take_a_folder_over_and_give_it_back_or_leave_all_as_it_was(alice, tmp_path, monkeypatch):
    pair(tmp_path / "arena", ROWS)
    order = ("import_battles", tmp_path / "arena", "--dataset", "taken", "--keep-partial")
    with monkeypatch.context() as disk:
        disk.setattr(storing._Batch, "take", full)
        with pytest.raises(OSError, match="No space"):
            run(*order, "--owner", "alice")
    assert not Dataset.objects.exists()

    said = run(*order, "--owner", "alice", "--report", tmp_path / "r")

    assert "2 lines read: 1 battles stored" in said
    assert "final_winner is “nobody”" in said
    assert json.loads((tmp_path / "r").read_text())["refused"] == 1
    slug = Board.objects.get().slug
    assert f"Board: {slug}" in said
    back = ("export_battles", slug, "--format", "slim", "--output", tmp_path / "out.jsonl")
    run(*back)
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == ROWS[:1]
    assert "0 battles stored" in run(*order)

    def broken(_board, _subset):
        yield b'{"model_a": "fl'
        full()

    monkeypatch.setitem(FORMATS, "slim", FORMATS["slim"]._replace(chunks=broken))
    with pytest.raises(OSError, match="No space"):
        run(*back)
    assert json.loads((tmp_path / "out.jsonl").read_text()) == ROWS[0], "as it was written before"


@each_case("name", ["made", "uploaded"])
def test_an_import_that_is_refused_fails_and_changes_nothing(name, dataset, tmp_path):
    many_voters = [vote("flux", "sdxl", "tie", number, judge=f"Reader {number}") for number in range(25)]
    for rows, options, said in (
        (ROWS, (), "1 of 2 lines was refused"),
        (ROWS[1:], ("--keep-partial",), "1 of 1 lines was refused"),
        (many_voters, (), "more than 20 judges"),
        ([], ("--keep-partial",), "no battles in the file"),
    ):
        write(tmp_path / "log.jsonl", rows)
        with pytest.raises(CommandError, match=said) as refused:
            run("import_battles", tmp_path / "log.jsonl", "--dataset", name, "--owner", "alice", *options)
        assert refused.value.returncode == 1
        assert (Dataset.objects.get(), Board.objects.count(), Battle.objects.count()) == (dataset, 0, 0)
        assert not dataset.contestants.exists()


def test_a_command_says_what_is_missing(alice):
    order = ("import_battles", "/nowhere", "--dataset", "x")
    for arguments, said in (
        ((*order, "--owner", "alice"), "no /nowhere"),
        ((*order, "--owner", "zoe"), "nobody called zoe"),
        (order, "--owner USER"),
        (("export_battles", "x"), "There is no board x"),
    ):
        with pytest.raises(CommandError, match=said):
            run(*arguments)
    assert Dataset.objects.count() == 0


@pytest.fixture
def queued(monkeypatch):
    """Every log waits for a worker. Gives how often one was asked for."""
    rung = []
    monkeypatch.setattr(queueing, "wake", lambda: rung.append(1))
    monkeypatch.setattr(queueing, "AT_ONCE_BYTES", 10)
    return rung


def full(*_args, **_more):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_worker_that_is_asked_to_end_puts_the_file_back_and_what_a_dead_one_held_is_stored_once(
    browser, dataset, queued, monkeypatch
):
    monkeypatch.setattr(queueing, "stop_requested", threading.Event())
    send(browser, dataset)
    row = LogImport.objects.get()
    queueing._claim(row)
    LogImport.objects.update(state="waiting", attempt=0)

    queueing.read(row)
    assert (LogImport.objects.get().state, row.path.exists()) == ("waiting", True)

    queueing.stop_requested.set()
    queueing._claim(row)
    queueing.read(row)
    row.refresh_from_db()
    assert (row.state, row.attempt, row.path.exists()) == ("waiting", 0, True)

    assert queueing._claim(row)
    queueing.import_battles(
        row.path, dataset=dataset, by=row.owner, name=row.name, keep_partial=True
    )  # the worker dies before it can say so
    LogImport.objects.update(beat=now() - timedelta(hours=1))
    queueing.stop_requested.clear()
    queueing.sweep()
    queueing.read_all()
    row.refresh_from_db()
    assert (row.state, row.report["stored"], row.report["known"], Battle.objects.count()) == ("done", 0, 1, 1)
    assert len(row.report["warnings"]) == 1


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
