"""The log that Inspect AI reads: its own package reads it, writes it, and reads it again."""

import pytest
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

from experiments.models import Message, Run
from experiments.runs.reports.inspect_log import inspect_log, log_name
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_VOTE, votes_of
from tests.experiments.reports.deliberations import council, debate
from tests.making import maker

pytestmark = pytest.mark.django_db


@maker
def log(with_totals, tmp_path, /, run):
    path = tmp_path / log_name(run)
    path.write_bytes(inspect_log(with_totals(run)))
    return read_eval_log(str(path))


def test_inspect_reads_the_transcript_what_was_tried_and_its_scores_and_writes_the_same_again(played, log, tmp_path):
    run = played()

    read = log(run)

    assert isinstance(read, EvalLog)
    assert (read.status, read.version) == ("success", 2)
    [sample] = read.samples
    assert [type(message) for message in sample.messages] == [ChatMessageAssistant, ChatMessageUser] * 2
    said = list(run.messages.all())
    assert [message.text for message in sample.messages] == [message.raw_text for message in said]
    for judgment in run.judgments.all():
        assert sample.scores[f"{judgment.subject} turn {judgment.turn}"].value == judgment.scores

    for kind in ("json", "eval"):
        path = str(tmp_path / f"again.{kind}")
        write_eval_log(read, path, format=kind)
        again = read_eval_log(path)
        assert again.samples[0].messages == sample.messages
        assert again.samples[0].scores == sample.scores
        assert again.results.scores == read.results.scores
        assert again.stats.model_usage == read.stats.model_usage


def test_what_is_special_about_a_run_under_way_is_told(played, log):
    run = played(max_turns=1)
    run.calls.update(input_tokens=None, output_tokens=None, cost=None)
    Message.objects.filter(run=run, seat="A").update(reasoning="First I think.")
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, ended=None)

    read = log(run)

    assert read.status == "started"
    assert (read.stats.model_usage, read.samples[0].output.usage) == ({}, None), "unknown is not zero"
    first = read.samples[0].messages[0]
    assert [part.type for part in first.content] == ["reasoning", "text"]
    assert first.content[0].reasoning == "First I think."

    Message.objects.filter(run=run, seat="A").update(superseded=True)
    [sample] = log(run).samples
    assert [message.metadata["seat"] for message in sample.messages] == ["B"]
    assert [row["seat"] for row in sample.metadata["superseded"]] == ["A"]


@pytest.mark.parametrize("make", [council, debate])
def test_inspect_reads_a_deliberation(alice, log, make):
    run = make(alice).run

    read = log(run)

    [sample] = read.samples
    assert (read.status, read.eval.task) == ("success", f"arena_lab/{make.__name__}")
    kinds = {message.metadata["seat"]: type(message) for message in sample.messages}
    assert kinds.pop("person") is ChatMessageUser
    assert set(kinds.values()) == {ChatMessageAssistant}
    assert len(sample.metadata["ballots"]) == run.ballots.count()


def test_inspect_reads_every_vote_of_a_contest_and_the_shares_of_tests(alice, log):
    made = contest_rows.contest(alice, 1)
    made.cycle(votes_of((1, 2)), passed={4: 3})

    [sample] = log(made.run).samples

    assert sample.scores["coder-1 turn 1 by coder-2"].value["overall"] > 0
    assert "coder-1 turn 2 by coder-2" not in sample.scores
    assert sample.metadata["unscored"]["coder-1 turn 2 by coder-2"]["unscored_reason"] == NO_VOTE
    assert sample.scores["tests turn 2"].value["coder-4"] == 0.3
    assert len(sample.metadata["cycles"]) == 2


def test_of_a_run_that_failed_and_one_that_came_to_a_limit(played, log):
    failed = log(played(a="sim/neutral:first=0:fail=404"))
    limited = log(played(limits={"tokens": 300}, max_turns=9))

    assert failed.status == "error"
    assert failed.error.message
    assert failed.samples[0].error.message == failed.error.message
    assert (limited.samples[0].limit.type, limited.samples[0].limit.limit) == ("token", 300)


def test_repetitions_are_epochs(arena, start, log, drive):
    experiment = arena(max_turns=1)
    first, second = start(experiment, seed=1), start(experiment, seed=2)
    drive()

    samples = [log(run).samples[0] for run in (first, second)]

    assert [(sample.id, sample.epoch) for sample in samples] == [(str(experiment.pk), epoch) for epoch in (1, 2)]
