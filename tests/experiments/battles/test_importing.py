"""Logs and battle files of others are taken over as they are meant, and in bounded memory whatever size they claim."""

import io
import json
import zipfile
from pathlib import Path

import duckdb
import pytest

from accounts.errors import Forbidden, TooLarge
from experiments.library.datasets import process
from experiments.library.imports.files import Allowance, lines
from experiments.library.imports.values import Unreadable
from experiments.models import Contestant, Output, PairCount, Verdict
from experiments.workflows.battles.campaign.counting import recount
from experiments.workflows.battles.campaign.logs import files, importing
from experiments.workflows.battles.campaign.logs.exporting import slim_lines
from tests.experiments.battles.logs_of_others import FOLDER, audit, pair, slim, talk, vote, write
from tests.experiments.datasets.files import parquet, table


def counts(board):
    return [
        (row.left_wins, row.right_wins, row.ties, row.consistent, row.inconsistent)
        for row in PairCount.objects.filter(board=board)
    ]


@pytest.mark.databases
def test_a_slim_log_becomes_battles_of_a_new_dataset_each_once_and_a_contradiction_is_refused(tmp_path, take):
    won, tie = slim("flux", "sdxl", 4, "sdxl"), slim("flux", "sdxl", 7, "tie")
    pair(tmp_path, [won, tie, tie, tie, slim("flux", "sdxl", 7, "flux")])
    pair(tmp_path, [tie], folder="pk_logs/second_20260205")
    pair(tmp_path, [audit("flux", "sdxl", 9, "tie", None, None)], folder=f"{FOLDER}/raw_outputs")

    board, report = take(tmp_path)

    assert (report.read, report.stored, report.duplicates, report.contestants, report.samples) == (7, 3, 3, 2, 3)
    assert [(r.line, r.reason) for r in report.refusals] == [
        (5, "It contradicts an earlier line. The earlier one is kept.")
    ]
    first, second = board.battles.exclude(winner="").order_by("sample__index")
    names = {"left": first.left.name, "right": first.right.name}
    assert (names[first.winner], first.sample.index, first.is_consistent) == ("sdxl", 4, True)
    assert (second.winner, second.judged.isoformat()) == ("tie", "2026-01-28T10:30:00+00:00")
    assert counts(board) == [(0, 1, 1, 2, 0)]
    assert board.dataset.modality == "image"
    assert recount(board) == 2

    board.refresh_from_db()
    before = (board.changes, board.battles.count(), Verdict.objects.count(), Contestant.objects.count(), counts(board))
    _board, report = take(tmp_path, board.dataset)
    assert (report.stored, report.completed, report.known, report.refused) == (0, 0, 6, 1), "imported twice"
    board.refresh_from_db()
    after = (board.changes, board.battles.count(), Verdict.objects.count(), Contestant.objects.count(), counts(board))
    assert after == before


@pytest.mark.databases
def test_an_audit_log_that_comes_later_opens_what_had_failed(tmp_path, take):
    failed = {0: (None, None), 2: ("A", None), 3: ("", "B")}
    ties = [slim("flux", "sdxl", index, "tie", consistent=False) for index in failed]
    pair(tmp_path / "slim", [*ties, slim("flux", "sdxl", 1, "flux")])
    told = [audit("flux", "sdxl", index, "tie", *letters) for index, letters in failed.items()]
    pair(tmp_path / "audit", [*told, audit("flux", "sdxl", 1, "flux", "A", "B")], folder=f"{FOLDER}/raw_outputs")
    board, first = take(tmp_path / "slim")
    assert counts(board) == [(1, 0, 3, 1, 3)], "a slim log alone cannot tell an outage"
    assert len(first.warnings) == 1

    _board, report = take(tmp_path / "audit", board.dataset)

    assert (report.completed, report.stored, report.opened) == (4, 0, 3)
    assert counts(board) == [(1, 0, 0, 1, 0)]
    for battle in board.battles.filter(winner=""):
        assert battle.is_consistent is None
        assert battle.open_reason.startswith("Judged elsewhere, unread: ")
    again = take(tmp_path / "slim", board.dataset)[1]
    assert (again.completed, counts(board), recount(board)) == (0, [(1, 0, 0, 1, 0)], 1)


