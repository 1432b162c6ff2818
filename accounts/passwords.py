"""Which passwords are refused, beside those that are short, common, or like their person (docs/security.md)."""

import hashlib
import re
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

WORDS = (
    *("arena", "lab", "starchamber", "council", "debate", "battle", "coding", "leaderboard", "experiment", "model"),
    *("researcher", "reviewer", "curator", "admin", "administrator", "password", "passphrase", "welcome", "letmein"),
)
DISGUISES = str.maketrans("013457@$!", "oleastasi")
ROWS = (
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiopasdfghjklzxcvbnm",
    "12345678901234567890",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
)
LONGEST_UNIT = 4  # characters that are merely repeated
LEAST_OF_ITS_OWN = 6  # letters that a password must have beside words that anybody would try
DIGEST = 40  # hexadecimal digits of SHA-1


class EasyPasswordValidator(CommonPasswordValidator):
    """Refuses what is long enough and still among the first guesses: a common password with a year or exclamation mark
    at its ends, something short over and over, a run over the keyboard, and little more than words of this platform.
    """

    def validate(self, password: str, user: Any = None) -> None:
        if reason := self._reason(password.lower().strip()):
            raise ValidationError(reason, code="password_too_easy")

    def get_help_text(self) -> str:
        return _("Your password must not be a common one with something added, nor made of words of this platform.")

    def _reason(self, text: str) -> str:
        forms = {text, text.translate(DISGUISES)}
        if any(self._is_decorated(form) for form in forms):
            return _("This is a common password with something added. Take several words that do not belong together.")
        if _is_repeated(text) or _is_a_run(text):
            return _("This is something short over and over, or a run over the keyboard. Take several words.")
        if any(_rests_on_words(form) for form in forms):
            return _("Whoever knows this platform would guess it. Take several words that do not belong together.")
        return ""

    def _is_decorated(self, text: str) -> bool:
        core = re.sub(r"^[\W\d_]+|[\W\d_]+$", "", text)
        half = core[: len(core) // 2]
        return core in self.passwords or (core == half * 2 and half in self.passwords)


class BreachedPasswordValidator:
    """Refuses what is in the operator's list of passwords that became known (ARENA_BREACHED_PASSWORDS): a text file,
    sorted, one SHA-1 digest in capitals a line, with or without `:times`. Without a list nothing is refused; with one
    that cannot be read, everything is.
    """

    def validate(self, password: str, user: Any = None) -> None:
        if not settings.BREACHED_PASSWORDS:
            return
        digest = hashlib.sha1(password.encode(errors="replace"), usedforsecurity=False).hexdigest().upper()
        try:
            with Path(settings.BREACHED_PASSWORDS).open("rb") as file:
                is_known = _is_in(file, digest.encode())
        except OSError as error:
            reason = _("Passwords cannot be checked just now, so none is taken. Tell an administrator.")
            raise ValidationError(reason, code="password_unchecked") from error
        if is_known:
            reason = _("This password was found in stolen data, where others look first. Take another one.")
            raise ValidationError(reason, code="password_breached")

    def get_help_text(self) -> str:
        return _("Your password must not be one that is known from stolen data.") if settings.BREACHED_PASSWORDS else ""


def _is_repeated(text: str) -> bool:
    return any(text == (text[:size] * len(text))[: len(text)] for size in range(1, LONGEST_UNIT + 1))


def _is_a_run(text: str) -> bool:
    rows = [turned for row in ROWS for turned in (row, row[::-1])]
    return any(text in row for row in rows)


def _rests_on_words(text: str) -> bool:
    words = sorted({*WORDS, *_own_words()}, key=len, reverse=True)
    rest, found = re.subn("|".join(map(re.escape, words)), "", text)
    return bool(found) and sum(letter.isalpha() for letter in rest) < LEAST_OF_ITS_OWN


def _own_words() -> set[str]:
    """Names of this lab: those that its operator lists, and the parts of its hosts and domains."""
    hosts = [host for host in (*settings.ALLOWED_HOSTS, *settings.SIGNUP_DOMAINS) if not host.startswith("[")]
    parts = {part for host in hosts for part in re.split(r"[^a-z]+", host.lower()) if len(part) > LONGEST_UNIT}
    return parts | {word.lower() for word in settings.PASSWORD_WORDS}


def _is_in(file: BinaryIO, digest: bytes) -> bool:
    """By halving: of a list of gigabytes some thirty lines are read."""
    low, high = 0, file.seek(0, 2)
    while low < high:
        middle = (low + high) // 2
        file.seek(middle)
        if middle:
            file.readline()  # the rest of a line that begins before
        line = file.readline()[:DIGEST].upper()
        if line == digest:
            return True
        if line and line < digest:
            low = middle + 1
        else:
            high = middle
    return False
