"""Battle files as LMArena, MT-Bench and Kaggle publish them."""

import csv
import json

import duckdb
import pytest

from experiments.battles.logs.exporting import slim_lines
from experiments.models import Contestant, Output
from tests.cases import each_case
from tests.experiments.battles.logs_of_others import talk, vote, write

pytestmark = pytest.mark.django_db


def winners(board):
    return sorted(board.battles.values_list("winner", flat=True))


def test_votes_become_battles_with_the_question_and_what_both_answered(tmp_path, take):
    conversations = {"conversation_a": talk("Why?", "Because."), "conversation_b": talk("Why?", "Who knows.")}
    rows = [
        vote("gpt", "llama", "model_a", **conversations),
        vote("llama", "gpt", "tie (bothbad)", judge="arena_user_9"),
        vote("gpt", "llama", "tie", question="q-abc"),
    ]

    board, report = take(write(tmp_path / "votes.jsonl", rows))

    assert (report.stored, report.refused, report.outputs, winners(board)) == (3, 0, 2, ["both_bad", "left", "tie"])
    assert board.judge == "people-elsewhere"
    sample = board.dataset.samples.get(index=81)
    assert (sample.instruction, sample.category, sample.metadata) == ("Why?", "English", {"question_id": "81"})
    assert dict(Output.objects.values_list("contestant__name", "text")) == {"gpt": "Because.", "llama": "Who knows."}
    swapped = board.battles.get(winner="both_bad")
    assert (swapped.shown_left_first, swapped.is_consistent) == (False, None)  # llama was shown first, gpt stands left
    assert [json.loads(line)["final_winner"] for line in b"".join(slim_lines(board)).splitlines()] == ["gpt", "tie"]


@pytest.mark.databases
def test_votes_of_several_people_on_one_pair_count_each_and_once(tmp_path, take):
    rows = [vote("gpt", "llama", "model_a", judge=f"arena_user_{number}") for number in (1, 2, 2)]

    board, report = take(write(tmp_path / "votes.jsonl", rows))
    again = take(tmp_path / "votes.jsonl", board.dataset)[1]

    assert (board.battles.count(), report.duplicates) == (2, 1)
    assert (again.stored, again.known) == (0, 3)
    assert not board.battles.filter(ballot__contains="arena_user").exists()


def as_json(path, rows):
    path.write_text(json.dumps(rows))


def as_csv(path, rows):
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def as_parquet(path, rows):
    as_json(path.with_suffix(".rows.json"), rows)
    duckdb.sql(f"COPY (SELECT * FROM read_json('{path.with_suffix('.rows.json')}')) TO '{path}' (FORMAT parquet)")


FORMS = {"json": as_json, "csv": as_csv, "parquet": as_parquet}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.system
def test_lists_and_tables_are_read_as_lines_are(form, tmp_path, take):
    rows = [vote("gpt", "llama", "model_b", question=number) for number in range(3)]
    FORMS[form](tmp_path / f"votes.{form}", rows)

    board, report = take(tmp_path / f"votes.{form}")

    assert (report.read, report.stored, report.refusals) == (3, 3, [])
    assert winners(board) == ["right"] * 3
    assert [moment.year for moment in board.battles.values_list("judged", flat=True)] == [2023] * 3


def test_the_columns_of_kaggle_and_of_newer_files_are_read(tmp_path, take):
    outcome = {"winner_model_a": "0", "winner_model_b": "1", "winner_tie": "0"}
    kaggle = {"id": "30192", "model_a": "gpt", "model_b": "llama", "prompt": '["Is it right?"]', **outcome}
    texts = {"response_a": '["Yes."]', "response_b": '["No."]'}
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    newer = {"id": "x7", "model_a": "gpt", "model_b": "llama", "winner": "both_bad", "conversation_a": parts}

    board, report = take(
        write(tmp_path / "k.jsonl", [{**kaggle, **texts}, {**newer, "timestamp": "2025-06-01 10:00:00"}])
    )

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


@each_case("winner", ["model_c", "", None, 1, "tie?"])
def test_a_winner_that_is_none_is_refused(winner, tmp_path, take):
    _board, report = take(write(tmp_path / "v.jsonl", [vote("a", "b", winner)]))

    assert (report.stored, report.refused) == (0, 1)
    assert report.refusals[0].reason.startswith("winner is")


def test_a_list_that_breaks_off_keeps_what_came_before(tmp_path, take):
    text = json.dumps([vote("a", "b", "tie", number) for number in range(3)])
    (tmp_path / "v.json").write_text(text[:-40])

    _board, report = take(tmp_path / "v.json")

    assert (report.stored, report.refused) == (2, 1)
    assert "From here on this is no JSON" in report.refusals[0].reason


def test_a_table_with_odd_rows_keeps_the_others(tmp_path, take):
    rows = ["model_a,model_b,winner,question_id", "a,b,tie,1", "a,b", 'a,b,"tie\nor not",2', "a,b,model_a,3"]
    (tmp_path / "v.csv").write_text("\ufeff" + "\n".join(rows))

    board, report = take(tmp_path / "v.csv")

    assert (winners(board), report.refused) == (["left", "tie"], 2)


def test_there_is_an_end_to_contestants(tmp_path, take, monkeypatch):
    monkeypatch.setattr("experiments.battles.logs.placing.MOST_CONTESTANTS", 3)
    rows = [vote(f"model-{number}", "b", "tie") for number in range(5)]

    _board, report = take(write(tmp_path / "v.jsonl", rows))

    assert (Contestant.objects.count(), report.stored) == (0, 0)
    assert "more than 3 contestants" in report.refusals[0].reason


def test_each_judge_that_is_a_model_has_a_board_of_its_own_up_to_twenty(tmp_path, take):
    rows = [vote("gpt", "llama", "model_a", judge=judge) for judge in ("gpt4_pair", ["claude", "pair-v2"], "expert_3")]
    more = [vote("gpt", "llama", "model_a", judge=f"judge-{number}-x") for number in range(30)]

    _board, report = take(write(tmp_path / "votes.jsonl", rows))

    assert len(report.boards) == 3
    named = take(tmp_path / "votes.jsonl", called="Another", judge="all of them")[1]
    assert len(named.boards) == 1
    many = take(write(tmp_path / "many.jsonl", more), called="Many")[1]
    assert (len(many.boards), many.refused) == (20, 10)