def test_what_is_cut_off_or_odd_loses_nothing_but_itself(tmp_path, take):
    path = pair(tmp_path / "logs", [slim("flux", "sdxl", 0, "flux")])
    text = path.read_text()
    path.write_text(text + text.replace('"sample_index": 0', '"sample_index": 5')[:60])  # cut off in the middle
    with path.open("a") as file:
        file.write(text.replace('"sample_index": 0', '"sample_index": 1'))  # and the next one glued to it
        file.write(text[:40])
    (tmp_path / "logs" / FOLDER / "stray.jsonl").mkdir()
    (tmp_path / "v.json").write_text(json.dumps([vote("a", "b", "tie", number) for number in range(3)])[:-40])
    rows = ["model_a,model_b,winner,question_id", "a,b,tie,1", "a,b", 'a,b,"tie\nor not",2', "a,b,model_a,3"]
    (tmp_path / "v.csv").write_text("\ufeff" + "\n".join(rows))

    of_logs, report = take(tmp_path / "logs")
    _board, of_list = take(tmp_path / "v.json", called="A list")
    of_rows, of_table = take(tmp_path / "v.csv", called="A table")

    assert sorted(of_logs.battles.values_list("sample__index", flat=True)) == [0, 1]
    assert [(r.line, r.reason) for r in report.refusals] == [
        (2, "This is not a JSON object."),
        (3, "The last line is cut off."),
    ]
    assert (of_list.stored, of_list.refused) == (2, 1)
    assert "From here on this is not JSON" in of_list.refusals[0].reason
    assert (winners(of_rows), of_table.refused) == (["left", "tie"], 2)


def test_a_bad_line_is_refused_with_its_number_and_the_others_are_taken(tmp_path, take):
    bad = (
        ("[1, 2]", "not a JSON object"),
        ('{"model_a": "x"}', "not a battle"),
        (slim("flux", "flux", 0), "is compared with itself"),
        (slim("", "sdxl", 0), "model_a is missing"),
        (slim("flux", "x" * 201, 0), "longer than 200"),
        (slim("flux", "tie", 0), "cannot be distinguished from a tie"),
        (slim("flux", "sdxl", -1), "sample_index"),
        (slim("flux", "sdxl", True), "sample_index"),
        (slim("flux", "sdxl", 2**40), "sample_index"),
        (slim("flux", "sdxl", 0, "dalle"), "final_winner is “dalle”"),
        (slim("flux", "sdxl", 0, is_consistent="yes"), "is_consistent"),
        (slim("flux", "sdxl", 0, timestamp="yesterday"), "is not a time"),
        ("[" * 100_000, "not a JSON object"),
        ('{"model_a": NaN}', "not a JSON object"),
        ('{"n": ' + "9" * 5000 + "}", "not a JSON object"),
        *((vote("a", "b", winner), "winner is") for winner in ("model_c", "", None, 1, "tie?")),
    )
    for number, (line, reason) in enumerate(bad):
        write(tmp_path / "log.jsonl", [slim("flux", "sdxl", 0, "flux"), line, slim("flux", "sdxl", 1, "flux")])
        board, report = take(tmp_path / "log.jsonl", called=f"Log {number}")
        assert (board.battles.count(), report.refused, report.refusals[0].line) == (2, 1, 2), reason
        assert reason in report.refusals[0].reason


