"""Whether this machine has what all machines of the platform must have in common. The one that comes first leaves marks
in the database; one that differs is told so in words when it starts, and not by whatever fails later.

SQLite is a file of one machine, which may change what it likes.
"""

import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from accounts.models import CommonMark

SECRET_KEY, KEY_SECRETS, FILES, REDIS = "secret_key", "key_secrets", "files", "redis"
MARK_FILE = ".arena-mark"  # in the directory of files, and in that of the data
SHARED_REDIS = "by its address"
WORK_FACTOR = 1 << 12  # of scrypt: whoever reads the database cannot try many secrets


class Different(Exception):
    """This machine does not have what the others have. The message is for whoever started it."""


def require_same() -> None:
    """Leave marks where there are none yet. Raises Different, and DatabaseError."""
    if found := differences():
        raise Different("\n".join([*found, how_to_accept()]))


def differences() -> list[str]:
    """What this machine does not have in common with the others, in sentences. Raises DatabaseError."""
    if connection.vendor == "sqlite":
        return []
    known = dict(CommonMark.objects.values_list("name", "mark"))
    return [said for compare in (_secret_key, _key_secrets, _files, _redis) for said in compare(known)]


def accept() -> None:
    """From now on the others must have what this machine has. Raises OSError where the mark of its files cannot be
    written.
    """
    files = _left_mark(Path(settings.FILES_DIR))
    ours = {SECRET_KEY: fingerprint(settings.SECRET_KEY), FILES: files, REDIS: _own_redis()}
    if settings.KEY_SECRETS:
        ours[KEY_SECRETS] = fingerprint(settings.KEY_SECRETS[0])
    with transaction.atomic():
        for name, mark in ours.items():
            CommonMark.objects.update_or_create(name=name, defaults={"mark": mark})


def how_to_accept() -> str:
    return _("If this machine is right and the others are to follow, run `manage.py accept_machine` on it.")


@sensitive_variables()
@lru_cache(maxsize=16)
def fingerprint(secret: str) -> str:
    """32 hexadecimal digits by which the same secret is known again, and from which nobody can tell it."""
    return hashlib.scrypt(secret.encode(), salt=b"arena-lab: machines, 1", n=WORK_FACTOR, r=8, p=1, dklen=16).hex()


# --- each compares one thing, and leaves our mark where there is none ---


def _secret_key(known: dict[str, str]) -> Iterator[str]:
    ours = fingerprint(settings.SECRET_KEY)
    if _known_or(known, SECRET_KEY, lambda: ours) != ours:
        yield _(
            "This machine has another ARENA_SECRET_KEY than the platform's other machines: it would sign out "
            "everybody whom they have signed in. Give all of them the same one."
        )


def _key_secrets(known: dict[str, str]) -> Iterator[str]:
    """One that holds the secret that was the newest so far reads everything; from then on its newest one counts."""
    ours = [fingerprint(secret) for secret in settings.KEY_SECRETS]
    if not ours:
        return
    theirs = _known_or(known, KEY_SECRETS, lambda: ours[0])
    if theirs not in ours:
        yield _(
            "This machine lacks the secret with which the platform's provider keys are encrypted: it could read none "
            "of them. Give all machines the same ARENA_KEY_SECRETS."
        )
    elif theirs != ours[0]:
        CommonMark.objects.filter(name=KEY_SECRETS, mark=theirs).update(mark=ours[0])


def _files(known: dict[str, str]) -> Iterator[str]:
    directory = Path(settings.FILES_DIR)
    try:
        theirs = _known_or(known, FILES, lambda: _left_mark(directory))
        is_same = _mark_in(directory) == theirs
    except OSError as error:
        yield _("The directory %(directory)s, in which the platform keeps files, cannot be used: %(why)s.") % {
            "directory": directory,
            "why": error.strerror or error,
        }
        return
    if not is_same:
        yield _(
            "%(directory)s is not the directory in which the platform's other machines keep exports, uploads and "
            "pictures: what one of them has made the others would not find. Mount the same directory on all machines, "
            "and name it in ARENA_FILES."
        ) % {"directory": directory}


def _redis(known: dict[str, str]) -> Iterator[str]:
    """Addresses may differ from machine to machine and mean the same server; a server that is embedded is nobody
    else's.
    """
    ours = _own_redis()
    theirs = _known_or(known, REDIS, lambda: ours)
    if ours == theirs:
        return
    if ours == SHARED_REDIS:
        CommonMark.objects.filter(name=REDIS, mark=theirs).update(mark=ours)
        return
    yield _(
        "This machine would start a Redis server of its own, and the platform's other machines use another: viewers "
        "here would not see what is said there. Set REDIS_URL to the server that all of them use."
    )


def _known_or(known: dict[str, str], name: str, ours: Callable[[], str]) -> str:
    """What the database knows; our own where it knows nothing, from now on."""
    if name in known:
        return known[name]
    return CommonMark.objects.get_or_create(name=name, defaults={"mark": ours()})[0].mark


def _own_redis() -> str:
    return _left_mark(Path(settings.DATA_DIR)) if settings.REDIS_IS_EMBEDDED else SHARED_REDIS


def _mark_in(directory: Path) -> str:
    """ "" where there is none. Raises OSError."""
    with suppress(FileNotFoundError):
        return (directory / MARK_FILE).read_text().strip()
    return ""


def _left_mark(directory: Path) -> str:
    """The mark of a directory, made where there is none; of two that make one at once, the first. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    if not _mark_in(directory):
        descriptor, draft = tempfile.mkstemp(dir=directory, prefix=f"{MARK_FILE}-")
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(16))
            Path(draft).chmod(0o644)  # no secret, and the machines may run as different people
            with suppress(FileExistsError):
                os.link(draft, directory / MARK_FILE)
        finally:
            os.unlink(draft)
    return _mark_in(directory)


def difference_at_start() -> str:
    """Why this process should not start, in words; "" where nothing speaks against it, or nobody can tell yet."""
    try:
        require_same()
    except Different as difference:
        return str(difference)
    except DatabaseError:
        return ""
    finally:
        connection.close()
    return ""
