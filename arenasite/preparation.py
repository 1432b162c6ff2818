"""What has to be true before the platform serves: the database has its tables, the translations are compiled."""

from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def is_outdated() -> bool:
    """Whether the database lacks a table or a change of one. Raises django.db.Error."""
    needed = MigrationLoader(None).graph.leaf_nodes()
    return not set(needed) <= set(MigrationRecorder(connection).applied_migrations())


def migrate() -> None:
    """Bring the database up to date. Raises django.db.Error."""
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)


def compile_translations() -> None:
    """By the command, which is loaded only when there is something to compile."""
    if stale_translations():
        call_command("compile_translations", verbosity=0)


def stale_translations() -> list[Path]:
    """The .po files that are newer than their .mo."""
    return [po for path in settings.LOCALE_PATHS for po in Path(path).glob("*/LC_MESSAGES/*.po") if _is_stale(po)]


def _is_stale(po: Path) -> bool:
    mo = po.with_suffix(".mo")
    return not mo.exists() or mo.stat().st_mtime < po.stat().st_mtime