def test_who_joined_when_and_stands_left_does_not_depend_on_the_alphabet_and_snapshots_rate_nobody(
    tmp_path, take, uploaded
):
    root = tmp_path / "joined"
    pair(root, [slim("flux", "dalle", 0, "flux")], folder="pk_logs/GenArena_20260301", name="dalle_vs_flux")
    pair(root, [slim("flux", "sdxl", 0, "flux")], folder="pk_logs/zzz_20260105")
    told = '{"elo": {"flux": 1010.5, "sdxl": 989.5}, "ci_lower": {"flux": 1000}, "battle_count": 9}'
    (root / "pk_logs/GenArena_20260301/elo_snapshot.json").write_text(told)

    board, report = take(root)

    joined = dict(board.dataset.contestants.values_list("name", "version"))
    assert joined == {"flux": "zzz_20260105", "sdxl": "zzz_20260105", "dalle": "GenArena_20260301"}
    [snapshot] = report.snapshots
    assert (snapshot["name"], snapshot["is_milestone"], snapshot["battles"]) == ("GenArena_20260301", True, 9)
    assert dict(zip(snapshot["contestants"], snapshot["ratings"], strict=True)) == {"flux": 1010.5, "sdxl": 989.5}
    assert snapshot["lower"] == [1000, None]

    dataset = uploaded(names=("sdxl", "flux"))  # the one that sorts last has the smaller key
    root = tmp_path / "left"
    pair(root, [slim("flux", "sdxl", 0, "flux")])
    pair(root, [audit("flux", "sdxl", 0, "flux", "A", "B")], folder=f"{FOLDER}/raw_outputs")

    board, report = take(root, dataset)

    battle = board.battles.get()
    assert (report.stored, report.confirmed, report.duplicates) == (1, 1, 0), "the slim log confirms the audit log"
    assert (battle.left.name, battle.winner) == ("sdxl", "right")
    assert {v.order: v.winner for v in battle.verdicts.all()} == {"original": "right", "swapped": "right"}
    swapped = battle.verdicts.get(order="swapped")  # flux was shown first: GenArena's original call
    assert (swapped.raw, swapped.confidence, swapped.rationale) == ("The winner is A.", 0.75, "A is sharper")
    assert swapped.scores == {"score_a": 8, "score_b": 6}


def winners(board):
    return sorted(board.battles.values_list("winner", flat=True))


@pytest.mark.databases
def test_votes_become_battles_with_the_question_and_what_both_answered(tmp_path, take):
    conversations = {"conversation_a": talk("Why?", "Because."), "conversation_b": talk("Why?", "Who knows.")}
    rows = [
        vote("gpt", "llama", "model_a", **conversations),
        vote("llama", "gpt", "tie (bothbad)", judge="arena_user_9"),
        *[vote("gpt", "llama", "tie", question="q-abc")] * 2,
    ]

    board, report = take(write(tmp_path / "votes.jsonl", rows))

    assert (report.stored, report.refused, report.duplicates, report.outputs) == (3, 0, 1, 2)
    assert (board.judge, winners(board)) == ("people-elsewhere", ["both_bad", "left", "tie"])
    sample = board.dataset.samples.get(index=81)
    assert (sample.instruction, sample.language, sample.metadata) == ("Why?", "English", {"question_id": "81"})
    assert dict(Output.objects.values_list("contestant__name", "text")) == {"gpt": "Because.", "llama": "Who knows."}
    swapped = board.battles.get(winner="both_bad")
    assert (swapped.shown_left_first, swapped.is_consistent) == (False, None)  # llama was shown first, gpt stands left
    assert [json.loads(line)["final_winner"] for line in b"".join(slim_lines(board)).splitlines()] == ["gpt", "tie"]
    again = take(tmp_path / "votes.jsonl", board.dataset)[1]
    assert (again.stored, again.known) == (0, 4)
    assert not board.battles.filter(ballot__contains="arena_user").exists()


def test_the_columns_of_kaggle_and_of_newer_files_are_read(tmp_path, take):
    outcome = {"winner_model_a": "0", "winner_model_b": "1", "winner_tie": "0"}
    kaggle = {"id": "30192", "model_a": "gpt", "model_b": "llama", "prompt": '["Is it right?"]', **outcome}
    texts = {"response_a": '["Yes."]', "response_b": '["No."]'}
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    newer = {"id": "x7", "model_a": "gpt", "model_b": "llama", "winner": "both_bad", "conversation_a": parts}
    rows = [{**kaggle, **texts}, {**newer, "timestamp": "2025-06-01 10:00:00"}]

    board, report = take(write(tmp_path / "k.jsonl", rows))

    assert (report.refusals, winners(board)) == ([], ["both_bad", "right"])
    assert sorted(board.dataset.samples.values_list("instruction", flat=True)) == ["Hi", "Is it right?"]
    assert sorted(Output.objects.values_list("text", flat=True)) == ["No.", "Yes."]


