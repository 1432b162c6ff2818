"""What the installed distribution does under Inspect, with mock models. `test_inspect.py` runs it."""

import json

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import SampleScore, Score

from arena_lab_inspect.ratings import ratings
from arena_lab_inspect.tasks import workflow
from experiments.workflows.base.judge import SENTIMENTS

SCORES = {"goal_deviation": 10, "cooperation": 0.5, "sentiment": dict.fromkeys(SENTIMENTS, 1)}


def mock(say, name="model"):
    """say: what it answers to the last message, or an error."""

    def answer(messages, tools, choice, config):
        said = say(messages[-1].text)
        if isinstance(said, Exception):
            raise said
        output = ModelOutput.from_content(f"mockllm/{name}", said)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)


def played(task, tmp_path, say=lambda asked: "Good morning.", roles=None, **options):
    about = {"model": mock(say), "model_roles": roles or {}, "display": "none", "log_dir": str(tmp_path)}
    [log] = eval(task, **about, **options)
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def ranked(asked):
    """Answers, and ranks the first one shown first."""
    return "Both.\n\nFINAL RANKING:\n1. Response A\n2. Response B" if "FINAL RANKING" in asked else f"Because {asked}"


def values(log):
    return {f"{one.name}/{name}": metric.value for one in log.results.scores for name, metric in one.metrics.items()}


def test_an_arena_is_a_task_whose_calls_inspect_logs(tmp_path):
    judge = mock(lambda asked: json.dumps(dict.fromkeys("AB", SCORES)))
    arguments = {"prompt": "Share seven panels.", "max_turns": 2, "filter": False}
    log = played("arena_lab_inspect/arena", tmp_path, roles={"judge": judge}, task_args=arguments)
    [sample] = log.samples

    assert [one.metadata["seat"] for one in sample.messages[1:]] == ["A", "B", "A", "B"]
    assert sample.metadata["arena_lab"]["end"]["reason"] == "max_turns"
    assert sum(event.event == "model" for event in sample.events) == 6  # four replies, two judgments
    assert values(log)["A.goal_deviation/mean"] == 10
    found = [event.data["type"] for event in sample.events if event.event == "info"]
    assert found.count("judge_evaluation_completed") == 2

    silent = mock(lambda asked: "I would rather not.")
    arguments["max_turns"] = 1
    [sample] = played("arena_lab_inspect/arena", tmp_path, roles={"judge": silent}, task_args=arguments).samples
    assert sample.scores["judged"].value == {}, "what a judge does not give is no score"
    assert "turn 1, A" in sample.scores["judged"].explanation


def test_a_council_rates_its_members(tmp_path):
    roles = {f"member-{number}": mock(ranked, f"m{number}") for number in (1, 2, 3)}
    questions = json.dumps([f"Question {number}?" for number in range(8)])
    log = played("arena_lab_inspect/council", tmp_path, ranked, roles, task_args={"question": questions, "members": 3})

    assert len(log.samples) == 8
    assert all(sample.messages[-1].metadata["seat"] == "chair" for sample in log.samples)
    assert log.samples[0].output.completion == log.samples[0].messages[-1].text
    rated = values(log)
    means = [value for name, value in rated.items() if name.startswith("by_rankings/mockllm/") and " " not in name]
    assert len(means) == 3
    assert sum(means) / len(means) == pytest.approx(1000)


def test_any_dataset_can_be_played_a_failed_call_is_data_and_a_debate_plays_to_its_summary(tmp_path):
    task = Task(dataset=MemoryDataset([Sample(input="Four-day week?")]), solver=workflow("council", members=2))
    broken = mock(lambda asked: RuntimeError("no luck"), "m1")
    [sample] = played(task, tmp_path, ranked, {"member-1": broken}, max_retries=0).samples
    said = sample.metadata["arena_lab"]
    assert {one["seat"] for one in said["messages"]} == {"member-2", "chair"}
    assert (said["end"]["failed"], sample.error) == (False, None)

    points = json.dumps({"new_perspectives": [{"id": "p1", "contents": "By the night."}], "counterpoints": []})
    log = played("arena_lab_inspect/debate", tmp_path, lambda asked: points, task_args={"prompt": "Share a telescope?"})
    seats = [one["seat"] for one in log.samples[0].metadata["arena_lab"]["messages"]]
    assert seats == ["refiner", "A", "B", "C", "summarizer"]


def test_ratings_are_those_of_the_platform():
    scores = [
        SampleScore(score=Score(value=1, metadata={"pairs": [("one", "two", won), ("two", "one", 1 - won)]}))
        for won in (1.0, 1.0, 0.0)
    ]
    found = ratings()(scores)

    assert found["one"] + found["two"] == pytest.approx(2000)
    assert found["one"] - found["two"] == pytest.approx(400 * 0.30103, abs=0.01)  # twice as many wins
    assert found["one low"] < found["one"] < found["one high"]
    assert ratings()([]) == {}
