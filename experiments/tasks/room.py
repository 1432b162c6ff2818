"""Whether something failed because a disk is full: of files, of SQLite, or of the PostgreSQL server."""

import errno
import sqlite3
from collections.abc import Iterator

from django.utils.translation import gettext as _
from psycopg.errors import DiskFull

FULL = {errno.ENOSPC, errno.EDQUOT}


def is_out_of_room(error: BaseException) -> bool:
    return any(_says_full(link) for link in _chain(error))


def said_of(error: Exception) -> str:
    """Why a piece of work failed, for its owner: in words where they are known, otherwise as Python says it."""
    if is_out_of_room(error):
        return _(
            "The disk of the server is full, so that this could not be finished. Tell an administrator, and try again."
        )
    return f"{type(error).__name__}: {error}"


def _says_full(error: BaseException) -> bool:
    if isinstance(error, sqlite3.OperationalError):
        return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
    return isinstance(error, DiskFull) or (isinstance(error, OSError) and error.errno in FULL)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
