"""Logs that Inspect itself wrote: its agents, roles, solvers and models are speakers of their own, tools are kept."""

import json

import pytest
from inspect_ai import Task, eval
from inspect_ai.agent import AgentState, agent, as_tool, handoff, react, run
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, model_graded_qa
from inspect_ai.solver import chain, generate, solver, system_message
from inspect_ai.tool import tool

from experiments.library.imports import inspect
from experiments.library.imports.inspect_speakers import spoken
from experiments.runs.reports.importing import prepared

USER = "The log does not say who wrote messages of the role “user”: they are shown as the researcher’s."


def model(name, *said):
    """A model of Inspect's own that gives these answers: a text, or a tool with its arguments."""
    answers = []
    for one in said:
        slug = f"mockllm/{name}"
        made = ModelOutput.from_content(slug, one) if isinstance(one, str) else ModelOutput.for_tool_call(slug, *one)
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        answers.append(made)
    return get_model(f"mockllm/{name}", custom_outputs=answers, memoize=False)


@tool
def add():
    async def execute(x: int, y: int):
        """Add two numbers.

        Args:
            x: The first.
            y: The second.
        """
        return x + y

    return execute


@agent
def planner():
    async def execute(state: AgentState):
        """Makes a plan."""
        state.output = await model("planner", "Add the numbers.").generate(state.messages)
        state.messages.append(state.output.message)
        return state

    return execute


@agent
def worker():
    async def execute(state: AgentState):
        """Does the work."""
        answers = model("worker", ("add", {"x": 1, "y": 2}), "The sum is 3.")
        messages, state.output = await answers.generate_loop(state.messages, tools=[add()])
        state.messages.extend(messages)
        return state

    return execute


@solver
def team():
    async def solve(state, _generate):
        for one in (planner(), worker()):
            done = await run(one, state.messages)
            state.messages, state.output = done.messages, done.output
        return state

    return solve


@solver
def reviewed():
    async def solve(state, generate):
        state = await generate(state)
        answer = await get_model(role="critic").generate(state.messages)
        state.messages.append(answer.message)
        return state

    return solve


@pytest.fixture
def played(tmp_path):
    """Gives the log, without its samples, and the one sample of a task that Inspect has played."""

    def play(plan, answers=("4",), scorer=None, **how):
        task = Task(dataset=[Sample(input="What is 1 + 2?", target="3")], solver=plan, scorer=scorer or includes())
        quiet = {"log_dir": str(tmp_path), "log_format": "json", "display": "none", "ctl_server": False}
        [log] = eval(task, model("model", *answers), **quiet, **how)
        assert log.status == "success", log.error
        written = json.loads((tmp_path / log.location.rpartition("/")[2]).read_text())
        [sample] = written.pop("samples")
        return written, sample

    return play


def lines(document):
    return [(one["seat"], one.get("model", ""), one["text"]) for one in document["messages"]]


def test_agents_are_speakers_with_their_models_and_tools_stand_between(played):
    taken = inspect.read(*played(team()))

    assert lines(taken.document) == [
        ("researcher", "", "What is 1 + 2?"),
        ("planner", "mockllm/planner", "Add the numbers."),
        ("worker", "mockllm/worker", "tool call for tool add"),
        ("tool", "", "3"),
        ("worker", "mockllm/worker", "The sum is 3."),
    ]
    assert [one["finish_reason"] for one in taken.document["messages"] if one["seat"] == "worker"] == [
        "tool_calls", "stop",
    ]  # fmt: skip
    [judgment] = taken.document["judgments"]
    assert (judgment["subject"], judgment["scores"]) == ("worker", {"includes": 1.0})
    assert taken.notes == ("Speakers told from the log’s events: planner, worker.", USER)
    calls = [one["tool_calls"] for one in taken.kept["messages"] if "tool_calls" in one]
    assert [(call["function"], call["arguments"]) for [call] in calls] == [("add", {"x": 1, "y": 2})]
    assert prepared(taken.document)


