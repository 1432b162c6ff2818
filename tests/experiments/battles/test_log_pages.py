"""Logs are sent, followed and taken away: by page, by API, by command."""

import errno
import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import InMemoryUploadedFile, SimpleUploadedFile
from django.core.management import CommandError
from django.urls import reverse
from django.utils.timezone import now

from experiments.models import Battle, Board, Dataset, LogImport
from experiments.models.signals import swept
from experiments.workflows.battles.campaign.logs import queueing, storing
from experiments.workflows.battles.campaign.logs.packing import FORMATS
from tests.cases import each_case
from tests.experiments.battles.logs_of_others import pair, run, slim, vote, write

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
