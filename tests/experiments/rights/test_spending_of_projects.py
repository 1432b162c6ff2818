"""What a project pays for is begun by its leads and members alone, and in one that is archived nothing begins."""

import pytest

from accounts.errors import Forbidden
from accounts.models import Membership, Project
from experiments.models import Campaign, Dataset, Experiment, Run, Sample, Step
from experiments.runs import actions
from experiments.runs.steering import branching, steering
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.judging import services as judging
from tests.cases import each_case
from tests.experiments.campaigns.conftest import join
from tests.experiments.rights.people import lab_of
from tests.fixtures import add_model, signed_in

PAUSE = {"key": "turn/9/A", "kind": "listen", "data": {"default": "", "actions": ["send"], "error": ""}}
WAITING = {"state": "waiting"}
HELD, MANUAL = WAITING | {"is_held": True}, WAITING | {"mode": "manual"}
STOPPED = {"state": "stopped", "stop_reason": "limit_cost"}
SPENDING = {  # what is done to a run; of which experiment, and in which state
    "start": (lambda run, by: actions.start(run.experiment, by=by), "arena", {}),
    "resume": (lambda run, by: actions.resume(run, by=by), "arena", HELD),
    "release": (lambda run, by: steering.release(run, by=by), "arena", HELD),
    "say": (lambda run, by: steering.say(run, by=by, key=PAUSE["key"], action="send", text="Go."), "arena", WAITING),
    "automatic": (lambda run, by: steering.set_mode(run, by=by, mode="automatic"), "arena", MANUAL),
    "extend": (lambda run, by: steering.extend(run, by=by, max_turns=9), "arena", WAITING),
    "ask": (lambda run, by: steering.ask_further(run, by=by, text="And why?"), "council", {}),
    "lift": (lambda run, by: steering.lift(run, by=by, limits={"cost": 5}), "arena", STOPPED),
    "branch": (lambda run, by: branching.branch(run.messages.first(), by=by), "arena", {}),
    "judge": (lambda run, by: judging.judge_again(run, by=by), "arena", {}),
    "campaign": (lambda run, by: campaigns.start(run.experiment, by=by), "battles", {}),
    "campaign resumed": (lambda run, by: campaigns.resume(run.experiment, by=by), "stopped battles", {}),
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


def everything():
    return [list(model.objects.order_by("pk").values()) for model in (Run, Step, Campaign)]


@each_case("name", SPENDING)
def test_its_leads_and_members_spend_and_not_who_left_or_watches_and_nobody_once_it_is_archived(lab, runs, name):
    (act, on, state), owner = SPENDING[name], lab.people["owner"]

    def run():
        """In the state in which the verb does something, as it is now."""
        rows = Run.objects.filter(pk=runs[on].pk)
        rows.update(**state)
        return rows.select_related("experiment__project").get()

    run()
    before, project = everything(), Project.objects.filter(pk=lab.project.pk)
    place = Membership.objects.filter(project=lab.project, user=owner)

    def is_refused(*people):
        for person in people:
            with pytest.raises(Forbidden):
                act(run(), person)
            assert everything() == before

    project.update(archived=True)
    is_refused(owner, lab.people["lead"])
    project.update(archived=False)
    place.update(role="watcher")
    is_refused(owner)
    place.delete()
    is_refused(owner)
    Membership.objects.create(project=lab.project, user=owner, role="member")
    act(run(), owner)
    assert everything() != before


def test_it_is_said_in_plain_words_and_stopping_is_left(lab, runs):
    Membership.objects.filter(project=lab.project, user=lab.people["owner"]).delete()
    browser, run = signed_in(lab.people["owner"]), runs["arena"]

    told = browser.post(f"/api/experiments/{run.experiment_id}/start/", {}, content_type="application/json")
    assert (told.status_code, "Its project would pay" in told.content.decode()) == (403, True)
    page = browser.post(f"/experiments/{run.experiment_id}/start/", {"repeats": 1, "seed": 3, "token": "t" * 22})
    assert (page.status_code, "Its project would pay" in page.content.decode()) == (403, True)

    Run.objects.filter(pk=run.pk).update(state="queued")
    assert actions.stop(Run.objects.get(pk=run.pk), by=lab.people["owner"])