def lead(tool_, *answers):
    return react(name="lead", tools=[tool_], model=model("lead", *answers, ("submit", {"answer": "3"})))


def test_what_an_agent_said_behind_a_tool_is_read_from_the_events_and_what_is_handed_off_is_said_once(played):
    header, sample = played(lead(as_tool(worker()), ("worker", {"input": "1 + 2"})))
    behind = inspect.read(header, sample)
    handed = inspect.read(*played(lead(handoff(worker()), ("transfer_to_worker", {}))))

    assert "The sum is 3." not in [one["content"] for one in sample["messages"] if one["role"] == "assistant"]
    assert [(seat, words) for seat, _model, words in lines(behind.document)] == [
        *(("researcher", "What is 1 + 2?"), ("lead", "tool call for tool worker"), ("researcher", "1 + 2")),
        *(("worker", "tool call for tool add"), ("tool", "3"), ("worker", "The sum is 3.")),
        *(("tool", "The sum is 3."), ("lead", "tool call for tool submit"), ("tool", "3")),
    ]
    assert behind.document["experiment"]["config"]["context"].strip().startswith("You are a helpful assistant")
    said = [(seat, words) for seat, _model, words in lines(handed.document)]
    assert said[:7] == [
        *(("researcher", "What is 1 + 2?"), ("lead", "tool call for tool transfer_to_worker")),
        ("tool", "Successfully transferred to worker."),
        *(("worker", "tool call for tool add"), ("tool", "3"), ("worker", "The sum is 3.")),
        ("researcher", "The worker agent has completed its work."),
    ]
    assert [seat for seat, _words in said].count("worker") == 2


def test_roles_are_speakers_models_that_grade_are_not_and_one_speaker_is_read_as_before(played):
    grader, critic = model("grader", "GRADE: C"), model("critic", "Wrong: it is 3.")

    taken = inspect.read(*played(reviewed(), scorer=model_graded_qa(model=grader), model_roles={"critic": critic}))
    alone = inspect.read(*played(chain(system_message("Be brief."), generate())))

    assert lines(taken.document)[1:] == [
        ("model", "mockllm/model", "4"),
        ("critic", "mockllm/critic", "Wrong: it is 3."),
    ]
    assert lines(alone.document) == [("researcher", "", "What is 1 + 2?"), ("model", "mockllm/model", "4")]
    assert (alone.notes, alone.document["messages"][-1]["finish_reason"]) == ((), "stop")


def test_what_a_log_does_not_tell_is_said_and_no_agent_has_the_name_of_a_tool():
    answer = {"role": "assistant", "content": "Yes."}
    spans = [{"event": "span_begin", "id": name, "type": "agent", "name": name, "parent_id": None} for name in "ab"]
    calls = [
        {"event": "model", "span_id": name, "model": "m", "output": {"choices": [{"message": {**answer, "id": name}}]}}
        for name in "ab"
    ]
    failed = {"event": "model", "span_id": "a", "model": "m", "error": "timeout", "output": {"choices": []}}
    alien = {**answer, "id": "elsewhere"}

    found = spoken({"messages": [alien], "events": [*spans, *calls, failed]})

    assert [(one.seat, one.message["id"]) for one in found.lines] == [("a", "a"), ("b", "b"), ("model", "elsewhere")]
    assert found.notes[1:] == [
        USER,
        "Answers that no event of the log made are shown as those of “model”.",
        "Calls of models without an answer were left out: 1.",
    ]

    def call(number, name):
        message = {"role": "assistant", "content": "Yes.", "id": str(number)}
        return [
            {"event": "span_begin", "id": f"s{number}", "type": "agent", "name": name},
            {"event": "model", "span_id": f"s{number}", "output": {"choices": [{"message": message}]}},
        ]

    events = [event for number, name in enumerate(("tool", "a b", "a/b", "…")) for event in call(number, name)]
    assert spoken({"messages": [], "events": events}).speakers == ["tool-agent", "a-b", "a-b-2", "model"]
