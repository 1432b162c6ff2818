"""What has to be true before the platform serves: the database has its tables, the translations are compiled."""

import logging
from collections.abc import Iterable
from pathlib import Path

from babel.messages import mofile, pofile
from django.core.management import call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

logger = logging.getLogger(__name__)


def migrate() -> bool:
    """Bring the database up to date. False when it was. Raises django.db.Error."""
    executor = MigrationExecutor(connections["default"])
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return False
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    return True


def compile_translations(locale_paths: Iterable[Path]) -> int:
    """Compile every .po file that is newer than its .mo. Returns how many there were."""
    stale = [po for path in locale_paths for po in Path(path).glob("*/LC_MESSAGES/*.po") if _is_stale(po)]
    for po in stale:
        try:
            _compile(po)
        except OSError as error:
            logger.warning("%s could not be compiled: %s", po, error)
    return len(stale)


def _is_stale(po: Path) -> bool:
    mo = po.with_suffix(".mo")
    return not mo.exists() or mo.stat().st_mtime < po.stat().st_mtime


def _compile(po: Path) -> None:
    with po.open("rb") as source:
        catalogue = pofile.read_po(source)
    draft = po.with_suffix(".mo.draft")
    with draft.open("wb") as target:
        mofile.write_mo(target, catalogue)
    draft.replace(po.with_suffix(".mo"))
