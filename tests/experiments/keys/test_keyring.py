"""Adding, replacing, testing and removing keys: by whom, once, and recorded without the key."""

import json
from functools import partial

import pytest
from django.db import IntegrityError, transaction

from accounts.models import AuditEntry
from experiments.keys import keyring
from experiments.models import Provider, ProviderKey
from experiments.refusals import NotAllowed, NotOffered, Rivalled
from tests.cases import each_case
from tests.experiments.keys.conftest import LAB, MINE, OTHER
from tests.rivals import at_once

pytestmark = pytest.mark.django_db


def recorded():
    return [(entry.action, entry.actor) for entry in AuditEntry.objects.order_by("pk")]


def test_a_key_is_stored_encrypted_with_a_hint_and_a_line_in_the_record(alice, locked, add):
    key = add(alice, locked(), f"  {MINE}\n", name="  of my  grant ")

    assert MINE not in key.ciphertext
    assert key.ciphertext
    assert (key.hint, key.name, key.created_by) == (MINE[-4:], "of my grant", alice)
    assert recorded() == [("key_added", "alice")]
    written = json.dumps(list(AuditEntry.objects.values("name", "detail", "target")))
    assert MINE[-4:] not in written
    assert keyring.replace(key, by=alice, key="fifteen-letters").hint == "", "a short one has no part to spare"


@each_case("text", ["", "short", "x" * 501, "with space inside", "mit-Ümlaut-darin", "nul\0inside-it"])
def test_what_is_no_key_is_refused_without_repeating_it(alice, locked, add, text):
    with pytest.raises(NotOffered) as refused:
        add(alice, locked(), text)
    assert not text or text not in str(refused.value)
    assert not ProviderKey.objects.exists()


def test_there_is_one_active_key_of_a_person_and_one_of_the_lab(alice, bob, keeper, locked, add):
    provider = locked()
    for by, for_lab in ((alice, False), (bob, False), (keeper, False), (keeper, True)):
        add(by, provider, for_lab=for_lab)
        with pytest.raises(Rivalled, match="already"):
            add(by, provider, OTHER, for_lab=for_lab)
    assert ProviderKey.objects.active().count() == 4


@pytest.mark.databases
def test_the_database_itself_allows_one(alice, locked):
    provider = locked()
    for owner in (alice, None):
        ProviderKey.objects.create(provider=provider, owner=owner, ciphertext="x")
        with pytest.raises(IntegrityError), transaction.atomic():
            ProviderKey.objects.create(provider=provider, owner=owner, ciphertext="y")


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_two_who_add_at_the_same_time_one_is_told_that_there_is_one(alice, locked):
    provider = locked()
    adding = [partial(keyring.add, by=alice, provider=provider, key=text) for text in (MINE, OTHER)]

    given = at_once(*adding, refused=Rivalled)

    assert sorted(isinstance(one, Rivalled) for one in given) == [False, True]
    assert ProviderKey.objects.active().count() == 1
    assert AuditEntry.objects.filter(action="key_added").count() == 1


def test_a_replaced_key_and_a_removed_one_are_forgotten_once_and_their_rows_stay(alice, locked, add):
    old = add(alice, locked(), OTHER)
    new = keyring.replace(old, by=alice, key=MINE)
    assert (new.is_active, new.owner) == (True, alice)
    with pytest.raises(Rivalled):
        keyring.replace(old, by=alice, key=LAB)
    assert [keyring.remove(new, by=alice), keyring.remove(new, by=alice)] == [True, False]

    for key in (old, new):
        key.refresh_from_db()
        assert (key.is_active, key.ciphertext, key.hint) == (False, "", "")
    assert recorded() == [("key_added", "alice"), ("key_replaced", "alice"), ("key_removed", "alice")]


DEEDS = {
    "replace": partial(keyring.replace, key=MINE),
    "test": keyring.test,
    "remove": keyring.remove,
}


def test_who_may_do_what_with_the_labs_keys_and_with_somebody_elses(alice, bob, keeper, locked, add, django_user_model):
    curator = django_user_model.objects.create_user("curator", role="curator")
    provider = locked()
    of_lab, of_alice = add(keeper, provider, LAB, for_lab=True), add(alice, provider)
    refused = [(of_lab, who, deed) for who in (alice, curator) for deed in DEEDS]
    refused += [(of_alice, bob, deed) for deed in DEEDS] + [(of_alice, keeper, "replace"), (of_alice, keeper, "test")]

    for key, who, deed in refused:
        with pytest.raises(NotAllowed):
            DEEDS[deed](key, by=who)
    for who in (alice, curator):
        with pytest.raises(NotAllowed):
            add(who, provider, for_lab=True)
    assert of_alice not in ProviderKey.objects.visible_to(keeper)

    assert keyring.remove(of_alice, by=keeper), "an administrator ends its use"
    assert recorded()[-1] == ("key_removed", "keeper")


def test_there_is_no_key_of_a_reviewer_or_for_a_provider_that_nobody_can_ask(alice, django_user_model, locked, add):
    with pytest.raises(NotAllowed, match="role"):
        add(django_user_model.objects.create_user("reader", role="reviewer"), locked())
    imported = Provider.objects.create(name="imported", base_url="http://imported.invalid/v1")
    with pytest.raises(NotOffered):
        add(alice, imported)
