"""The log that Inspect AI reads: its own package reads it, writes it, and reads it again."""

import json
import math

import pytest
from inspect_ai.log import (
    EvalLog,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
    write_eval_log,
)
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

from experiments import actions
from experiments.models import Message, Run
from experiments.reports.inspect_log import inspect_log, log_name
from tests.cases import each_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def log(with_totals, tmp_path):
    def read(run):
        path = tmp_path / log_name(run)
        path.write_bytes(inspect_log(with_totals(run)))
        return read_eval_log(str(path))

    return read


def test_inspect_reads_the_transcript(played, log):
    run = played()

    read = log(run)

    assert isinstance(read, EvalLog)
    assert (read.status, read.version) == ("success", 2)
    [sample] = read.samples
    assert [type(message) for message in sample.messages] == [ChatMessageAssistant, ChatMessageUser] * 2
    said = list(run.messages.all())
    assert [message.text for message in sample.messages] == [message.raw_text for message in said]
    assert [message.id for message in sample.messages] == [str(message.pk) for message in said]
    assert [(m.metadata["seat"], m.metadata["turn"]) for m in sample.messages] == [(m.seat, m.turn) for m in said]
    assert sample.messages[0].model == said[0].model
    assert sample.output.completion == said[2].raw_text
    assert sample.output.stop_reason == "stop"
    assert sample.epoch == 1


def test_it_says_what_was_tried(played, log):
    run = played(max_turns=1)

    spec = log(run).eval

    assert (spec.task, spec.run_id, spec.task_id) == ("arena_lab/arena", str(run.pk), str(run.experiment_id))
    assert spec.model == "sim/cooperative:first=0"
    assert {seat: role.model for seat, role in spec.model_roles.items()}["B"] == "sim/competitive:first=0"
    assert spec.task_args["prompt"] == run.experiment.config["prompt"]


def test_scores_and_tokens_are_those_of_the_record(played, log):
    run = played()

    read = log(run)

    scores = read.samples[0].scores
    for judgment in run.judgments.all():
        assert scores[f"{judgment.subject} turn {judgment.turn}"].value == judgment.scores
    by_seat = {score.name: score for score in read.results.scores}
    given = [judgment.scores["cooperation"] for judgment in run.judgments.filter(subject="A")]
    assert by_seat["A"].metrics["cooperation"].value == pytest.approx(sum(given) / len(given))
    spent = read.stats.model_usage["sim/cooperative:first=0"]
    assert spent.output_tokens == sum(run.calls.filter(step__seat="A").values_list("output_tokens", flat=True))


@each_case("manner", ["broken", "truncated", "missing", "range"])
def test_a_missing_score_is_left_out_with_its_reason(played, log, manner):
    run = played(judge_model=f"sim/judge:first=0:json={manner}")

    read = log(run)

    [sample] = read.samples
    unscored = sample.metadata["unscored"]
    for judgment in run.judgments.all():
        name = f"{judgment.subject} turn {judgment.turn}"
        assert (sample.scores[name].value if name in sample.scores else None) == judgment.scores
        if judgment.unscored_reason:
            assert unscored[name]["unscored_reason"] == judgment.unscored_reason
    values = [value for score in sample.scores.values() for value in score.value.values()]
    assert not any(math.isnan(value) for value in values)
    if not any(judgment.scores for judgment in run.judgments.all()):
        assert (sample.scores, read.results.scores) == ({}, [])


def test_unknown_usage_is_not_zero(played, log):
    run = played(max_turns=1)
    run.calls.update(input_tokens=None, output_tokens=None, cost=None)

    read = log(run)

    assert read.stats.model_usage == {}
    assert read.samples[0].output.usage is None


def test_reasoning_is_content_of_its_own(played, log):
    run = played(max_turns=1)
    Message.objects.filter(run=run, seat="A").update(reasoning="First I think.")

    first = log(run).samples[0].messages[0]

    assert [part.type for part in first.content] == ["reasoning", "text"]
    assert first.content[0].reasoning == "First I think."


def test_a_superseded_answer_is_not_part_of_the_talk(played, log):
    run = played(max_turns=1)
    Message.objects.filter(run=run, seat="A").update(superseded=True)

    [sample] = log(run).samples

    assert [message.metadata["seat"] for message in sample.messages] == ["B"]
    assert [row["seat"] for row in sample.metadata["superseded"]] == ["A"]


def test_of_a_run_without_a_word(arena, start, alice, log):
    run = start(arena())
    actions.stop(run, by=alice)

    read = log(run)

    assert (read.status, read.samples[0].messages) == ("cancelled", [])
    assert read.results.completed_samples == 0


def test_of_a_run_that_failed(played, log):
    read = log(played(a="sim/neutral:first=0:fail=404"))

    assert read.status == "error"
    assert read.error.message
    assert read.samples[0].error.message == read.error.message


def test_of_a_run_that_came_to_a_limit(played, log):
    read = log(played(limits={"tokens": 300}, max_turns=9))

    assert (read.samples[0].limit.type, read.samples[0].limit.limit) == ("token", 300)


def test_of_a_run_under_way(played, log):
    run = played(max_turns=1)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, ended=None)

    assert log(run).status == "started"


def test_what_inspect_writes_again_says_the_same(played, log, tmp_path):
    read = log(played())

    write_eval_log(read, str(tmp_path / "again.json"), format="json")
    write_eval_log(read, str(tmp_path / "again.eval"), format="eval")

    for name in ("again.json", "again.eval"):
        again = read_eval_log(str(tmp_path / name))
        assert again.samples[0].messages == read.samples[0].messages
        assert again.samples[0].scores == read.samples[0].scores
        assert again.results.scores == read.results.scores
        assert again.stats.model_usage == read.stats.model_usage


def test_the_other_readers_of_inspect_find_it_too(played, log, tmp_path):
    run = played(max_turns=1)
    log(run)

    [found] = list_eval_logs(str(tmp_path))
    header = read_eval_log(found, header_only=True)
    [summary] = read_eval_log_sample_summaries(found)
    sample = read_eval_log_sample(found, id=str(run.experiment_id), epoch=1)

    assert (header.status, header.samples) == ("success", None)
    assert summary.uuid == sample.uuid == str(run.pk)


def test_the_file_is_plain_json(played, with_totals):
    def refuse(name):
        raise AssertionError(name)

    assert json.loads(inspect_log(with_totals(played(max_turns=1))), parse_constant=refuse)["version"] == 2


def test_repetitions_are_epochs(arena, start, log, drive):
    experiment = arena(max_turns=1)
    first, second = start(experiment, seed=1), start(experiment, seed=2)
    drive()

    logs = [log(first), log(second)]

    assert [(read.samples[0].id, read.samples[0].epoch) for read in logs] == [
        (str(experiment.pk), 1),
        (str(experiment.pk), 2),
    ]