def test_question_ids_find_the_samples_of_a_dataset_that_has_them(tmp_path, take, uploaded):
    dataset = uploaded(samples=2)
    dataset.samples.filter(index=1).update(metadata={"question_id": "q-17"})
    rows = [vote("a", "b", "tie", "q-17"), vote("a", "b", "tie", "q-18")]
    nameless = [vote("a", "b", "tie", None, conversation_a=talk("Why?", "So."), tstamp=n) for n in (1, 2)]

    board, report = take(write(tmp_path / "v.jsonl", rows), dataset)
    other, _report = take(write(tmp_path / "w.jsonl", nameless))

    assert board.battles.get().sample.index == 1
    assert "no sample q-18" in report.refusals[0].reason
    assert (other.dataset.samples.count(), other.battles.count()) == (1, 2), "a prompt is the same wherever it is asked"


@pytest.mark.system
def test_lists_and_tables_are_read_as_lines_are(tmp_path, take):
    rows = [vote("gpt", "llama", "model_b", question=number) for number in range(3)]
    (tmp_path / "votes.json").write_text(json.dumps(rows))
    (tmp_path / "votes.csv").write_text(table(rows))
    parquet(tmp_path / "votes.parquet", rows, question_id="BIGINT", turn="BIGINT", tstamp="DOUBLE")

    for form in ("json", "csv", "parquet"):
        board, report = take(tmp_path / f"votes.{form}", called=form)
        assert (report.read, report.stored, report.refusals) == (3, 3, [])
        assert winners(board) == ["right"] * 3
        assert [moment.year for moment in board.battles.values_list("judged", flat=True)] == [2023] * 3


def test_there_is_an_end_to_contestants_boards_of_judges_and_refusals_that_are_told(tmp_path, take, monkeypatch):
    rows = [vote("gpt", "llama", "model_a", judge=judge) for judge in ("gpt4_pair", ["claude", "pair-v2"], "expert_3")]
    more = [vote("gpt", "llama", "model_a", judge=f"judge-{number}-x") for number in range(22)]
    _board, report = take(write(tmp_path / "votes.jsonl", rows))
    named = take(tmp_path / "votes.jsonl", called="Another", judge="all of them")[1]
    many = take(write(tmp_path / "many.jsonl", more), called="Many")[1]
    assert [len(one.boards) for one in (report, named, many)] == [3, 1, 20]
    assert many.refused == 2
    _board, report = take(write(tmp_path / "log.jsonl", ["nonsense"] * 300), called="Nonsense")
    assert (report.refused, len(report.refusals)) == (300, 100)

    monkeypatch.setattr("experiments.workflows.battles.campaign.logs.placing.MOST_CONTESTANTS", 3)
    rows, before = [vote(f"model-{number}", "b", "tie") for number in range(5)], Contestant.objects.count()
    _board, report = take(write(tmp_path / "v.jsonl", rows), called="Votes")
    assert (Contestant.objects.count(), report.stored) == (before, 0)
    assert "more than 3 contestants" in report.refusals[0].reason


def test_only_owner_and_admins_import_into_a_dataset(tmp_path, take, uploaded, charlie, django_user_model):
    pair(tmp_path, [slim("flux", "sdxl", 2, "flux"), slim("flux", "sdxl", 3, "flux")])
    dataset = uploaded(samples=3, visibility="lab")
    admin = django_user_model.objects.create_user("root", role="admin")

    with pytest.raises(Forbidden):
        take(tmp_path, dataset, by=charlie)

    board, report = take(tmp_path, dataset, by=admin)
    assert (report.stored, board.battles.count(), report.contestants) == (1, 1, 2)
    assert "no sample 3" in report.refusals[0].reason


