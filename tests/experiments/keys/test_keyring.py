"""Keys: added, replaced, tested and removed, by whom, without being recorded; and which one a call is made with."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.errors import Conflict, Forbidden, Invalid
from accounts.models import AuditEntry, Membership, Project
from experiments.engine import keys
from experiments.engine.executor import PendingCall
from experiments.engine.requests import PreparedCall
from experiments.gateway import Client
from experiments.lab.keys import keyring
from experiments.lab.keys import testing as key_testing
from experiments.models import Experiment, Provider, ProviderKey, ProviderModel, Run
from experiments.models.ids import new_id
from experiments.runs import actions
from tests.experiments.keys.conftest import LAB, MINE, OTHER
from tests.fixtures import ARENA
from tests.making import maker
from tests.rivals import at_once


def recorded():
    return [(entry.action, entry.actor) for entry in AuditEntry.objects.order_by("pk")]


def test_a_key_is_stored_encrypted_recorded_and_shown_by_nothing_that_is_handed_about_and_what_is_none_refused(
    alice, locked, add
):
    provider = locked()
    for text in ("", "short", "x" * 501, "with space inside", "mit-Ümlaut-darin", "nul\0inside-it"):
        with pytest.raises(Invalid) as refused:
            add(alice, provider, text)
        assert not text or text not in str(refused.value)
    assert not ProviderKey.objects.exists()
    key = add(alice, provider, f"  {MINE}\n", name="  of my  grant ")

    assert (MINE in key.ciphertext, key.ciphertext == "") == (False, False)
    assert (key.hint, key.name, key.created_by) == (MINE[-4:], "of my grant", alice)
    assert recorded() == [("key_added", "alice")]
    assert MINE[-4:] not in str(AuditEntry.objects.values("name", "detail", "target"))
    order = PreparedCall(provider.models.first(), None, None, None, key=keys.key_for(provider, alice.pk))
    work = PendingCall(call_id=new_id(), run_id=new_id(), endpoint=order.endpoint, request=None)
    for value in (order.key, order, order.endpoint, work, Client("https://a.example/v1", MINE), key, vars(key)):
        assert MINE not in f"{value!r} {value}"
    assert keyring.replace(key, by=alice, key="fifteen-letters").hint == "", "a short one has no part to spare"


@pytest.mark.databases
def test_there_is_one_active_key_of_a_person_and_one_of_the_lab(alice, bob, admin, locked, add):
    provider = locked()
    for by, for_lab in ((alice, False), (bob, False), (admin, False), (admin, True)):
        add(by, provider, for_lab=for_lab)
        with pytest.raises(Conflict, match="already"):
            add(by, provider, OTHER, for_lab=for_lab)
    assert ProviderKey.objects.active().count() == 4
    for owner in (alice, None):
        with pytest.raises(IntegrityError), transaction.atomic():
            ProviderKey.objects.create(provider=provider, owner=owner, ciphertext="y")


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_two_who_add_at_the_same_time_one_is_told_that_there_is_one(alice, locked):
    provider = locked()
    adding = [partial(keyring.add, by=alice, provider=provider, key=text) for text in (MINE, OTHER)]

    given = at_once(*adding, refused=Conflict)

    assert sorted(isinstance(one, Conflict) for one in given) == [False, True]
    assert ProviderKey.objects.active().count() == 1
    assert AuditEntry.objects.filter(action="key_added").count() == 1


def test_a_replaced_key_and_a_removed_one_are_forgotten_once_and_their_rows_stay(alice, locked, add):
    old = add(alice, locked(), OTHER)
    new = keyring.replace(old, by=alice, key=MINE)
    assert (new.is_active, new.owner) == (True, alice)
    with pytest.raises(Conflict):
        keyring.replace(old, by=alice, key=LAB)
    assert [keyring.remove(new, by=alice), keyring.remove(new, by=alice)] == [True, False]

    for key in (old, new):
        key.refresh_from_db()
        assert (key.is_active, key.ciphertext, key.hint) == (False, "", "")
    assert recorded() == [("key_added", "alice"), ("key_replaced", "alice"), ("key_removed", "alice")]


DEEDS = {"replace": partial(keyring.replace, key=MINE), "test": keyring.test, "remove": keyring.remove}


def test_who_may_do_what_with_the_labs_keys_and_with_somebody_elses(alice, bob, admin, locked, add, django_user_model):
    curator = django_user_model.objects.create_user("curator", role="curator")
    provider = locked()
    of_lab, of_alice = add(admin, provider, LAB, for_lab=True), add(alice, provider)
    refused = [(of_lab, who, deed) for who in (alice, curator) for deed in DEEDS]
    refused += [(of_alice, bob, deed) for deed in DEEDS] + [(of_alice, admin, "replace"), (of_alice, admin, "test")]

    for key, who, deed in refused:
        with pytest.raises(Forbidden):
            DEEDS[deed](key, by=who)
    for who in (alice, curator):
        with pytest.raises(Forbidden):
            add(who, provider, for_lab=True)
    with pytest.raises(Forbidden, match="role"):
        add(django_user_model.objects.create_user("reader", role="reviewer"), provider)
    with pytest.raises(Invalid):
        add(bob, Provider.objects.create(name="imported", base_url="http://imported.invalid/v1"))
    assert of_alice not in ProviderKey.objects.visible_to(admin)

    assert keyring.remove(of_alice, by=admin), "an administrator ends its use"
    assert recorded()[-1] == ("key_removed", "ada")


def test_the_key_that_a_provider_wants_is_accepted_any_other_answer_has_its_words_and_what_cannot_be_decrypted(
    alice, locked, add, settings, scripted
):
    key = keyring.test(add(alice, locked(MINE), MINE), by=alice)
    assert (key.test_outcome, key.is_accepted, key.test_words) == ("accepted", True, "")

    wrong = keyring.test(keyring.replace(key, by=alice, key=OTHER), by=alice)
    assert (wrong.test_outcome, wrong.is_accepted) == ("refused", False)
    assert ("401" in wrong.test_words, OTHER in wrong.test_words, bool(wrong.tested)) == (True, False, True)
    outcomes = AuditEntry.objects.filter(action="key_tested").values_list("detail__outcome", flat=True)
    assert list(outcomes) == ["refused", "accepted"]
    ProviderModel.objects.filter(provider=key.provider).delete()
    right = keyring.replace(wrong, by=alice, key=MINE)
    assert keyring.test(right, by=alice).is_accepted, "its list of models is asked"
    settings.KEY_SECRETS = ["another secret, and the only one that is left"]
    unreadable = keyring.test(right, by=alice)
    assert (unreadable.test_outcome, unreadable.is_accepted) == ("unreadable", False)
    assert "Enter it again" in unreadable.test_sentence

    key, same = add(alice, scripted.provider, MINE), {401: "refused", 403: "refused", 500: "unknown", 404: "unknown"}
    for status, outcome in {**same, 402: "no_credit", 429: "rate_limited"}.items():
        scripted.model("scripted/one", status)
        tested = keyring.test(key, by=alice)
        assert (tested.test_outcome, bool(tested.test_sentence)) == (outcome, True)
        assert f"HTTP {status}" in tested.test_words


@pytest.mark.system
def test_of_a_provider_that_is_silent_or_not_there_nothing_is_known(alice, locked, add, monkeypatch):
    silent = locked(MINE)
    silent.models.update(is_active=False)
    ProviderModel.objects.create(provider=silent, slug="a", upstream="sim/neutral:fail=silent", label="a")
    gone = Provider.objects.create(name="gone", base_url="http://127.0.0.1:9/v1", allow_private=True)
    monkeypatch.setattr(key_testing, "SECONDS", 0.2)

    for provider in (silent, gone):
        assert keyring.test(add(alice, provider, MINE), by=alice).test_outcome == "unreachable"


CAST = {"A": {"model": "locked/one"}, "B": {"model": "locked/two"}}


@maker
def begin(woken_runs, /, owner, *, by=None, experiment=None):
    quiet = {**ARENA, "max_turns": 1, "judge": False, "filter": False}
    made = experiment or actions.create(owner=owner, workflow="arena", config=quiet, cast=CAST)
    return actions.start(made, by=by or owner, seed=7)[0]


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


def test_a_run_is_played_with_its_owners_key_and_not_begun_where_there_is_none(alice, admin, locked, add, begin, drive):
    provider = locked(MINE)
    with pytest.raises(Invalid, match="Add your own under Account"):
        begin(alice)
    add(admin, provider, OTHER, for_lab=True)
    mine = add(alice, provider, MINE)
    run = begin(alice)
    drive()

    run.refresh_from_db()
    mine.refresh_from_db()
    assert (run.state, run.error, bool(mine.last_used)) == ("completed", "", True)
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
    begin(alice)
    Experiment.objects.update(project=project, visibility="project")
    again = begin(alice, by=bob, experiment=Experiment.objects.get())
    drive()

    assert set(Run.objects.values_list("state", flat=True)) == {"failed"}
    used = AuditEntry.objects.filter(action="key_used").values_list("target", flat=True)
    assert set(used) == {f"providerkey:{of_alice.pk}"}
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

    assert Run.objects.get().state == "failed"
    call = run.calls.first()
    assert (call.error_kind, call.cost or call.reserved) == ("bad_key", 0)
    why = "there is no key" if is_gone else "its stored key cannot be read"
    assert f"locked was not asked, because {why}" in call.error
    assert doors[MINE].ledger() == []


def test_the_time_of_use_is_written_once_a_minute_and_the_use_is_recorded_once_a_day(alice, locked, add, begin):
    mine = add(alice, locked(), MINE)
    run = begin(alice)

    def used():
        keys.note_use(keys.key_for(mine.provider, alice.pk), run.pk, alice)
        return ProviderKey.objects.get().last_used

    first = used()
    assert used() == first
    ProviderKey.objects.update(last_used=timezone.now() - timedelta(minutes=2))
    assert used() > first
    assert AuditEntry.objects.filter(action="key_used").count() == 1
