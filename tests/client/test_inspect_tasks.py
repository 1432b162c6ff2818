"""The command `arena-inspect`: an Inspect task is played on the platform, one run for each sample."""

import pytest

from arena_lab_inspect.command import main
from experiments.models import Run
from tests.client.conftest import IN_PROCESS

pytestmark = pytest.mark.system  # Inspect takes many seconds to be imported

TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

@task
def planets(answer: str = "Mars"):
    asked = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content="Name a planet.")]
    choices = Sample(input="Which is red?", choices=["Venus", answer], id="red")
    return Task(dataset=[Sample(input=asked, id="any"), choices], name="planets")

@task
def talks():
    return Task(dataset=[Sample(input=[ChatMessageUser(content="Hi."), ChatMessageAssistant(content="Hi.")])])
"""


@pytest.fixture
def play(arena, token, tmp_path, capsys):
    """Runs the command; its exit status and what it printed."""
    file = tmp_path / "tasks.py"
    file.write_text(TASK)

    def run(name, *arguments):
        status = main([f"{file}@{name}", "--url", IN_PROCESS, "--token", token, *arguments])
        return status, capsys.readouterr()

    return run


def test_each_sample_becomes_a_run(play):
    status, said = play("planets", "--model", "model=sim/cooperative", "-T", "answer=Mars!")

    assert status == 0
    runs = [Run.objects.get(pk=line.split("\t")[0]) for line in said.out.splitlines()]
    assert [run.experiment.title for run in runs] == ["planets: any", "planets: red"]
    assert runs[0].config["context"] == "Be brief."
    assert runs[0].config["first_message"] == "Name a planet."
    assert runs[1].config["first_message"] == "Which is red?\n\nA) Venus\nB) Mars!"


def test_a_sample_that_cannot_be_played_stops_all_before_anything_starts(play):
    status, said = play("talks", "--model", "model=sim/cooperative")

    assert status == 2
    assert "begins with one message" in said.err
    assert not Run.objects.exists()


def test_a_task_without_a_model_asks_for_one(play):
    with pytest.raises(SystemExit, match="names no model"):
        play("planets")
