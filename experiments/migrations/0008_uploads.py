"""Files that are sent to become datasets, or outputs of their contestants."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import experiments.models.ids


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0007_campaigns_remember_their_plan"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Upload",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("samples", "samples"), ("outputs", "outputs")], max_length=8, verbose_name="kind"
                    ),
                ),
                ("name", models.CharField(max_length=300, verbose_name="file name")),
                ("size", models.PositiveBigIntegerField(verbose_name="size")),
                ("asked", models.JSONField(blank=True, default=dict)),
                ("found", models.JSONField(blank=True, default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("kept", "uploaded"),
                            ("waiting", "waiting to be read"),
                            ("reading", "being read"),
                            ("done", "read"),
                            ("refused", "refused"),
                        ],
                        default="kept",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("refused_reason", models.TextField(blank=True, verbose_name="why it was refused")),
                ("progress", models.FloatField(default=0, verbose_name="progress")),
                ("attempt", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("beat", models.DateTimeField(editable=False, null=True)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("started", models.DateTimeField(null=True, verbose_name="started")),
                ("ended", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "dataset",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uploads",
                        to="experiments.dataset",
                        verbose_name="dataset",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uploads",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "verbose_name": "upload",
                "verbose_name_plural": "uploads",
                "ordering": ["-created", "-id"],
                "indexes": [models.Index(fields=["state", "beat"], name="upload_claimable")],
            },
        ),
    ]
