"""A backup becomes the database: all of it, or nothing."""

import shutil
import tempfile
from pathlib import Path, PurePosixPath

from django.apps import apps as todays
from django.apps.registry import Apps
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from accounts.errors import Unavailable
from arenasite.backups.archive import FILES, LEFT_OUT, OURS, BackupRefused, Reader, tables
from arenasite.backups.taking import places
from arenasite.demo import retire_people
from experiments.engine.verification import forget_heads
from experiments.models import Instrument, InstrumentVersion, ReviewRubric, shared_files
from experiments.tasks import durable

Node = tuple[str, str]
BUILTIN = (Instrument, InstrumentVersion, ReviewRubric)  # have rows in every database; those of people have an owner


def restore(archive: Reader, *, replace: bool = False) -> int:
    """How many files came with it. Raises BackupRefused; then the database is as it was."""
    manifest = archive.manifest
    try:
        if not replace:
            _require_empty()
        state = _schema({(app, name) for app, name in manifest["migrations"]})
        kept = {table.name: table for table in tables(state, DEFAULT_DB_ALIAS)}
        # Columns may stand in another sequence: a state of the migrations has them as they were added.
        theirs = {name: set(table["columns"]) for name, table in manifest["tables"].items() if name not in LEFT_OUT}
        if {name: set(table.columns) for name, table in kept.items()} != theirs:
            raise BackupRefused("The backup's tables are not those of its version: it was made by changed code.")
        count = _take_files(archive)
        with transaction.atomic():
            _empty()
            for name, table in kept.items():
                table.write(
                    manifest["tables"][name]["columns"], archive.lines(f"tables/{name}.jsonl"), DEFAULT_DB_ALIAS
                )
            with connection.cursor() as cursor:  # new rows get numbers behind the restored ones
                for command in connection.ops.sequence_reset_sql(no_style(), [one.model for one in kept.values()]):
                    cursor.execute(command)
            if wrong := [n for n, t in kept.items() if t.count(DEFAULT_DB_ALIAS) != manifest["tables"][n]["rows"]]:
                raise BackupRefused(f"{wrong[0]} has not the rows that the backup has. The database is as it was.")
    except DatabaseError as error:
        raise BackupRefused(
            f"The database did not take the backup: {str(error).strip()}. It is as it was before."
        ) from error
    call_command("migrate", interactive=False, verbosity=0)
    call_command("reindex", verbosity=0)
    forget_heads()
    if not settings.DEMO_MODE:
        retire_people()
    cache.clear()
    return count


def _schema(wanted: set[Node]) -> Apps:
    """Tables as the backup knew them, and the models that belong to them. A new database is brought to that state
    first, and to today's afterwards.
    """
    executor = MigrationExecutor(connection)
    if not wanted <= set(executor.loader.graph.nodes):  # taken before some migrations were replaced by one
        executor.loader = MigrationLoader(connection, replace_migrations=False)
    graph, applied = executor.loader.graph, set(executor.loader.applied_migrations)
    if unknown := sorted(f"{app}.{name}" for app, name in wanted if (app, name) not in graph.nodes):
        raise BackupRefused(
            f"The backup comes from a newer version, with {', '.join(unknown)}. Restore it with that version or later."
        )
    has = {leaf for leaf in graph.leaf_nodes() if leaf in applied}
    if applied and has == wanted:
        return todays
    if applied and wanted != set(graph.leaf_nodes()):
        raise BackupRefused(
            "The backup comes from an earlier version, and this database has the tables of another one: name a new, "
            "empty database (DATABASE_URL or ARENA_DATA). It is brought up to date after the backup is in it."
        )
    executor.migrate(sorted(wanted))
    if wanted == set(graph.leaf_nodes()):
        return todays
    return executor.loader.project_state(sorted(wanted)).apps


def _require_empty() -> None:
    models = [model for app in OURS for model in todays.get_app_config(app).get_models() if model not in BUILTIN]
    there = set(connection.introspection.table_names())
    if filled := [m._meta.label for m in models if m._meta.db_table in there and m._base_manager.exists()]:
        raise BackupRefused(
            f"The database is not empty ({len(filled)} tables have rows, {filled[0]} among them). Name an empty one, "
            "or say --replace: then everything in it goes, and the backup takes its place."
        )


def _empty() -> None:
    """Every table that a backup fills, and those that belong to what goes. The audit log may be emptied as a whole
    alone, which is what this is.
    """
    left_out = [model._meta.db_table for model in todays.get_models() if model._meta.label_lower in LEFT_OUT]
    named = [table.model._meta.db_table for table in tables(todays, DEFAULT_DB_ALIAS)]
    there = set(connection.introspection.table_names())
    every = [connection.ops.quote_name(name) for name in (*left_out, *named) if name in there]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"TRUNCATE {', '.join(every)}")
        else:
            for name in every:
                cursor.execute(f"DELETE FROM {name}")  # noqa: S608


def _take_files(archive: Reader) -> int:
    """Put the files back to their places; the same file twice is no harm. Raises BackupRefused."""
    roots = places(with_exports=True)
    names = archive.names(FILES)
    for name in names:
        place, *rest = PurePosixPath(name.removeprefix(FILES)).parts
        if place not in roots or not rest or any(part in {"..", "/"} for part in rest):
            raise BackupRefused(f"The backup has a file {name!r} that belongs nowhere here. Nothing was changed.")
        path = roots[place].joinpath(*rest)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".restored-") as folder:
                draft = Path(folder, path.name)
                draft.touch(mode=0o600)
                with archive.open(name) as inner, draft.open("wb") as file:
                    shutil.copyfileobj(inner, file)
                durable.place(draft, path)
                shared_files.keep(path)
        except Unavailable as away:
            raise BackupRefused(f"{away} The database was not changed.") from away
        except OSError as error:
            raise BackupRefused(
                f"{path} could not be written: {error.strerror or error}. The database was not changed; make room or "
                "give the right, and restore again."
            ) from error
    return len(names)
