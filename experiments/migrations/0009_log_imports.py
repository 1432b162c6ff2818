"""Logs of battles that were judged elsewhere, sent to be taken over."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import experiments.models.ids


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0008_uploads"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LogImport",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=300, verbose_name="file name")),
                ("size", models.PositiveBigIntegerField(verbose_name="size")),
                ("judge", models.CharField(blank=True, max_length=200, verbose_name="judge")),
                ("subset", models.CharField(blank=True, max_length=100, verbose_name="subset")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting to be read"),
                            ("reading", "being read"),
                            ("done", "read"),
                            ("refused", "refused"),
                        ],
                        default="waiting",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("report", models.JSONField(blank=True, default=dict, verbose_name="report")),
                ("refused_reason", models.TextField(blank=True, verbose_name="why it was refused")),
                ("attempt", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("beat", models.DateTimeField(editable=False, null=True)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("ended", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="log_imports",
                        to="experiments.dataset",
                        verbose_name="dataset",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "verbose_name": "import of logs",
                "verbose_name_plural": "imports of logs",
                "ordering": ["-created", "-id"],
                "indexes": [models.Index(fields=["state", "beat"], name="log_import_claimable")],
            },
        ),
    ]
