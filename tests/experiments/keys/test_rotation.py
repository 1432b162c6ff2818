"""The secrets of the lab change: what is stored stays readable, and the old secret can go."""

import os
import stat

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from accounts import crypto
from accounts.models import AuditEntry
from arenasite import environment
from experiments.management.commands import rotate_keys
from experiments.models import Provider, ProviderKey
from tests.experiments.keys.conftest import LAB, MINE

OLD, NEW = "an old secret of forty characters or more", "a new secret of forty characters or more"


@pytest.fixture
def stored(settings, admin, alice, provider, add):
    """Two keys under the old secret."""
    settings.KEY_SECRETS = [OLD]
    simulated = Provider.objects.get(name="simulated")
    return [add(admin, simulated, LAB, for_lab=True), add(alice, simulated, MINE)]


def texts():
    return {crypto.decrypt(key.ciphertext) for key in ProviderKey.objects.active()}


def test_what_is_stored_is_encrypted_anew_also_when_it_was_killed_in_the_middle(settings, stored, monkeypatch, capsys):
    settings.KEY_SECRETS = [NEW, OLD]
    assert texts() == {LAB, MINE}
    rotated, really = [], rotate_keys.rotate

    def killed_at_the_second(ciphertext):
        if rotated:
            raise KeyboardInterrupt
        rotated.append(ciphertext)
        return really(ciphertext)

    monkeypatch.setattr(rotate_keys, "rotate", killed_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        call_command("rotate_keys")
    assert texts() == {LAB, MINE}
    assert sorted(map(crypto.is_newest, ProviderKey.objects.values_list("ciphertext", flat=True))) == [False, True]
    monkeypatch.undo()
    settings.KEY_SECRETS = [NEW, OLD]

    call_command("rotate_keys")

    assert "1 encrypted anew, 1 as it should be already" in capsys.readouterr().out
    assert AuditEntry.objects.filter(action="keys_rotated").count() == 1
    settings.KEY_SECRETS = [NEW]
    assert texts() == {LAB, MINE}


def test_a_key_that_is_replaced_meanwhile_stays_replaced(settings, stored, monkeypatch):
    settings.KEY_SECRETS = [NEW, OLD]
    really, other = rotate_keys.rotate, crypto.encrypt("sk-written-meanwhile")

    def late(ciphertext):
        ProviderKey.objects.filter(ciphertext=ciphertext).update(ciphertext=other)
        return really(ciphertext)

    monkeypatch.setattr(rotate_keys, "rotate", late)
    call_command("rotate_keys")

    assert texts() == {"sk-written-meanwhile"}


def test_a_key_whose_secret_is_gone_is_named_and_the_others_are_rotated(settings, stored, admin, add, locked, capsys):
    settings.KEY_SECRETS = [NEW]
    add(admin, locked(), for_lab=True)
    with pytest.raises(CommandError, match="2 could not be decrypted"):
        call_command("rotate_keys")

    said = capsys.readouterr()
    assert "1 as it should be already" in said.out
    assert "simulated of alice cannot be decrypted any more" in said.err
    assert [key for key in (LAB, MINE) if key in said.err] == []


def test_secrets_are_read_newest_first_none_that_could_be_guessed_and_the_embedded_one_is_made_once_for_its_owner(
    tmp_path, monkeypatch, settings
):
    monkeypatch.delenv("ARENA_KEY_SECRETS", raising=False)
    first, again = environment.key_secrets(tmp_path), environment.key_secrets(tmp_path)
    assert (first == again, len(first[0]) > 60) == (True, True)
    assert stat.S_IMODE(os.stat(tmp_path / "key_secret").st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["key_secret"]

    settings.KEY_SECRETS = []
    with pytest.raises(crypto.NoSecret, match="ARENA_KEY_SECRETS"):
        crypto.encrypt(MINE)
    with pytest.raises(crypto.Undecipherable):
        crypto.decrypt("whatever")
    monkeypatch.setenv("ARENA_KEY_SECRETS", f"{NEW}, {OLD}")
    assert environment.key_secrets(tmp_path) == [NEW, OLD]
    monkeypatch.setenv("ARENA_KEY_SECRETS", f"{NEW}, short")
    with pytest.raises(ImproperlyConfigured, match="openssl rand") as refused:
        environment.key_secrets(tmp_path)
    assert NEW not in str(refused.value)
