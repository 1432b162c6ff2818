"""What a test says of a key, by what the provider answers."""

import pytest

from accounts.models import AuditEntry
from experiments.keys import keyring
from experiments.keys import testing as key_testing
from experiments.models import Provider, ProviderModel
from tests.cases import each_case
from tests.experiments.keys.conftest import MINE, OTHER

pytestmark = pytest.mark.django_db


def test_the_key_that_a_provider_wants_is_accepted_and_another_refused(alice, locked, add):
    key = keyring.test(add(alice, locked(MINE), MINE), by=alice)
    assert (key.test_outcome, key.is_accepted, key.test_words) == ("accepted", True, "")

    wrong = keyring.test(keyring.replace(key, by=alice, key=OTHER), by=alice)
    assert (wrong.test_outcome, wrong.is_accepted) == ("refused", False)
    assert "401" in wrong.test_words
    assert OTHER not in wrong.test_words
    assert wrong.tested is not None
    assert list(AuditEntry.objects.filter(action="key_tested").values_list("detail__outcome", flat=True)) == [
        "refused",
        "accepted",
    ]


def test_of_a_provider_without_models_the_list_of_models_is_asked_for(alice, locked, add):
    provider = locked(MINE)
    ProviderModel.objects.filter(provider=provider).delete()

    assert keyring.test(add(alice, provider, MINE), by=alice).is_accepted


@each_case(
    ("status", "outcome"),
    [(401, "refused"), (403, "refused"), (402, "no_credit"), (429, "rate_limited"), (500, "unknown"), (404, "unknown")],
)
def test_each_answer_has_its_words(alice, scripted, add, status, outcome):
    scripted.model("scripted/one", status)
    tested = keyring.test(add(alice, scripted.provider, MINE), by=alice)

    assert (tested.test_outcome, bool(tested.test_sentence)) == (outcome, True)
    assert f"HTTP {status}" in tested.test_words


@pytest.mark.system
def test_nobody_there_says_nothing_of_the_key(alice, db, add):
    gone = Provider.objects.create(name="gone", base_url="http://127.0.0.1:9/v1", allow_private=True)
    assert keyring.test(add(alice, gone), by=alice).test_outcome == "unreachable"


def test_a_private_address_that_was_not_allowed_is_not_asked(alice, locked, add):
    provider = locked()
    Provider.objects.filter(pk=provider.pk).update(allow_private=False)
    provider.refresh_from_db()
    assert "no public address" in keyring.test(add(alice, provider), by=alice).test_words


@pytest.mark.system
def test_a_provider_that_is_silent_is_given_up(alice, locked, add, monkeypatch):
    provider = locked(MINE)
    provider.models.update(is_active=False)
    ProviderModel.objects.create(provider=provider, slug="a", upstream="sim/neutral:fail=silent", label="a")
    monkeypatch.setattr(key_testing, "SECONDS", 0.2)
    assert keyring.test(add(alice, provider, MINE), by=alice).test_outcome == "unreachable"


def test_a_key_that_cannot_be_decrypted_any_more_is_named_as_such(alice, locked, add, settings):
    key = add(alice, locked(), MINE)
    settings.KEY_SECRETS = ["another secret, and the only one that is left"]
    tested = keyring.test(key, by=alice)

    assert (tested.test_outcome, tested.is_accepted) == ("unreadable", False)
    assert "Enter it again" in tested.test_sentence