def test_a_line_without_an_end_and_a_damaged_member_are_refused_and_the_others_read(tmp_path, take, monkeypatch):
    monkeypatch.setattr("experiments.library.imports.files.LINE_BYTES", 1000)
    monkeypatch.setattr("experiments.library.imports.files.SKIPPED_AT_ONCE", 300)
    write(tmp_path / "log.jsonl", ["x" * 5000, slim("flux", "sdxl", 1, "flux")])

    _board, report = take(tmp_path / "log.jsonl")

    assert (report.stored, [refused.line for refused in report.refusals]) == (1, [1])
    assert "longer than" in report.refusals[0].reason
    allowance = Allowance(1 << 20)
    assert [line.number for line in lines(io.BytesIO(b"x" * 5000 + b"\n\nend"), allowance)] == [1, 3]
    assert allowance.read == 5005, "also what is skipped is read"

    pair(tmp_path / "arena", [slim("flux", "sdxl", 0, "flux")])
    path = tmp_path / "logs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{FOLDER}/a_vs_b.jsonl", json.dumps(slim("a", "b", 0, "a", note="DAMAGED HERE")))
        archive.writestr(f"{FOLDER}/flux_vs_sdxl.jsonl", json.dumps(slim("flux", "sdxl", 0, "flux")))
    path.write_bytes(path.read_bytes().replace(b"DAMAGED HERE", b"DAMAGED THER"))

    board, report = take(path, called="Damaged")

    assert board.battles.filter(left__name="flux").count() == 1
    assert "damaged" in report.refusals[0].reason


@pytest.mark.system
def test_a_parquet_file_is_read_by_the_limited_process_within_its_bounds_and_a_copy_from_a_zip_is_deleted(
    tmp_path, take, monkeypatch, settings
):
    texts = "repeat('a', 3000000) AS conversation_a, repeat('b', 3000000) AS conversation_b"
    query = f"SELECT 'x' AS model_a, 'y' AS model_b, 'tie' AS winner, {texts} FROM range(60)"
    duckdb.sql(f"COPY ({query}) TO '{tmp_path / 'bomb.parquet'}' (FORMAT parquet)")
    assert (tmp_path / "bomb.parquet").stat().st_size < 1 << 20

    _board, report = take(tmp_path / "bomb.parquet")

    assert (report.stored, report.refused) == (0, 60)
    assert "longer than 4 MiB" in report.refusals[0].reason
    (tmp_path / "v.parquet").write_bytes(b"PAR1nonsense")
    assert "This Parquet file cannot be read" in take(tmp_path / "v.parquet")[1].refusals[0].reason
    with zipfile.ZipFile(tmp_path / "logs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("votes/v.parquet", b"PAR1nonsense" + bytes(1 << 20))
    assert "This Parquet file cannot be read" in take(tmp_path / "logs.zip")[1].refusals[0].reason
    with monkeypatch.context() as patch:
        patch.setattr(process, "START", "import os; os.abort()")
        assert "ended unexpectedly" in take(tmp_path / "v.parquet")[1].refusals[0].reason
    assert not list(Path(settings.UPLOADS_DIR).rglob("*.parquet"))
    monkeypatch.setattr(importing, "UNPACKED", 0)
    with pytest.raises(TooLarge):
        take(tmp_path / "logs.zip")
    assert not list(Path(settings.UPLOADS_DIR).rglob("*.parquet"))


def test_a_list_is_read_in_pieces_of_any_size(monkeypatch):
    values = [{"model_a": "é", "n": [1, {"x": "]}"}]}, {"b": "猫" * 30}]
    written = json.dumps(values, ensure_ascii=False).encode()
    for size in (1, 7, 64):
        monkeypatch.setattr(files, "CHUNK", size)
        assert [row.content for row in files.json_list(io.BytesIO(written), Allowance(10**6))] == values, size


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
