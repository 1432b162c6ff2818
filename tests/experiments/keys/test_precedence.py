"""Which key a call is made with: the owner's, else the lab's, else the environment's."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry, Membership, Project
from experiments.engine import keys
from experiments.engine.executor import PendingCall
from experiments.engine.requests import PreparedCall
from experiments.gateway import Client
from experiments.lab.keys import keyring
from experiments.models import Provider, ProviderKey, ProviderModel, Run
from experiments.models.ids import new_id
from experiments.runs import actions
from tests.experiments.keys.conftest import LAB, MINE, OTHER
from tests.fixtures import ARENA
from tests.making import maker

CAST = {"A": {"model": "locked/one"}, "B": {"model": "locked/two"}}


@maker
def begin(woken_runs, /, owner, *, by=None, experiment=None):
    quiet = {**ARENA, "max_turns": 1, "judge": False, "filter": False}
    made = experiment or actions.create(owner=owner, workflow="arena", config=quiet, cast=CAST)
    return actions.start(made, by=by or owner, seed=7)[0]


def now(run):
    return Run.objects.get(pk=run.pk)


def test_the_owners_key_comes_first_then_the_labs_then_the_environments(alice, bob, admin, locked, add, monkeypatch):
    provider = locked(api_key_env="KEY_OF_THE_LOCKED")
    monkeypatch.setenv("KEY_OF_THE_LOCKED", OTHER)
    assert keys.key_for(provider, alice.pk).text == OTHER
    add(admin, provider, LAB, for_lab=True)
    assert keys.key_for(provider, alice.pk).text == LAB
    mine = add(alice, provider, MINE)

    assert keys.key_for(provider, alice.pk).text == MINE
    assert keys.key_for(provider, bob.pk).text == LAB
    assert keys.key_for(provider, None).text == LAB
    keyring.remove(mine, by=alice)
    assert keys.key_for(provider, alice.pk).text == LAB
    assert keys.key_for(Provider.objects.get(name="simulated"), alice.pk) == keys.Key()


def test_a_model_can_be_asked_by_whoever_has_a_key_and_by_nobody_else(alice, bob, locked, add):
    add(alice, locked(), MINE)

    assert ProviderModel.objects.askable(alice).filter(slug="locked/one").exists()
    assert not ProviderModel.objects.askable(bob).filter(slug="locked/one").exists()
    with pytest.raises(Invalid, match="Add your own under Account"):
        actions.create(owner=bob, workflow="arena", config=ARENA, cast=CAST)


def test_a_run_is_played_with_its_owners_key(alice, admin, locked, add, begin, drive):
    provider = locked(MINE)
    add(admin, provider, OTHER, for_lab=True)
    mine = add(alice, provider, MINE)
    run = begin(alice)
    drive()

    assert now(run).state == "completed", now(run).error
    mine.refresh_from_db()
    assert mine.last_used is not None
    [used] = AuditEntry.objects.filter(action="key_used")
    assert (used.actor, used.detail["run"], used.target) == ("alice", str(run.pk), f"providerkey:{mine.pk}")
    assert ProviderKey.objects.get(owner=None).last_used is None


def test_whoever_steers_for_somebody_else_lends_no_key(alice, bob, locked, add, begin, drive):
    provider = locked(MINE)
    of_alice = add(alice, provider, "sk-alices-own-but-wrong")
    add(bob, provider, MINE)
    project = Project.objects.create(name="together")
    for person in (alice, bob):
        Membership.objects.create(project=project, user=person, role="member")
    run = begin(alice)
    type(run.experiment).objects.filter(pk=run.experiment_id).update(project=project, visibility="project")
    again = begin(alice, by=bob, experiment=type(run.experiment).objects.get(pk=run.experiment_id))
    drive()

    assert {now(run).state, now(again).state} == {"failed"}
    assert set(AuditEntry.objects.filter(action="key_used").values_list("target", flat=True)) == {
        f"providerkey:{of_alice.pk}"
    }
    keyring.remove(of_alice, by=alice)
    with pytest.raises(Forbidden, match="needs a key of locked"):
        actions.start(again.experiment, by=bob)


@pytest.mark.parametrize("is_gone", [True, False], ids=["removed", "undecipherable"])
def test_a_key_that_is_gone_as_a_call_begins_sends_nothing(alice, locked, add, begin, drive, doors, settings, is_gone):
    mine = add(alice, locked(MINE), MINE)
    run = begin(alice)
    doors[MINE].clear_ledger()
    if is_gone:
        keyring.remove(mine, by=alice)
    else:
        settings.KEY_SECRETS = ["another secret, and the only one that is left"]
    drive()

    assert now(run).state == "failed"
    call = run.calls.first()
    assert (call.error_kind, call.cost or call.reserved) == ("bad_key", 0)
    why = "there is no key" if is_gone else "its stored key cannot be read"
    assert f"locked was not asked, because {why}" in call.error
    assert doors[MINE].ledger() == []


def test_the_time_of_use_is_written_once_a_minute_and_the_use_is_recorded_once_a_day(alice, locked, add, played):
    mine, run = add(alice, locked(), MINE), played(max_turns=1)
    key = keys.key_for(mine.provider, alice.pk)
    keys.note_use(key, run.pk, alice)
    mine.refresh_from_db()
    first = mine.last_used
    keys.note_use(key, run.pk, alice)
    mine.refresh_from_db()
    assert mine.last_used == first
    ProviderKey.objects.update(last_used=timezone.now() - timedelta(minutes=2))
    keys.note_use(key, run.pk, alice)
    mine.refresh_from_db()

    assert mine.last_used > first
    assert AuditEntry.objects.filter(action="key_used").count() == 1


def test_nothing_that_is_handed_about_shows_the_key_in_its_text_form(alice, locked, add):
    provider = locked()
    row = add(alice, provider, MINE)
    key = keys.key_for(provider, alice.pk)
    order = PreparedCall(provider.models.first(), None, None, None, key=key)
    work = PendingCall(call_id=new_id(), run_id=new_id(), endpoint=order.endpoint, request=None)

    for value in (key, order, order.endpoint, work, Client("https://a.example/v1", MINE), row, vars(row)):
        assert MINE not in f"{value!r} {value}"
