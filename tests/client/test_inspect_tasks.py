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


def test_each_sample_becomes_a_run_but_none_where_one_cannot_be_played_or_no_model_is_named(token, tmp_path, capsys):
    file = tmp_path / "tasks.py"
    file.write_text(TASK)

    def play(name, *arguments):
        status = main([f"{file}@{name}", "--url", IN_PROCESS, "--token", token, *arguments])
        return status, capsys.readouterr()

    with pytest.raises(SystemExit, match="names no model"):
        play("planets")
    status, said = play("talks", "--model", "model=sim/cooperative")
    assert (status, "begins with one message" in said.err) == (2, True)
    assert not Run.objects.exists()

    status, said = play("planets", "--model", "model=sim/cooperative", "-T", "answer=Mars!")
    assert status == 0
    runs = [Run.objects.get(pk=line.split("\t")[0]) for line in said.out.splitlines()]
    assert [run.experiment.title for run in runs] == ["planets: any", "planets: red"]
    assert [run.config["first_message"] for run in runs] == ["Name a planet.", "Which is red?\n\nA) Venus\nB) Mars!"]
    assert runs[0].config["context"] == "Be brief."
