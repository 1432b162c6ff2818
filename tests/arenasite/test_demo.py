"""The people and the run of the demonstration."""

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.urls import reverse

from accounts.models import User
from arenasite import demo, launch
from experiments import catalog
from experiments.models import Run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", ["researcher", "reviewer", "admin"])
def test_everybody_signs_in_with_the_published_password(role):
    call_command("demo")

    user = authenticate(username=role, password=demo.PASSWORD)
    assert user is not None
    assert (user.role, user.is_superuser) == (role, role == "admin")


def test_preparing_again_changes_nothing(django_assert_max_num_queries):
    demo.prepare_people()
    before = set(User.objects.values_list("username", "password"))

    demo.prepare_people()

    assert set(User.objects.values_list("username", "password")) == before


def test_a_changed_password_is_set_back():
    demo.prepare_people()
    reviewer = User.objects.get(username="reviewer")
    reviewer.set_password("something else 123")
    reviewer.save()

    demo.prepare_people()

    assert authenticate(username="reviewer", password=demo.PASSWORD)


def test_a_real_person_with_such_a_name_is_left_alone(django_user_model):
    django_user_model.objects.create_user("admin", "head@lab.example", "correct horse battery")

    with pytest.raises(CommandError, match="A person called admin exists"):
        call_command("demo")

    assert User.objects.get().check_password("correct horse battery")


def test_outside_the_demonstration_nobody_signs_in_with_it_and_real_people_stay(alice):
    demo.prepare_people()

    assert demo.retire_people() == 3

    assert authenticate(username="admin", password=demo.PASSWORD) is None
    assert User.objects.get(username="alice").is_active
    assert demo.retire_people() == 0


def test_the_password_is_as_long_as_anybodys_has_to_be():
    assert len(demo.PASSWORD) >= 12


def test_one_run_is_started_and_no_second_one_beside_it(simulated, quiet_doorbell):
    catalog.register_simulated(simulated.base_url)
    demo.prepare_people()

    run = demo.start_run()

    assert quiet_doorbell == [run.pk]
    assert demo.start_run() is None


def test_the_next_demonstration_plays_the_same_experiment_again(simulated, quiet_doorbell):
    catalog.register_simulated(simulated.base_url)
    demo.prepare_people()
    first = demo.start_run()
    Run.objects.update(state=Run.State.COMPLETED)

    second = demo.start_run()

    assert second.experiment == first.experiment
    assert second != first


def test_one_talk_is_started_and_no_second_one_while_it_waits(simulated, quiet_doorbell):
    catalog.register_simulated(simulated.base_url)
    demo.prepare_people()

    talk = demo.start_talk()

    assert quiet_doorbell == [talk.pk]
    assert talk.experiment.workflow == "starchamber"
    Run.objects.update(state=Run.State.WAITING)
    assert demo.start_talk() is None


def test_the_next_demonstration_begins_the_same_talk_again(simulated, quiet_doorbell):
    catalog.register_simulated(simulated.base_url)
    demo.prepare_people()
    first = demo.start_talk()
    Run.objects.update(state=Run.State.STOPPED)

    second = demo.start_talk()

    assert second.experiment == first.experiment
    assert second != first


def test_the_talk_waits_for_the_researcher_after_its_first_answer(simulated, drive):
    catalog.register_simulated(simulated.base_url)
    demo.prepare_people()
    talk = demo.start_talk()
    drive()
    talk.refresh_from_db()

    assert talk.state == Run.State.WAITING
    assert talk.open_pauses[-1].purpose == "your_turn"
    assert talk.messages.get(seat="model").call.logprobs


def test_the_address_that_is_printed_is_the_runs():
    run = Run()

    assert launch.RUN_PATH.format(run.pk) == reverse("run", args=[run.pk])
