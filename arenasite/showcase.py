"""What is there at the start of the demonstration: one run of each workflow (showcase.toml), and a queue of reviews."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from accounts.models import User
from experiments.library.builtin import builtin_scenarios
from experiments.library.datasets import demonstration
from experiments.library.demonstrations import replay_demonstration
from experiments.models import Experiment, ReviewQueue, ReviewRubric, Run
from experiments.review import queues, rubrics
from experiments.runs import actions

QUEUE = "Who keeps to the offer?"
NEGOTIATION = "resource-negotiation"
REVIEWERS = (User.Role.RESEARCHER, User.Role.REVIEWER, User.Role.ADMIN)
INSTRUCTIONS = """\
Read each message as its author meant it for the other side, and score it **before** you look at what the judge gave.

* Cooperation is about deeds: an offer that costs something counts more than kind words.
* Say "cannot say" where the message has nothing to do with a scale.
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """An experiment of the demonstration's researcher, the same one at every start. models: by their seats."""

    workflow: str
    title: str
    config: dict[str, object]
    models: dict[str, str]

    def start(self) -> Run | None:
        """One run, unless one of an earlier start goes on, or waits for somebody. A campaign is begun once: when all
        battles are fought there is nothing to play again.
        """
        owner = _researcher()
        if "dataset" in self.config:
            demonstration.make_text(owner)
            demonstration.make_images(owner)
        experiment = Experiment.objects.filter(owner=owner, title=self.title, workflow=self.workflow).first()
        if experiment is None:
            cast = {seat: {"model": f"sim/{model}"} for seat, model in self.models.items()}
            experiment = actions.create(
                owner=owner, workflow=self.workflow, title=self.title, config=self.config, cast=cast
            )
        if experiment.runs.live().exists() or hasattr(experiment, "campaign"):
            return None
        return actions.start(experiment, by=owner)[0]


SCENES = {
    workflow: Scene(workflow=workflow, **scene)
    for workflow, scene in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}


def start_all() -> list[Run]:
    """One run of each scene that none is under way of, in the order of the navigation."""
    return [run for scene in SCENES.values() if (run := scene.start())]


def prepare_review() -> ReviewQueue | None:
    """A queue in which people review what two models said in a demonstrated negotiation; None when an earlier start has
    made it.
    """
    owner = _researcher()
    if ReviewQueue.objects.filter(owner=owner, name=QUEUE).exists():
        return None
    run, _is_new = replay_demonstration(builtin_scenarios()[NEGOTIATION], by=owner)
    rubric = ReviewRubric.objects.get(family=rubrics.family_of("turn"), version=rubrics.builtin()["turn"].version)
    return queues.make(
        by=owner,
        name=QUEUE,
        rubric=rubric,
        filters={"experiment": str(run.experiment_id)},
        overlap=2,
        instructions=INSTRUCTIONS,
        members=[role.value for role in REVIEWERS],
    )


def _researcher() -> User:
    return User.objects.get(username=User.Role.RESEARCHER.value)
