"""Whether something failed because a disk is full: of files, of SQLite, or of the PostgreSQL server."""

import errno
import sqlite3

from django.utils.translation import gettext as _
from psycopg.errors import DiskFull

FULL = {errno.ENOSPC, errno.EDQUOT}


def is_out_of_room(error: BaseException | None) -> bool:
    """Also where another error was raised from it, or while it was handled."""
    if error is None:
        return False
    if isinstance(error, sqlite3.OperationalError) and getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
        return True
    if isinstance(error, DiskFull) or (isinstance(error, OSError) and error.errno in FULL):
        return True
    return is_out_of_room(error.__cause__ or error.__context__)


def said_of(error: Exception) -> str:
    """Why a piece of work failed, for its owner: in words where they are known, otherwise as Python says it."""
    if is_out_of_room(error):
        return _("The server's disk is full, so this could not be finished. Tell an administrator, then try again.")
    return f"{type(error).__name__}: {error}"
