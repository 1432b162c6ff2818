"""A release goes out machine by machine: its migrations must leave the one before it at work."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import models
from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader

OURS = ("accounts", "experiments", "leaderboard")
FIRST_RELEASE = {"accounts": "0006", "experiments": "0016", "leaderboard": "0001"}  # before which nobody was at work
ALWAYS = (operations.CreateModel, operations.AlterModelOptions, operations.AlterModelManagers, AddIndexConcurrently)
# (app, migration, what is complained about): why the release before it goes on all the same
REASONS: dict[tuple[str, str, str], str] = {
    (
        "experiments",
        "0026_instruments_held_to_people",
        "AlterField Alter field subject on reviewitem: the release before it may read or write what changes",
    ): "the text may be longer than before, and what the release before it writes is shorter"
}
LOADER = MigrationLoader(None, replace_migrations=False)


def newer():
    return [
        migration
        for (app, name), migration in sorted(LOADER.disk_migrations.items())
        if app in OURS and name[:4] > FIRST_RELEASE[app]
    ]


def complaints(migration):
    made: set[str] = set()
    found = []
    for operation in _flat(migration.operations):
        if isinstance(operation, operations.CreateModel):
            made.add(operation.name.lower())
        is_wording = isinstance(operation, operations.AlterField) and _keeps_its_column(operation, migration)
        if not is_wording and (said := _complaint(operation, made)):
            found.append(said)
    return found


def _keeps_its_column(operation, migration):
    """Labels, choices and the like are of no concern to the database."""

    def column(field):
        _name, path, arguments, options = field.deconstruct()
        return path, arguments, {name: value for name, value in options.items() if name not in field.non_db_attrs}

    state = LOADER.project_state((migration.app_label, migration.name), at_end=False)
    before = state.models[migration.app_label, operation.model_name_lower].fields[operation.name]
    return column(before) == column(operation.field)


def _flat(all_operations):
    for operation in all_operations:
        if isinstance(operation, operations.SeparateDatabaseAndState):
            yield from _flat(operation.database_operations)
        else:
            yield operation


def _complaint(operation, made):
    what = f"{type(operation).__name__} {operation.describe()}"
    table = getattr(operation, "model_name", "").lower()
    if isinstance(operation, ALWAYS) or (table and table in made):
        return ""
    if isinstance(operation, operations.AddField):
        field = operation.field
        is_optional = field.null or field.db_default is not models.NOT_PROVIDED or field.many_to_many
        return "" if is_optional else f"{what}: the release before it writes rows without it; null=True or db_default"
    if isinstance(operation, operations.RunPython):
        return "" if operation.reversible else f"{what}: nobody can go back"
    if isinstance(operation, operations.AddIndex):
        return f"{what}: nobody writes to the table while it is built"
    return f"{what}: the release before it may read or write what changes"


def test_a_migration_only_adds_or_says_why_it_may_do_more_and_every_reason_is_still_needed():
    assert {(one.app_label, one.name, text) for one in newer() for text in complaints(one)} == set(REASONS)


def test_what_would_end_the_older_release_is_complained_about_and_nothing_else():
    added = [models.IntegerField(default=1), models.IntegerField(null=True), models.IntegerField(db_default=1)]
    refused, *fine = (operations.AddField("run", "pace", field) for field in added)
    fine.append(operations.RunPython(lambda apps, editor: None, operations.RunPython.noop))
    ends = [refused, operations.RemoveField("run", "seed"), operations.DeleteModel("Run")]
    ends += [operations.RenameField("run", "seed", "start"), operations.RunSQL("DROP TABLE experiments_run")]
    ends += [operations.AlterField("run", "seed", models.SmallIntegerField())]
    ends += [operations.RunPython(lambda apps, editor: None)]
    ends += [operations.AddIndex("run", models.Index(fields=["seed"], name="by_seed"))]
    assert [one for one in fine if _complaint(one, set())] == []
    assert [one for one in ends if not _complaint(one, set())] == []
