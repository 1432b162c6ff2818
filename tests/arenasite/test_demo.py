"""The people and the run of the demonstration."""

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.urls import reverse

from accounts import first_admin
from accounts.models import User
from arenasite import demo, launch, showcase
from experiments.lab.catalog import syncing as catalog
from experiments.models import Run

pytestmark = pytest.mark.django_db


def test_everybody_signs_in_with_the_published_password_which_is_set_back_and_addresses_are_those_of_pages():
    call_command("demo")
    before = set(User.objects.values_list("username", "password"))
    for role in ("researcher", "reviewer", "admin"):
        user = authenticate(username=role, password=demo.PASSWORD)
        assert (user.role, user.is_superuser) == (role, role == "admin")

    demo.prepare_people()
    assert set(User.objects.values_list("username", "password")) == before, "preparing again changes nothing"
    reviewer = User.objects.get(username="reviewer")
    reviewer.set_password("something else 123")
    reviewer.save()
    demo.prepare_people()
    assert authenticate(username="reviewer", password=demo.PASSWORD)
    assert len(demo.PASSWORD) >= 12

    run = Run()
    assert launch.RUN_PATH.format(run.pk) == reverse("run", args=[run.pk])
    assert launch.CAMPAIGN_PATH.format(run.pk) == reverse("experiment", args=[run.pk])
    assert first_admin.PATH.format("t") == reverse("first-administrator", args=["t"])


def test_real_people_are_left_alone_and_outside_the_demonstration_nobody_signs_in_with_its_password(alice):
    head = User.objects.create_user("admin", "head@lab.example", "correct horse battery")
    with pytest.raises(CommandError, match="A person called admin exists"):
        call_command("demo")
    head.refresh_from_db()
    assert head.check_password("correct horse battery")
    head.delete()
    demo.prepare_people()

    assert demo.retire_people() == 3
    assert authenticate(username="admin", password=demo.PASSWORD) is None
    assert User.objects.get(username="alice").is_active
    assert demo.retire_people() == 0


@pytest.fixture
def on_stage(simulated, woken_runs):
    """Everything the demonstration needs, except its runs."""
    catalog.register_simulated(simulated.base_url)
    demo.prepare_people()
    return woken_runs


def test_one_run_of_each_workflow_is_started_and_the_same_experiment_is_played_again_when_it_is_over(on_stage):
    runs = showcase.start_all()

    assert {run.pk for run in runs} <= set(on_stage)
    workflows = [run.experiment.workflow for run in runs]
    assert workflows == ["arena", "starchamber", "council", "debate", "battles", "coding"]
    assert showcase.start_all() == []
    Run.objects.update(state=Run.State.WAITING)
    assert showcase.start_all() == []

    Run.objects.update(state=Run.State.COMPLETED)
    again = showcase.start_all()
    assert [run.experiment for run in again] == [run.experiment for run in runs if run.experiment.workflow != "battles"]
    assert not {run.pk for run in again} & {run.pk for run in runs}


def test_each_scene_comes_as_far_as_its_demonstration_shows_and_every_pair_of_pictures_is_judged(on_stage, drive):
    talk, council, debate = (showcase.SCENES[name].start() for name in ("starchamber", "council", "debate"))
    drive()
    for run in (talk, council, debate):
        run.refresh_from_db()

    assert talk.state == Run.State.WAITING, "for the researcher, after its first answer"
    assert talk.open_pauses[-1].purpose == "your_turn"
    assert talk.messages.get(seat="model").call.logprobs
    assert (council.state, council.open_offers[-1].purpose) == (Run.State.COMPLETED, "your_turn")
    assert council.ballots.filter(order__isnull=False).count() == 4
    assert council.messages.get(seat="chair").text
    assert debate.state == Run.State.COMPLETED
    spoken = [message.seat for message in debate.messages.filter(step__purpose="reply").order_by("seq")]
    assert spoken == ["A", "B", "C", "A", "B", "C"]
    assert debate.messages.filter(text=showcase.SCENES["debate"].config["addendum"]).exists()

    run = showcase.SCENES["battles"].start()
    drive()

    campaign = run.experiment.campaign
    assert (campaign.state, campaign.wanted) == ("completed", 72)
    assert run.experiment.battles.decided().count() == 72
    assert showcase.SCENES["battles"].start() is None
