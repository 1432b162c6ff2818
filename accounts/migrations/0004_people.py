from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import accounts.models


def match_roles(apps: Any, schema_editor: Any) -> None:
    """Whoever was a superuser is an admin, and the other way round."""
    people = apps.get_model("accounts", "User").objects
    people.filter(is_superuser=True).exclude(role="admin").update(role="admin")
    people.filter(role="admin").update(is_staff=True, is_superuser=True)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_audit_is_append_only"),
    ]

    operations = [
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
            ],
            options={
                "verbose_name": "invitation",
                "verbose_name_plural": "invitations",
                "ordering": ["-created"],
            },
        ),
        migrations.AlterModelManagers(
            name="user",
            managers=[
                ("objects", accounts.models.People()),
            ],
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(
                choices=[
                    ("signed_in", "signed in"),
                    ("sign_in_failed", "failed to sign in"),
                    ("signed_out", "signed out"),
                    ("signed_up", "joined the lab"),
                    ("invited", "invited somebody"),
                    ("invitation_revoked", "took an invitation back"),
                    ("password_changed", "changed a password"),
                    ("factor_added", "added a second factor"),
                    ("factor_removed", "removed a second factor"),
                    ("token_created", "created an API token"),
                    ("token_revoked", "revoked an API token"),
                    ("rights_refused", "was refused"),
                    ("role_changed", "changed a role"),
                    ("person_deactivated", "deactivated a person"),
                    ("person_reactivated", "activated a person again"),
                    ("project_created", "created a project"),
                    ("project_changed", "changed a project"),
                    ("member_changed", "changed the members of a project"),
                    ("shared", "changed who sees something"),
                    ("link_created", "created a link"),
                    ("link_revoked", "revoked a link"),
                    ("link_opened", "opened a link"),
                    ("key_added", "added a provider key"),
                    ("key_replaced", "replaced a provider key"),
                    ("key_tested", "tested a provider key"),
                    ("key_used", "used a provider key"),
                    ("key_removed", "removed a provider key"),
                    ("keys_rotated", "encrypted all provider keys anew"),
                    ("budget_changed", "changed a budget"),
                    ("budget_reached", "came to the end of a budget"),
                    ("exported", "exported data"),
                    ("voided", "voided something"),
                    ("restored", "restored something"),
                    ("published", "published something"),
                    ("withdrawn", "withdrew something"),
                ],
                max_length=32,
                verbose_name="deed",
            ),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["at"], name="audit_by_time"),
        ),
        migrations.AddField(
            model_name="invitation",
            name="accepted_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="accepted by",
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="invited_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="invitations",
                to=settings.AUTH_USER_MODEL,
                verbose_name="invited by",
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                to="accounts.project",
                verbose_name="project",
            ),
        ),
        migrations.RunPython(match_roles, migrations.RunPython.noop),
    ]
