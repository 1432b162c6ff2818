"""All tables as of this release; a database that had the migrations before keeps them."""

from typing import Any

import django.contrib.auth.validators
import django.db.models.deletion
import django.utils.timezone
import uuid_utils.compat
from django.conf import settings
from django.db import migrations, models

import accounts.models
import accounts.scopes

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
    initial = True

    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_projects_and_audit"),
        ("accounts", "0003_audit_is_append_only"),
        ("accounts", "0004_people"),
        ("accounts", "0005_token_scopes"),
        ("accounts", "0006_more_deeds"),
        ("accounts", "0007_machines"),
        ("accounts", "0008_first_admin_link"),
        ("accounts", "0009_reading_of_runs"),
        ("accounts", "0010_no_common_marks"),
        ("accounts", "0011_wording"),
        ("accounts", "0012_notifications_read"),
        ("accounts", "0013_providers_on_record"),
        ("accounts", "0014_submissions"),
        ("accounts", "0015_renamed_archived_deleted"),
    ]

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="Project",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True, verbose_name="name")),
                ("description", models.TextField(blank=True, max_length=2000, verbose_name="description")),
                ("archived", models.BooleanField(default=False, verbose_name="archived")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
            ],
            options={
                "verbose_name": "project",
                "verbose_name_plural": "projects",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("researcher", "researcher"),
                            ("reviewer", "reviewer"),
                            ("curator", "curator"),
                            ("admin", "admin"),
                        ],
                        default="researcher",
                        max_length=16,
                        verbose_name="role",
                    ),
                ),
                ("language", models.CharField(blank=True, max_length=16, verbose_name="language")),
                (
                    "notifications_read",
                    models.DateTimeField(blank=True, editable=False, null=True, verbose_name="notifications read"),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "person",
                "verbose_name_plural": "people",
            },
            managers=[
                ("objects", accounts.models.People()),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True, verbose_name="time")),
                (
                    "action",
                    models.CharField(choices=accounts.models.audited_actions, max_length=32, verbose_name="action"),
                ),
                ("actor_id", models.BigIntegerField(null=True)),
                ("actor", models.CharField(blank=True, max_length=150, verbose_name="person")),
                ("target", models.CharField(blank=True, max_length=120, verbose_name="target")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name at that time")),
                ("detail", models.JSONField(blank=True, default=dict, verbose_name="details")),
                ("address", models.GenericIPAddressField(null=True, verbose_name="address")),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit log",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["action", "-id"], name="audit_by_action"),
                    models.Index(fields=["actor_id", "-id"], name="audit_by_actor"),
                    models.Index(fields=["target", "-id"], name="audit_by_target"),
                    models.Index(fields=["at"], name="audit_by_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="FirstAdminLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(blank=True, max_length=64, verbose_name="digest")),
                ("expires", models.DateTimeField(verbose_name="expires")),
            ],
            options={
                "verbose_name": "link for the first administrator",
                "verbose_name_plural": "link for the first administrator",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="one_first_admin_link")],
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("digest", models.CharField(max_length=128, primary_key=True, serialize=False)),
                ("token_key", models.CharField(db_index=True, max_length=25)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expiry", models.DateTimeField(blank=True, null=True)),
                ("name", models.CharField(blank=True, max_length=100, verbose_name="name")),
                ("scopes", models.JSONField(default=accounts.scopes.all_scopes, verbose_name="scopes")),
                ("last_used", models.DateTimeField(blank=True, null=True, verbose_name="last used")),
                ("last_address", models.GenericIPAddressField(blank=True, null=True, verbose_name="from")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="auth_token_set",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "API token",
                "verbose_name_plural": "API tokens",
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="e-mail")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("researcher", "researcher"),
                            ("reviewer", "reviewer"),
                            ("curator", "curator"),
                            ("admin", "admin"),
                        ],
                        default="researcher",
                        max_length=16,
                        verbose_name="role",
                    ),
                ),
                (
                    "project_role",
                    models.CharField(
                        choices=[("lead", "lead"), ("member", "member"), ("watcher", "watcher")],
                        default="member",
                        max_length=12,
                        verbose_name="role in the project",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("expires", models.DateTimeField(verbose_name="expires")),
                ("accepted", models.DateTimeField(blank=True, null=True, verbose_name="accepted")),
                ("revoked", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
                (
                    "accepted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="accepted by",
                    ),
                ),
                (
                    "invited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="invited by",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "invitation",
                "verbose_name_plural": "invitations",
                "ordering": ["-created"],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("lead", "lead"), ("member", "member"), ("watcher", "watcher")],
                        default="member",
                        max_length=12,
                        verbose_name="role",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "member of a project",
                "verbose_name_plural": "members of projects",
                "ordering": ["project", "user__username"],
                "constraints": [models.UniqueConstraint(fields=("project", "user"), name="one_place_in_a_project")],
            },
        ),
        migrations.RunPython(guard, release),
    ]
