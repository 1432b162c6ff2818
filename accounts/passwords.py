"""Which passwords are refused, beside those that are short, common, or like their person (docs/security.md)."""

import hashlib
import re
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from zxcvbn import zxcvbn

WORDS = (
    *("arena", "lab", "starchamber", "council", "debate", "battle", "coding", "leaderboard", "experiment", "model"),
    *("researcher", "reviewer", "curator", "admin", "administrator", "password", "passphrase", "welcome", "letmein"),
)
LEAST_GUESSES = 10**11.5  # twelve characters without any pattern count as 10**12
LEAST_LETTERS = 5  # of a part of a host that is a word
MOST_CHARACTERS = 72  # of which the guesses are estimated
DIGEST = 40  # hexadecimal digits of SHA-1


class EasyPasswordValidator(CommonPasswordValidator):
    """Refuses what is long enough and still guessed soon, as zxcvbn estimates it, to which the common passwords and the
    words of this platform are known.
    """

    def __init__(self) -> None:
        super().__init__()
        self._common = sorted(self.passwords)  # of which each has a rank: a set has another order in each process

    def validate(self, password: str, user: Any = None) -> None:
        # Names of this lab: those that its operator lists, and the parts of its hosts and domains.
        hosts = [host for host in (*settings.ALLOWED_HOSTS, *settings.SIGNUP_DOMAINS) if not host.startswith("[")]
        parts = {part for host in hosts for part in re.split(r"[^a-z]+", host.lower()) if len(part) >= LEAST_LETTERS}
        known = [*WORDS, *parts, *map(str.lower, settings.PASSWORD_WORDS), *self._common]
        if zxcvbn(password[:MOST_CHARACTERS], user_inputs=known)["guesses"] < LEAST_GUESSES:
            reason = _("This password is easy to guess. Use several unrelated words.")
            raise ValidationError(reason, code="password_too_easy")

    def get_help_text(self) -> str:
        return _("Your password must not be a common one with something added, or made of words of this platform.")


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
            reason = _("Passwords cannot be checked right now, so none is accepted. Tell an administrator.")
            raise ValidationError(reason, code="password_unchecked") from error
        if is_known:
            reason = _("This password appears in breached data. Use another one.")
            raise ValidationError(reason, code="password_breached")

    def get_help_text(self) -> str:
        return _("Your password must not appear in breached data.") if settings.BREACHED_PASSWORDS else ""


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
