"""Whatever asks the database to change an entry of the audit record, or PostgreSQL to delete one, is refused by it."""

from typing import Any

from django.db import migrations

SENTENCE = "The audit record is only ever added to."

ON_SQLITE = [
    f"CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON accounts_auditentry BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
]
OFF_SQLITE = ["DROP TRIGGER audit_is_never_changed"]
ON_POSTGRESQL = [
    "CREATE FUNCTION audit_refuses() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{SENTENCE}'; END $$",
    "CREATE TRIGGER audit_is_never_changed BEFORE UPDATE OR DELETE ON accounts_auditentry "
    "FOR EACH ROW EXECUTE FUNCTION audit_refuses()",
]
OFF_POSTGRESQL = [
    "DROP TRIGGER audit_is_never_changed ON accounts_auditentry",
    "DROP FUNCTION audit_refuses()",
]


def guard(apps: Any, schema_editor: Any) -> None:
    _execute(schema_editor, {"sqlite": ON_SQLITE, "postgresql": ON_POSTGRESQL})


def release(apps: Any, schema_editor: Any) -> None:
    _execute(schema_editor, {"sqlite": OFF_SQLITE, "postgresql": OFF_POSTGRESQL})


def _execute(schema_editor: Any, statements: dict[str, list[str]]) -> None:
    for statement in statements.get(schema_editor.connection.vendor, []):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_projects_and_audit")]
    operations = [migrations.RunPython(guard, release)]
