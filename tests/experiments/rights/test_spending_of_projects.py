"""What a project pays for is begun by its leads and members alone, and in one that is archived nothing begins."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from accounts.models import Membership, Project, User
from experiments import actions
from experiments.battles import campaigns
from experiments.models import Campaign, Dataset, Experiment, Run, Sample, Step
from experiments.refusals import SpendingRefused
from experiments.steering import branching, furthering, steering
from tests.experiments.campaigns.conftest import join
from tests.experiments.rights.people import lab_of
from tests.fixtures import add_model, signed_in

PAUSE = {"key": "turn/9/A", "kind": "listen", "data": {"default": "", "actions": ["send"], "error": ""}}


@dataclass(frozen=True)
class Verb:
    """act: what is done to a run; took_effect: what is then true of it; on: which experiment, in which state."""

    act: Callable[[Run, User], Any]
    took_effect: Callable[[Run], bool]
    on: str = "arena"
    state: dict[str, Any] = field(default_factory=dict)


def is_queued(run: Run) -> bool:
    return run.state == "queued" and not run.is_held


def is_running(run: Run) -> bool:
    return Campaign.objects.filter(experiment=run.experiment_id, state="running").exists()


def has_child(run: Run) -> bool:
    return Run.objects.filter(parent=run, state="queued").count() == 1


WAITING = {"state": "waiting"}
HELD = WAITING | {"is_held": True}
SPENDING = {
    "start": Verb(
        lambda run, by: actions.start(run.experiment, by=by),
        lambda run: run.experiment.runs.filter(state="queued").count() == 1,
    ),
    "resume": Verb(lambda run, by: actions.resume(run, by=by), is_queued, state=HELD),
    "release": Verb(lambda run, by: steering.release(run, by=by), is_queued, state=HELD),
    "say": Verb(
        lambda run, by: steering.say(run, by=by, key=PAUSE["key"], action="send", text="Go on."),
        lambda run: is_queued(run) and run.steps.get(key=PAUSE["key"]).data["text"] == "Go on.",
        state=WAITING,
    ),
    "automatic": Verb(
        lambda run, by: steering.set_mode(run, by=by, mode="automatic"),
        lambda run: run.mode == "automatic",
        state=WAITING | {"mode": "manual"},
    ),
    "extend": Verb(
        lambda run, by: steering.extend(run, by=by, max_turns=9),
        lambda run: run.overrides.get("max_turns") == 9,
        state=WAITING,
    ),
    "ask": Verb(
        lambda run, by: furthering.ask_further(run, by=by, text="And why?"),
        lambda run: [step.data["text"] for step in run.steps.filter(kind="offer")] == ["And why?"],
        on="council",
    ),
    "lift": Verb(
        lambda run, by: furthering.lift(run, by=by, limits={"cost": 5}),
        lambda run: is_queued(run) and run.overrides["limits"]["cost"] == 5,
        state={"state": "stopped", "stop_reason": "limit_cost"},
    ),
    "branch": Verb(lambda run, by: branching.branch(run.messages.first(), by=by), has_child),
    "judge": Verb(lambda run, by: branching.judge_again(run, by=by), has_child),
    "campaign": Verb(lambda run, by: campaigns.start(run.experiment, by=by), is_running, on="battles"),
    "campaign resumed": Verb(lambda run, by: campaigns.resume(run.experiment, by=by), is_running, on="stopped battles"),
}


@pytest.fixture
def lab(alice):
    return lab_of(alice)


@pytest.fixture
def runs(lab, played, start, council):
    """One run of each experiment that a verb needs, all of the project."""
    made = {"arena": played(max_turns=1), "council": start(council())}
    for name in ("battles", "stopped battles"):
        made[name] = Run.objects.create(experiment=battles(lab.people["owner"], name.replace(" ", "-")), seed=1)
    Campaign.objects.create(experiment=made["stopped battles"].experiment, state="stopped")
    Run.objects.filter(experiment__campaign__isnull=False).update(state="completed")
    made["arena"].steps.create(state=Step.State.OPEN, purpose="your_turn", seat="A", **PAUSE)
    Experiment.objects.update(project=lab.project, visibility="project")
    return made


def battles(owner, slug):
    dataset = Dataset.objects.create(owner=owner, name=slug, slug=slug, state=Dataset.State.READY)
    Sample.objects.create(dataset=dataset, index=0, instruction="Describe a tree.")
    for name in ("ash", "birch"):
        join(dataset, name)
    cast = {"judge": {"model": add_model("sim/judge:tps=0:first=0").slug}}
    config = {"dataset": slug, "prompt": "text_quality"}
    return actions.create(owner=owner, workflow="battles", config=config, cast=cast)


def run_for(verb, runs):
    """The run in the state in which the verb does something, as it is now."""
    rows = Run.objects.filter(pk=runs[verb.on].pk)
    rows.update(**verb.state)
    return rows.select_related("experiment__project").get()


def archive(lab):
    Project.objects.filter(pk=lab.project.pk).update(archived=True)


def let_go(lab):
    Membership.objects.filter(project=lab.project, user=lab.people["owner"]).delete()


def let_watch(lab):
    Membership.objects.filter(project=lab.project, user=lab.people["owner"]).update(role="watcher")


@pytest.mark.parametrize("name", SPENDING)
def test_who_belongs_to_the_project_spends(lab, runs, name):
    verb = SPENDING[name]
    assert not verb.took_effect(run_for(verb, runs))

    verb.act(run_for(verb, runs), lab.people["owner"])

    assert verb.took_effect(Run.objects.get(pk=runs[verb.on].pk))


@pytest.mark.parametrize("change", [archive, let_go, let_watch])
def test_nothing_more_is_spent(lab, runs, change, subtests):
    def everything():
        return [list(model.objects.order_by("pk").values()) for model in (Run, Step, Campaign)]

    change(lab)
    for who in ("owner", "lead") if change is archive else ("owner",):
        for name, verb in SPENDING.items():
            run = run_for(verb, runs)
            before = everything()
            with subtests.test(f"{name} by the {who}"), pytest.raises(SpendingRefused):
                verb.act(run, lab.people[who])
            assert everything() == before


def test_it_is_said_in_plain_words_and_stopping_is_left(lab, runs):
    let_go(lab)
    browser, run = signed_in(lab.people["owner"]), runs["arena"]

    told = browser.post(f"/api/experiments/{run.experiment_id}/start/", {}, content_type="application/json")
    assert (told.status_code, "Its project would pay" in told.content.decode()) == (403, True)
    page = browser.post(f"/experiments/{run.experiment_id}/start/", {"repeats": 1, "seed": 3, "token": "t" * 22})
    assert (page.status_code, "Its project would pay" in page.content.decode()) == (403, True)

    Run.objects.filter(pk=run.pk).update(state="queued")
    assert actions.stop(Run.objects.get(pk=run.pk), by=lab.people["owner"])
