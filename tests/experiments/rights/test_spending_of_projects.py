"""What a project pays for is begun by its leads and members alone, and in one that is archived nothing begins."""

import pytest

from accounts.models import Membership, Project
from experiments import actions
from experiments.battles import campaigns
from experiments.models import Experiment, Run
from experiments.refusals import NotAllowed
from experiments.steering import branching, furthering, steering
from tests.experiments.rights.people import lab_of
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db

SPENDING = {
    "start": lambda run, by: actions.start(run.experiment, by=by),
    "resume": lambda run, by: actions.resume(run, by=by),
    "release": lambda run, by: steering.release(run, by=by),
    "say": lambda run, by: steering.say(run, by=by, key="turn/1/A", action="send", text="Go on."),
    "automatic": lambda run, by: steering.set_mode(run, by=by, mode="automatic"),
    "extend": lambda run, by: steering.extend(run, by=by, max_turns=9),
    "ask": lambda run, by: furthering.ask_further(run, by=by, text="And why?"),
    "lift": lambda run, by: furthering.lift(run, by=by, limits={"cost": 5}),
    "branch": lambda run, by: branching.branch(run.messages.first(), by=by),
    "judge": lambda run, by: branching.judge_again(run, by=by),
    "campaign": lambda run, by: campaigns.start(run.experiment, by=by),
    "campaign resumed": lambda run, by: campaigns.resume(run.experiment, by=by),
}


@pytest.fixture
def lab(alice):
    return lab_of(alice)


@pytest.fixture
def run(lab, played):
    made = played(max_turns=1)
    Experiment.objects.filter(pk=made.experiment_id).update(project=lab.project, visibility="project")
    return Run.objects.select_related("experiment__project").get(pk=made.pk)


def archive(lab):
    Project.objects.filter(pk=lab.project.pk).update(archived=True)


def let_go(lab):
    Membership.objects.filter(project=lab.project, user=lab.people["owner"]).delete()


def let_watch(lab):
    Membership.objects.filter(project=lab.project, user=lab.people["owner"]).update(role="watcher")


def is_refused(verb, run, by):
    """Whether its project is the reason. Other refusals are other tests' matter."""
    try:
        SPENDING[verb](Run.objects.get(pk=run.pk), by)
    except NotAllowed as refusal:
        return "project" in str(refusal)
    except Exception:
        return False
    return False


@pytest.mark.parametrize("verb", SPENDING)
def test_who_belongs_to_the_project_is_not_refused(lab, run, verb):
    assert not is_refused(verb, run, lab.people["owner"])


@pytest.mark.parametrize("change", [archive, let_go, let_watch])
@pytest.mark.parametrize("verb", SPENDING)
def test_nothing_more_is_spent(lab, run, verb, change):
    change(lab)
    before = Run.objects.count()

    assert is_refused(verb, run, lab.people["owner"])
    assert Run.objects.count() == before


def test_it_is_said_in_plain_words_and_stopping_is_left(lab, run):
    let_go(lab)
    browser = signed_in(lab.people["owner"])

    told = browser.post(f"/api/experiments/{run.experiment_id}/start/", {}, content_type="application/json")
    assert (told.status_code, "Its project would pay" in told.content.decode()) == (403, True)
    page = browser.post(f"/experiments/{run.experiment_id}/start/", {"repeats": 1, "seed": 3, "token": "t" * 22})
    assert (page.status_code, "Its project would pay" in page.content.decode()) == (403, True)

    Run.objects.filter(pk=run.pk).update(state="queued")
    assert actions.stop(Run.objects.get(pk=run.pk), by=lab.people["owner"])


def test_archived_it_refuses_its_leads_too(lab, run):
    archive(lab)

    assert is_refused("start", run, lab.people["lead"])
