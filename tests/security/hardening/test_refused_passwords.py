"""Which passwords are refused, and that no more are."""

import hashlib

import pytest
from django.conf import global_settings
from django.contrib.auth.hashers import identify_hasher, make_password
from django.contrib.auth.password_validation import CommonPasswordValidator, validate_password
from django.core.exceptions import ValidationError

import arenasite.settings
from accounts.passwords import BreachedPasswordValidator
from tests.fixtures import PASSWORD


def refused(password):
    try:
        validate_password(password)
    except ValidationError as error:
        return error.messages
    return []


def test_the_first_guesses_are_refused_however_long_and_any_script_and_composition_is_taken():
    for password in (
        *("password2026!", "P@ssw0rd12345", "iloveyou12345", "qwerty!!!!!!!!", "2026sunshine2026", "monkeymonkey12"),
        *("aaaaaaaaaaaa", "abcabcabcabc", "123412341234", "qwertyuiopas", "poiuytrewq09", "abcdefghijklm"),
        *("123456789012", "1qaz2wsx3edc", "arena-lab-2026", "ArenaAdmin2026", "starchamber-model", "metallica666!"),
        "kV8-tqzr-41",  # eleven characters
    ):
        assert refused(password), password
    for password in (
        *(PASSWORD, "seven solar panels", "correcthorsebatterystaple", "kV8-tqzr-41xw", "пароль из пяти разных слов"),
        *("七个太阳能电池板给两个村庄用的口令", "     spaces     matter", "🦜🌋🪁🧭🛶🪵🧊🪐🎻🧶🫐🪶"),
        *("arena of forgotten volcanoes", "kV8-tqzr-41x", "seven solar panels " * 50),
    ):
        assert refused(password) == [], password


def test_likely_ones_of_enough_characters_are_refused_and_words_of_the_lab_too(settings):
    common = sorted(CommonPasswordValidator().passwords)
    likely = {f"{word}{end}" for word in common[::300] for end in ("2026!", "123456", "!!!!!!") if word.isalpha()}
    long_enough = [password for password in likely if len(password) >= 12]
    assert len(long_enough) > 60
    assert [password for password in long_enough if not refused(password)] == []

    settings.PASSWORD_WORDS, settings.SIGNUP_DOMAINS = ["Helios"], ["uni-tannenburg.example"]
    assert refused("helios-2026-helios")
    assert refused("Tannenburg2026!")
    assert refused("helios and seven volcanoes") == []


def test_every_password_of_the_list_is_refused_and_no_other_and_none_is_let_through_without_it(settings, tmp_path):
    """A list of some hundreds, sorted, as it is published."""
    known = [f"a stolen password {number}" for number in range(500)]
    digests = sorted(hashlib.sha1(one.encode()).hexdigest().upper() for one in known)
    path = tmp_path / "stolen.txt"
    path.write_text("".join(f"{digest}:{number}\r\n" for number, digest in enumerate(digests, 1)))
    settings.BREACHED_PASSWORDS = str(path)

    for password in known:
        with pytest.raises(ValidationError):
            BreachedPasswordValidator().validate(password)
    assert "breached data" in refused(known[0])[0]
    assert refused("a stolen password 500") == []
    assert refused(PASSWORD) == []
    settings.BREACHED_PASSWORDS = str(tmp_path / "nothing")
    assert "cannot be checked" in refused(PASSWORD)[0]


def test_passwords_are_hashed_slowly_with_a_salt(settings):
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    assert "PASSWORD_HASHERS" not in vars(arenasite.settings)  # the default's are ours

    first, second = make_password(PASSWORD, hasher="pbkdf2_sha256"), make_password(PASSWORD, hasher="pbkdf2_sha256")

    algorithm, rounds, salt, _digest = first.split("$")
    assert (algorithm, identify_hasher(first).algorithm) == ("pbkdf2_sha256", "pbkdf2_sha256")
    assert int(rounds) >= 600_000
    assert len(salt) >= 22  # of 62 letters and digits: 130 bits
    assert first != second
