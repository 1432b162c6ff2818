"""All tables as of this release; a database that had the migrations before keeps them."""

import uuid
from decimal import Decimal
from typing import Any

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import experiments.models.catalog
import experiments.models.coding
import experiments.models.ids
import experiments.models.money
import experiments.models.passage

# SQLite searches a table of its own beside the passages; triggers keep it, so that every way to write a passage does.
# Everything but white space belongs to a word: `experiments.library.search.words` has cut the words already.
REMOVE = """
    INSERT INTO experiments_passage_words (experiments_passage_words, rowid, words) VALUES ('delete', old.id, old.words);
"""
ADD = "INSERT INTO experiments_passage_words (rowid, words) VALUES (new.id, new.words);"
FTS5 = (
    """
    CREATE VIRTUAL TABLE experiments_passage_words USING fts5(
        words, content='experiments_passage', content_rowid='id',
        tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
    )
    """,
    f"CREATE TRIGGER passage_words_added AFTER INSERT ON experiments_passage BEGIN {ADD} END",
    f"CREATE TRIGGER passage_words_removed AFTER DELETE ON experiments_passage BEGIN {REMOVE} END",
    f"CREATE TRIGGER passage_words_changed AFTER UPDATE OF words ON experiments_passage BEGIN {REMOVE} {ADD} END",
)
NO_FTS5 = (
    "DROP TRIGGER passage_words_added",
    "DROP TRIGGER passage_words_removed",
    "DROP TRIGGER passage_words_changed",
    "DROP TABLE experiments_passage_words",
)
# What was written last waits in a list that each search reads as a whole: it is kept short.
GIN = "CREATE INDEX passage_words ON experiments_passage USING gin (words) WITH (gin_pending_list_limit = 256)"


def add_words_index(apps: Any, editor: Any) -> None:
    for command in (GIN,) if editor.connection.vendor == "postgresql" else FTS5:
        editor.execute(command)


def remove_words_index(apps: Any, editor: Any) -> None:
    for command in ("DROP INDEX passage_words",) if editor.connection.vendor == "postgresql" else NO_FTS5:
        editor.execute(command)


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("experiments", "0001_initial"),
        ("experiments", "0002_steering_branches_and_library"),
        ("experiments", "0003_exports"),
        ("experiments", "0004_council_and_debate"),
        ("experiments", "0005_datasets_and_battles"),
        ("experiments", "0006_coding_cycles"),
        ("experiments", "0007_visibility"),
        ("experiments", "0008_provider_keys"),
        ("experiments", "0009_budgets"),
        ("experiments", "0010_sharing"),
        ("experiments", "0011_review"),
        ("experiments", "0012_webhooks"),
        ("experiments", "0013_search"),
        ("experiments", "0013_search_filled"),
        ("experiments", "0014_shelves"),
        ("experiments", "0015_compat"),
        ("experiments", "0016_bulk"),
        ("experiments", "0017_injections"),
        ("experiments", "0018_reasons_of_runs"),
        ("experiments", "0019_keep_partial_of_log_imports"),
        ("experiments", "0020_what_the_judge_saw"),
        ("experiments", "0021_wording"),
        ("experiments", "0022_providers_and_defaults"),
        ("experiments", "0023_archived_and_deleted"),
        ("experiments", "0024_submitted_and_returned"),
    ]

    dependencies = [
        ("accounts", "0011_wording"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Experiment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "visibility",
                    models.CharField(
                        choices=[
                            ("private", "only me"),
                            ("project", "the project"),
                            ("lab", "the lab"),
                            ("public", "everybody"),
                        ],
                        default="private",
                        max_length=8,
                        verbose_name="visible to",
                    ),
                ),
                ("workflow", models.CharField(max_length=20, verbose_name="workflow")),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                ("config", models.JSONField(verbose_name="configuration")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("deleted", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="experiments",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="experiments",
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "experiment",
                "verbose_name_plural": "experiments",
                "ordering": ["-created"],
                "indexes": [models.Index(fields=["visibility", "-created"], name="experiment_visibility")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("visibility", "project"), _negated=True),
                            ("project__isnull", False),
                            _connector="OR",
                        ),
                        name="only_a_project_is_shared_with",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Image",
            fields=[
                ("sha256", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("mime", models.CharField(max_length=40)),
                ("width", models.PositiveIntegerField()),
                ("height", models.PositiveIntegerField()),
                ("size", models.PositiveBigIntegerField()),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name": "image",
                "verbose_name_plural": "images",
            },
        ),
        migrations.CreateModel(
            name="Provider",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(max_length=40, unique=True, verbose_name="name")),
                (
                    "base_url",
                    models.CharField(
                        max_length=500, validators=[experiments.models.catalog.http_address], verbose_name="base URL"
                    ),
                ),
                (
                    "api_key_env",
                    models.CharField(
                        blank=True,
                        help_text="Used where no key was entered. With a name here, a key is needed.",
                        max_length=100,
                        verbose_name="environment variable of the key",
                    ),
                ),
                (
                    "needs_key",
                    models.BooleanField(
                        default=False,
                        help_text="Whether calls without a key are refused, so that none are made.",
                        verbose_name="needs a key",
                    ),
                ),
                (
                    "allow_private",
                    models.BooleanField(
                        default=False,
                        help_text="Needed for a server in the lab's own network.",
                        verbose_name="allow private addresses",
                    ),
                ),
                (
                    "routes",
                    models.BooleanField(
                        default=False,
                        help_text="True for OpenRouter: fallbacks are switched off.",
                        verbose_name="routes to other providers",
                    ),
                ),
                (
                    "concurrency",
                    models.PositiveSmallIntegerField(
                        default=100,
                        help_text="The most; fewer are made while the provider limits us.",
                        verbose_name="calls at once per model",
                    ),
                ),
                ("is_simulated", models.BooleanField(default=False, verbose_name="simulated")),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("synced", models.DateTimeField(editable=False, null=True, verbose_name="last synced")),
                (
                    "sync_outcome",
                    models.CharField(
                        blank=True, db_default="", editable=False, max_length=16, verbose_name="result of the last sync"
                    ),
                ),
                (
                    "sync_words",
                    models.CharField(
                        blank=True, db_default="", editable=False, max_length=400, verbose_name="what the provider said"
                    ),
                ),
            ],
            options={
                "verbose_name": "provider",
                "verbose_name_plural": "providers",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="RunListColumns",
            fields=[
                (
                    "owner",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                ("hidden", models.JSONField(default=list, verbose_name="hidden columns")),
            ],
            options={
                "verbose_name": "columns of the runs list",
                "verbose_name_plural": "columns of the runs list",
            },
        ),
        migrations.CreateModel(
            name="SandboxHost",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True, verbose_name="machine")),
                ("backend", models.CharField(max_length=20, verbose_name="isolation")),
                ("is_sufficient", models.BooleanField(default=False, verbose_name="sufficient")),
                ("refusal", models.TextField(blank=True, verbose_name="what is missing")),
                ("layers", models.JSONField(default=list, verbose_name="layers")),
                ("checked", models.DateTimeField(verbose_name="checked")),
            ],
            options={
                "verbose_name": "sandbox",
                "verbose_name_plural": "sandboxes",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="BulkExport",
            fields=[
                ("progress", models.FloatField(default=0, verbose_name="progress")),
                ("attempt", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("beat", models.DateTimeField(editable=False, null=True)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("started", models.DateTimeField(null=True, verbose_name="started")),
                ("ended", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("language", models.CharField(default="en", max_length=16, verbose_name="language")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("ready", "waiting for you"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("format", models.CharField(max_length=12, verbose_name="format")),
                ("asked", models.JSONField(default=dict, verbose_name="selection")),
                ("runs", models.JSONField(default=list, editable=False, verbose_name="runs")),
                ("run_count", models.PositiveIntegerField(default=0, verbose_name="runs")),
                ("left_out", models.PositiveIntegerField(default=0, verbose_name="left out")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="file name")),
                ("size", models.PositiveBigIntegerField(null=True, verbose_name="size")),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("manifest", models.JSONField(blank=True, default=dict, verbose_name="manifest")),
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
                "verbose_name": "bulk export",
                "verbose_name_plural": "bulk exports",
                "ordering": ["-created", "-id"],
                "abstract": False,
                "indexes": [models.Index(fields=["state", "beat"], name="bulk_export_claimable")],
            },
        ),
        migrations.CreateModel(
            name="Dataset",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("slug", models.SlugField(max_length=80, unique=True, verbose_name="short name")),
                ("description", models.TextField(blank=True, verbose_name="description")),
                (
                    "modality",
                    models.CharField(
                        choices=[("text", "text"), ("image", "image")],
                        default="text",
                        max_length=8,
                        verbose_name="kind of output",
                    ),
                ),
                (
                    "visibility",
                    models.CharField(
                        choices=[("private", "only me"), ("lab", "the lab"), ("public", "everybody")],
                        default="private",
                        max_length=8,
                        verbose_name="who may see it",
                    ),
                ),
                (
                    "takes_votes",
                    models.BooleanField(
                        default=True,
                        help_text="Everybody who can see the dataset can compare its outputs without seeing the names.",
                        verbose_name="people may vote",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting to be read"),
                            ("reading", "being read"),
                            ("ready", "ready"),
                            ("refused", "refused"),
                        ],
                        default="waiting",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("refused_reason", models.TextField(blank=True, verbose_name="why it was refused")),
                ("source", models.CharField(blank=True, max_length=300, verbose_name="source")),
                ("columns", models.JSONField(blank=True, default=dict, verbose_name="columns")),
                ("warnings", models.JSONField(blank=True, default=list, verbose_name="warnings")),
                ("progress", models.FloatField(default=0, verbose_name="progress")),
                ("beat", models.DateTimeField(editable=False, null=True)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="datasets",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "verbose_name": "dataset",
                "verbose_name_plural": "datasets",
                "ordering": ["-created"],
            },
        ),
        migrations.CreateModel(
            name="IdempotentRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=200)),
                ("fingerprint", models.CharField(max_length=64)),
                ("answer", models.JSONField(default=dict)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("owner", "key"), name="idempotency_key_once")],
            },
        ),
        migrations.CreateModel(
            name="Preset",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("workflow", models.CharField(max_length=20, verbose_name="workflow")),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("config", models.JSONField(default=dict, verbose_name="configuration")),
                ("shared", models.BooleanField(default=False, verbose_name="shared with the lab")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="presets",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "verbose_name": "preset",
                "verbose_name_plural": "presets",
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "workflow", "name"), name="one_preset_per_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewRubric",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("family", models.UUIDField(default=experiments.models.ids.new_id, editable=False)),
                ("version", models.PositiveIntegerField(default=1, verbose_name="version")),
                ("title", models.CharField(max_length=120, verbose_name="title")),
                ("description", models.TextField(blank=True, max_length=2000, verbose_name="description")),
                ("scales", models.JSONField(blank=True, default=list, verbose_name="scales")),
                ("labels", models.JSONField(blank=True, default=list, verbose_name="labels")),
                ("shared", models.BooleanField(default=False, verbose_name="shared with the lab")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="review_rubrics",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "verbose_name": "review rubric",
                "verbose_name_plural": "review rubrics",
                "ordering": ["title", "-version"],
                "constraints": [
                    models.UniqueConstraint(fields=("family", "version"), name="one_review_rubric_per_version")
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("query", models.CharField(blank=True, max_length=1000, verbose_name="filters")),
                ("is_default", models.BooleanField(default=False, verbose_name="shown first")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "saved view",
                "verbose_name_plural": "saved views",
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "name"), name="one_view_per_name"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)), fields=("owner",), name="one_view_shown_first"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Scenario",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("family", models.UUIDField(default=uuid.uuid4, editable=False)),
                ("version", models.PositiveIntegerField(default=1, verbose_name="version")),
                ("title", models.CharField(max_length=120, verbose_name="title")),
                ("description", models.TextField(blank=True, verbose_name="description")),
                (
                    "kind",
                    models.CharField(
                        choices=[("cooperation", "cooperation"), ("competition", "competition"), ("mixed", "mixed")],
                        default="mixed",
                        max_length=12,
                        verbose_name="kind",
                    ),
                ),
                ("config", models.JSONField(verbose_name="configuration")),
                ("shared", models.BooleanField(default=False, verbose_name="shared with the lab")),
                ("archived", models.BooleanField(default=False, verbose_name="archived")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scenarios",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "verbose_name": "scenario",
                "verbose_name_plural": "scenarios",
                "ordering": ["title", "-version"],
                "constraints": [models.UniqueConstraint(fields=("family", "version"), name="scenario_version_once")],
            },
        ),
        migrations.CreateModel(
            name="Tag",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=40, verbose_name="tag")),
                ("folded", models.CharField(editable=False, max_length=80)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tags",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tags",
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "tag",
                "verbose_name_plural": "tags",
                "ordering": ["folded", "id"],
                "indexes": [models.Index(fields=["folded"], name="tag_by_word")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("owner__isnull", True), ("project__isnull", False)),
                            models.Q(("owner__isnull", False), ("project__isnull", True)),
                            _connector="OR",
                        ),
                        name="a_tag_has_one_place",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("project__isnull", False)),
                        fields=("project", "folded"),
                        name="one_tag_per_word_of_project",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("owner__isnull", False)),
                        fields=("owner", "folded"),
                        name="one_tag_per_word_of_person",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=100, verbose_name="name")),
                ("url", models.CharField(max_length=1000, verbose_name="address")),
                ("events", models.JSONField(default=list, verbose_name="events")),
                ("allow_private", models.BooleanField(default=False, verbose_name="private addresses allowed")),
                ("secret", models.TextField(editable=False)),
                ("older_secret", models.TextField(blank=True, editable=False)),
                ("older_until", models.DateTimeField(editable=False, null=True)),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("failures", models.PositiveIntegerField(default=0, editable=False, verbose_name="failures in a row")),
                ("failing_since", models.DateTimeField(editable=False, null=True, verbose_name="failing since")),
                ("paused", models.DateTimeField(editable=False, null=True, verbose_name="paused")),
                (
                    "pause_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("failing", "It failed for a day."),
                            ("gone", "The receiver answered that it is gone (410)."),
                        ],
                        editable=False,
                        max_length=12,
                        verbose_name="why it was paused",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhooks",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="made by",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhooks",
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook",
                "verbose_name_plural": "webhooks",
                "ordering": ["-created", "-id"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("secret", ""), _negated=True), name="a_webhook_signs")
                ],
            },
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "period",
                    models.CharField(
                        choices=[("total", "in all"), ("month", "a month"), ("day", "a day")],
                        default="total",
                        max_length=5,
                        verbose_name="period",
                    ),
                ),
                (
                    "cost_limit",
                    experiments.models.money.MoneyField(blank=True, null=True, verbose_name="US dollars at most"),
                ),
                ("token_limit", models.BigIntegerField(blank=True, null=True, verbose_name="tokens at most")),
                ("allows_unknown_prices", models.BooleanField(default=False, verbose_name="allow unknown prices")),
                ("active", models.BooleanField(default=True, verbose_name="active")),
                ("since", models.DateTimeField(verbose_name="counted since")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="set by",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
                (
                    "experiment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to="experiments.experiment",
                        verbose_name="experiment",
                    ),
                ),
            ],
            options={
                "verbose_name": "budget",
                "verbose_name_plural": "budgets",
                "ordering": ["created", "id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("experiment__isnull", True), ("person__isnull", False), ("project__isnull", True)
                            ),
                            models.Q(
                                ("experiment__isnull", True), ("person__isnull", True), ("project__isnull", False)
                            ),
                            models.Q(
                                ("experiment__isnull", False), ("person__isnull", True), ("project__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="a_budget_has_one_subject",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cost_limit__isnull", False), ("token_limit__isnull", False), _connector="OR"
                        ),
                        name="a_budget_limits_something",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("cost_limit__isnull", True), ("cost_limit__gte", 0), _connector="OR"),
                            models.Q(("token_limit__isnull", True), ("token_limit__gte", 0), _connector="OR"),
                        ),
                        name="no_budget_below_zero",
                    ),
                    models.UniqueConstraint(fields=("person", "period"), name="one_budget_of_a_person_and_period"),
                    models.UniqueConstraint(fields=("project", "period"), name="one_budget_of_a_project_and_period"),
                    models.UniqueConstraint(
                        fields=("experiment", "period"), name="one_budget_of_a_experiment_and_period"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Campaign",
            fields=[
                (
                    "experiment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="campaign",
                        serialize=False,
                        to="experiments.experiment",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "running"),
                            ("stopped", "stopped"),
                            ("open", "some left open"),
                            ("completed", "completed"),
                            ("failed", "failed"),
                        ],
                        default="running",
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("wanted", models.PositiveIntegerField(default=0, verbose_name="wanted")),
                ("round", models.PositiveIntegerField(default=0, verbose_name="round")),
                ("passes", models.PositiveIntegerField(default=0, editable=False)),
                ("plan", models.JSONField(default=dict, editable=False)),
                ("cursor", models.JSONField(default=dict, editable=False)),
                ("edition", models.PositiveIntegerField(default=0, editable=False)),
                ("seed", models.BigIntegerField(default=0, verbose_name="seed")),
                ("note", models.TextField(blank=True, verbose_name="note")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("resumed", models.DateTimeField(blank=True, null=True, verbose_name="resumed")),
                ("ended", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
            ],
            options={
                "verbose_name": "campaign",
                "verbose_name_plural": "campaigns",
            },
        ),
        migrations.CreateModel(
            name="DatasetImage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pictures", to="experiments.dataset"
                    ),
                ),
                (
                    "image",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="datasets", to="experiments.image"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("image", "dataset"), name="each_picture_once")],
            },
        ),
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
                    "keep_partial",
                    models.BooleanField(
                        db_default=False, default=False, verbose_name="import the valid lines even if some are refused"
                    ),
                ),
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
        migrations.CreateModel(
            name="ProviderKey",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=100, verbose_name="name")),
                ("ciphertext", models.TextField(blank=True, editable=False)),
                ("hint", models.CharField(blank=True, editable=False, max_length=4, verbose_name="ends with")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("last_used", models.DateTimeField(editable=False, null=True, verbose_name="last used")),
                ("is_active", models.BooleanField(default=True, verbose_name="in use")),
                ("tested", models.DateTimeField(editable=False, null=True, verbose_name="tested")),
                ("test_outcome", models.CharField(blank=True, editable=False, max_length=16, verbose_name="test")),
                (
                    "test_words",
                    models.CharField(blank=True, editable=False, max_length=400, verbose_name="what the provider said"),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="entered by",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="provider_keys",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "provider",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="keys",
                        to="experiments.provider",
                        verbose_name="provider",
                    ),
                ),
            ],
            options={
                "verbose_name": "provider key",
                "verbose_name_plural": "provider keys",
                "ordering": ["provider__name", "created"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_active", True), ("owner__isnull", False)),
                        fields=("provider", "owner"),
                        name="one_active_key_of_a_person",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_active", True), ("owner__isnull", True)),
                        fields=("provider",),
                        name="one_active_key_of_the_lab",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("is_active", True), models.Q(("ciphertext", ""), _negated=True)),
                            models.Q(("ciphertext", ""), ("is_active", False)),
                            _connector="OR",
                        ),
                        name="only_a_key_in_use_is_kept",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProviderModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.CharField(max_length=200, unique=True, verbose_name="slug")),
                ("upstream", models.CharField(max_length=200, verbose_name="name at the provider")),
                ("label", models.CharField(max_length=200, verbose_name="label")),
                (
                    "capabilities",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        validators=[experiments.models.catalog.check_capabilities],
                        verbose_name="capabilities",
                    ),
                ),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("is_tool", models.BooleanField(default=False, verbose_name="judge or filter only")),
                ("is_default_judge", models.BooleanField(default=False, verbose_name="the lab's judge")),
                ("is_default_filter", models.BooleanField(default=False, verbose_name="the lab's filter")),
                (
                    "default_for",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        editable=False,
                        verbose_name="default for",
                    ),
                ),
                (
                    "provider",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="models",
                        to="experiments.provider",
                        verbose_name="provider",
                    ),
                ),
            ],
            options={
                "verbose_name": "provider model",
                "verbose_name_plural": "provider models",
                "ordering": ["label", "slug"],
                "constraints": [
                    models.UniqueConstraint(fields=("provider", "upstream"), name="provider_model_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_default_judge", True)),
                        fields=("is_default_judge",),
                        name="one_default_judge",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_default_filter", True)),
                        fields=("is_default_filter",),
                        name="one_default_filter",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewQueue",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                ("is_lab", models.BooleanField(default=False, verbose_name="for every reviewer of the lab")),
                (
                    "over",
                    models.CharField(
                        choices=[
                            ("messages", "single messages"),
                            ("transcripts", "whole transcripts"),
                            ("judgments", "judgments of models"),
                        ],
                        default="messages",
                        max_length=12,
                        verbose_name="over",
                    ),
                ),
                ("filters", models.JSONField(blank=True, default=dict, verbose_name="filters")),
                (
                    "overlap",
                    models.PositiveSmallIntegerField(
                        default=1,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(5),
                        ],
                        verbose_name="people per item",
                    ),
                ),
                ("is_blind", models.BooleanField(default=True, verbose_name="blind")),
                ("instructions", models.TextField(blank=True, verbose_name="instructions")),
                (
                    "lock_minutes",
                    models.PositiveIntegerField(
                        default=20,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1440),
                        ],
                        verbose_name="minutes for which an item is held",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("closed", "closed")],
                        default="open",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("filled", models.DateTimeField(blank=True, null=True, verbose_name="last filled")),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="review_queues",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="review_queues",
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="queues",
                        to="experiments.reviewrubric",
                        verbose_name="rubric",
                    ),
                ),
            ],
            options={
                "verbose_name": "review queue",
                "verbose_name_plural": "review queues",
                "ordering": ["-created", "-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("overlap__range", (1, 5))), name="review_people_per_item"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("is_lab", False), ("project__isnull", True), _connector="OR"),
                        name="review_lab_or_project",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RunImport",
            fields=[
                ("progress", models.FloatField(default=0, verbose_name="progress")),
                ("attempt", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("beat", models.DateTimeField(editable=False, null=True)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("started", models.DateTimeField(null=True, verbose_name="started")),
                ("ended", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("language", models.CharField(default="en", max_length=16, verbose_name="language")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("ready", "waiting for you"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("name", models.CharField(max_length=300, verbose_name="file name")),
                ("size", models.PositiveBigIntegerField(verbose_name="size")),
                ("sha256", models.CharField(max_length=64)),
                (
                    "source",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("own", "Arena Lab"),
                            ("inspect", "Inspect AI"),
                            ("arena", "LLM Arena"),
                            ("starchamber", "StarChamber"),
                            ("council", "LLM Council"),
                            ("debate", "multi-llm-assistant"),
                            ("matrixarena", "MatrixArena"),
                            ("genarena", "GenArena"),
                        ],
                        max_length=12,
                        verbose_name="source",
                    ),
                ),
                ("is_wanted", models.BooleanField(default=False, verbose_name="to be stored")),
                ("report", models.JSONField(blank=True, default=dict, verbose_name="report")),
                (
                    "dataset",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="experiments.dataset",
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
                "verbose_name": "import of runs",
                "verbose_name_plural": "imports of runs",
                "ordering": ["-created", "-id"],
                "abstract": False,
                "indexes": [models.Index(fields=["state", "beat"], name="run_import_claimable")],
            },
        ),
        migrations.CreateModel(
            name="Sample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subset", models.CharField(blank=True, max_length=100, verbose_name="subset")),
                ("index", models.PositiveIntegerField(verbose_name="number")),
                ("category", models.CharField(blank=True, max_length=100, verbose_name="category")),
                ("instruction", models.TextField(verbose_name="instruction")),
                ("images", models.JSONField(blank=True, default=list, verbose_name="images")),
                ("source", models.CharField(blank=True, max_length=200, verbose_name="source")),
                ("metadata", models.JSONField(blank=True, default=dict, verbose_name="further fields")),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="samples",
                        to="experiments.dataset",
                        verbose_name="dataset",
                    ),
                ),
            ],
            options={
                "verbose_name": "sample",
                "verbose_name_plural": "samples",
                "ordering": ["subset", "index"],
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "subset", "index"), name="each_sample_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ShareLink",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("hint", models.CharField(editable=False, max_length=6, verbose_name="begins with")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("expires", models.DateTimeField(verbose_name="expires")),
                ("revoked", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="made by",
                    ),
                ),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to="experiments.experiment",
                        verbose_name="experiment",
                    ),
                ),
            ],
            options={
                "verbose_name": "link",
                "verbose_name_plural": "links",
                "ordering": ["-created", "-id"],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("progress", models.FloatField(default=0, verbose_name="progress")),
                ("attempt", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("beat", models.DateTimeField(editable=False, null=True)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("started", models.DateTimeField(null=True, verbose_name="started")),
                ("ended", models.DateTimeField(null=True, verbose_name="ended")),
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
                "abstract": False,
                "indexes": [models.Index(fields=["state", "beat"], name="upload_claimable")],
            },
        ),
        migrations.CreateModel(
            name="ModelPrice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(verbose_name="since")),
                ("input", models.DecimalField(decimal_places=14, max_digits=20, verbose_name="per input token")),
                ("output", models.DecimalField(decimal_places=14, max_digits=20, verbose_name="per output token")),
                (
                    "cached_input",
                    models.DecimalField(
                        blank=True, decimal_places=14, max_digits=20, null=True, verbose_name="per cached input token"
                    ),
                ),
                (
                    "per_request",
                    models.DecimalField(decimal_places=14, default=0, max_digits=20, verbose_name="per request"),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prices",
                        to="experiments.providermodel",
                        verbose_name="model",
                    ),
                ),
            ],
            options={
                "verbose_name": "price",
                "verbose_name_plural": "prices",
                "ordering": ["-since"],
                "constraints": [models.UniqueConstraint(fields=("model", "since"), name="one_price_at_a_time")],
            },
        ),
        migrations.CreateModel(
            name="BudgetPeriod",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("begins", models.DateTimeField(verbose_name="begins")),
                ("cost_earlier", experiments.models.money.MoneyField(default=Decimal("0"))),
                ("cost_spent", experiments.models.money.MoneyField(default=Decimal("0"))),
                ("cost_reserved", experiments.models.money.MoneyField(default=Decimal("0"))),
                ("tokens_earlier", models.BigIntegerField(default=0)),
                ("tokens_spent", models.BigIntegerField(default=0)),
                ("tokens_reserved", models.BigIntegerField(default=0)),
                (
                    "budget",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="periods", to="experiments.budget"
                    ),
                ),
            ],
            options={
                "verbose_name": "period of a budget",
                "verbose_name_plural": "periods of budgets",
                "ordering": ["-begins"],
                "constraints": [models.UniqueConstraint(fields=("budget", "begins"), name="each_period_once")],
            },
        ),
        migrations.CreateModel(
            name="Contestant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("label", models.CharField(blank=True, max_length=200, verbose_name="shown as")),
                ("link", models.URLField(blank=True, verbose_name="link")),
                ("params", models.JSONField(blank=True, default=dict, verbose_name="parameters")),
                ("version", models.CharField(blank=True, max_length=120, verbose_name="version")),
                ("void_reason", models.CharField(blank=True, max_length=300, verbose_name="why it is left out")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="contestants",
                        to="experiments.dataset",
                        verbose_name="dataset",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.providermodel",
                        verbose_name="model",
                    ),
                ),
            ],
            options={
                "verbose_name": "contestant",
                "verbose_name_plural": "contestants",
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("dataset", "name"), name="each_contestant_once")],
            },
        ),
        migrations.CreateModel(
            name="Board",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=120, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("model", "a model judges"),
                            ("people", "people vote"),
                            ("imported", "judged elsewhere"),
                        ],
                        max_length=8,
                        verbose_name="kind",
                    ),
                ),
                ("judge", models.CharField(max_length=200, verbose_name="judge")),
                ("prompt", models.CharField(blank=True, max_length=80, verbose_name="judge prompt")),
                ("prompt_version", models.CharField(blank=True, max_length=16, verbose_name="version of the prompt")),
                ("params", models.JSONField(blank=True, default=dict, verbose_name="parameters")),
                ("params_hash", models.CharField(blank=True, editable=False, max_length=16)),
                ("changes", models.PositiveBigIntegerField(default=0, editable=False)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="boards",
                        to="experiments.dataset",
                        verbose_name="dataset",
                    ),
                ),
                (
                    "judge_model",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.providermodel",
                    ),
                ),
            ],
            options={
                "verbose_name": "board",
                "verbose_name_plural": "boards",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("dataset", "kind", "judge", "prompt", "prompt_version", "params_hash"),
                        name="each_board_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Participant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seat", models.CharField(max_length=40, verbose_name="participant")),
                ("persona", models.CharField(blank=True, max_length=100, verbose_name="persona")),
                ("params", models.JSONField(blank=True, default=dict, verbose_name="parameters")),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="participants",
                        to="experiments.experiment",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.providermodel",
                        verbose_name="model",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("experiment", "seat"), name="one_participant_per_seat")
                ],
            },
        ),
        migrations.CreateModel(
            name="InjectionRate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("workflow", models.CharField(max_length=20, verbose_name="workflow")),
                ("corpus", models.CharField(max_length=12, verbose_name="version of the strings")),
                ("tried", models.PositiveIntegerField(verbose_name="tried")),
                ("won", models.PositiveIntegerField(verbose_name="won")),
                ("unread", models.PositiveIntegerField(verbose_name="not read")),
                ("alone_tried", models.PositiveIntegerField(verbose_name="tried without an injection")),
                ("alone_won", models.PositiveIntegerField(verbose_name="won without an injection")),
                ("measured", models.DateTimeField(auto_now_add=True, verbose_name="measured")),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.providermodel",
                        verbose_name="model",
                    ),
                ),
            ],
            options={
                "verbose_name": "rate of injections",
                "verbose_name_plural": "rates of injections",
                "ordering": ["-measured", "-id"],
                "indexes": [models.Index(fields=["model", "workflow", "-measured"], name="injections_newest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("alone_won__lte", models.F("alone_tried")), ("won__lte", models.F("tried"))
                        ),
                        name="no_more_injections_won_than_tried",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="QueueMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="queue_memberships",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="experiments.reviewqueue",
                        verbose_name="queue",
                    ),
                ),
            ],
            options={
                "verbose_name": "member of a queue",
                "verbose_name_plural": "members of queues",
                "ordering": ["queue", "user__username"],
                "constraints": [models.UniqueConstraint(fields=("queue", "user"), name="one_place_in_a_queue")],
            },
        ),
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(verbose_name="day")),
                ("purpose", models.CharField(max_length=40, verbose_name="purpose")),
                ("calls", models.PositiveIntegerField(verbose_name="calls")),
                ("lost", models.PositiveIntegerField(verbose_name="lost calls")),
                ("unpriced", models.PositiveIntegerField(verbose_name="calls at an unknown cost")),
                ("input_tokens", models.BigIntegerField(verbose_name="input tokens")),
                ("output_tokens", models.BigIntegerField(verbose_name="output tokens")),
                ("cost", experiments.models.money.MoneyField(verbose_name="cost")),
                ("possible_cost", experiments.models.money.MoneyField(verbose_name="possible cost")),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="usage", to="experiments.experiment"
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="experiments.providermodel"
                    ),
                ),
            ],
            options={
                "verbose_name": "day of usage",
                "verbose_name_plural": "days of usage",
                "ordering": ["day", "id"],
                "indexes": [models.Index(fields=["experiment", "day"], name="usage_of_experiment")],
                "constraints": [
                    models.UniqueConstraint(fields=("day", "experiment", "model", "purpose"), name="each_usage_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="PairCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subset", models.CharField(blank=True, max_length=100)),
                ("category", models.CharField(blank=True, max_length=100)),
                ("left_wins", models.IntegerField(default=0)),
                ("right_wins", models.IntegerField(default=0)),
                ("ties", models.IntegerField(default=0)),
                ("both_bad", models.IntegerField(default=0)),
                ("consistent", models.IntegerField(default=0)),
                ("inconsistent", models.IntegerField(default=0)),
                (
                    "board",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pairs", to="experiments.board"
                    ),
                ),
                (
                    "left",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.contestant",
                    ),
                ),
                (
                    "right",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="experiments.contestant"
                    ),
                ),
            ],
            options={
                "verbose_name": "count of a pair",
                "verbose_name_plural": "counts of pairs",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("board", "left", "right", "subset", "category"), name="each_pair_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("seed", models.BigIntegerField(verbose_name="seed")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("waiting", "waiting"),
                            ("stopping", "stopping"),
                            ("stopped", "stopped"),
                            ("completed", "completed"),
                            ("failed", "failed"),
                        ],
                        default="queued",
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[("automatic", "automatic"), ("manual", "manual")],
                        default="automatic",
                        max_length=12,
                        verbose_name="mode",
                    ),
                ),
                ("overrides", models.JSONField(blank=True, default=dict, verbose_name="changes to the configuration")),
                ("is_held", models.BooleanField(default=False, verbose_name="paused")),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("live", "played here"),
                            ("branch", "branched"),
                            ("imported", "imported"),
                            ("demonstration", "demonstration"),
                        ],
                        default="live",
                        max_length=16,
                        verbose_name="origin",
                    ),
                ),
                ("stop_reason", models.CharField(blank=True, max_length=40, verbose_name="reason of its end")),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("started", models.DateTimeField(blank=True, null=True, verbose_name="started")),
                ("ended", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("waiting_since", models.DateTimeField(blank=True, editable=False, null=True)),
                ("waited_seconds", models.FloatField(default=0, editable=False)),
                ("last_seq", models.PositiveBigIntegerField(default=0, editable=False)),
                ("fence", models.PositiveIntegerField(default=0, editable=False)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("archived", models.DateTimeField(blank=True, editable=False, null=True, verbose_name="archived")),
                ("deleted", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="experiments.experiment",
                        verbose_name="experiment",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="children",
                        to="experiments.run",
                        verbose_name="parent",
                    ),
                ),
            ],
            options={
                "verbose_name": "run",
                "verbose_name_plural": "runs",
                "ordering": ["-created", "-id"],
                "indexes": [
                    models.Index(fields=["state", "lease_until"], name="run_claimable"),
                    models.Index(fields=["experiment", "-created"], name="run_of_experiment"),
                    models.Index(fields=["-created", "-id"], name="run_newest"),
                    models.Index(fields=["state", "-created"], name="run_in_state"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportedRun",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="imported",
                        serialize=False,
                        to="experiments.run",
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("own", "Arena Lab"),
                            ("inspect", "Inspect AI"),
                            ("arena", "LLM Arena"),
                            ("starchamber", "StarChamber"),
                            ("council", "LLM Council"),
                            ("debate", "multi-llm-assistant"),
                            ("matrixarena", "MatrixArena"),
                            ("genarena", "GenArena"),
                        ],
                        max_length=12,
                        verbose_name="source",
                    ),
                ),
                ("file_name", models.CharField(blank=True, max_length=300, verbose_name="file name")),
                ("file_sha256", models.CharField(max_length=64, verbose_name="SHA-256 of the file")),
                ("place", models.CharField(blank=True, max_length=300, verbose_name="place in the file")),
                ("digest", models.CharField(max_length=64)),
                ("notes", models.JSONField(blank=True, default=list, verbose_name="notes")),
                ("kept", models.JSONField(blank=True, default=dict, verbose_name="what else the file says")),
                (
                    "brought_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="brought",
                        to="experiments.runimport",
                        verbose_name="import of runs",
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
                "verbose_name": "origin of an imported run",
                "verbose_name_plural": "origins of imported runs",
                "constraints": [models.UniqueConstraint(fields=("owner", "digest"), name="the_same_run_once")],
            },
        ),
        migrations.CreateModel(
            name="RunReview",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="review",
                        serialize=False,
                        to="experiments.run",
                        verbose_name="run",
                    ),
                ),
                ("submitted", models.DateTimeField(blank=True, null=True, verbose_name="submitted")),
                ("returned", models.DateTimeField(blank=True, null=True, verbose_name="returned")),
                ("approved", models.DateTimeField(blank=True, null=True, verbose_name="approved")),
                ("excluded", models.DateTimeField(blank=True, null=True, verbose_name="left out of ratings")),
                ("reason", models.CharField(blank=True, max_length=300, verbose_name="why it is left out")),
                ("changed", models.DateTimeField(auto_now=True, verbose_name="changed")),
                (
                    "approved_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="approved by",
                    ),
                ),
                (
                    "excluded_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="left out by",
                    ),
                ),
            ],
            options={
                "verbose_name": "curation of a run",
                "verbose_name_plural": "curation of runs",
                "ordering": ["-changed"],
                "indexes": [models.Index(fields=["excluded"], name="run_review_excluded")],
            },
        ),
        migrations.CreateModel(
            name="Export",
            fields=[
                ("progress", models.FloatField(default=0, verbose_name="progress")),
                ("attempt", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("beat", models.DateTimeField(editable=False, null=True)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("started", models.DateTimeField(null=True, verbose_name="started")),
                ("ended", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("format", models.CharField(max_length=12, verbose_name="format")),
                ("language", models.CharField(max_length=16, verbose_name="language")),
                ("last_seq", models.PositiveBigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "queued"), ("running", "running"), ("done", "done"), ("failed", "failed")],
                        default="queued",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="file name")),
                ("size", models.PositiveBigIntegerField(null=True, verbose_name="size")),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exports",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exports",
                        to="experiments.run",
                        verbose_name="run",
                    ),
                ),
            ],
            options={
                "verbose_name": "file of a run",
                "verbose_name_plural": "files of runs",
                "ordering": ["-created", "-id"],
                "abstract": False,
                "indexes": [models.Index(fields=["state", "beat"], name="export_claimable")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "failed"), _negated=True),
                        fields=("run", "format", "last_seq", "owner", "language"),
                        name="the_same_file_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.PositiveBigIntegerField()),
                ("type", models.CharField(max_length=40, verbose_name="type")),
                ("data", models.JSONField(default=dict)),
                ("at", models.DateTimeField(verbose_name="at")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="experiments.run"
                    ),
                ),
            ],
            options={
                "verbose_name": "event",
                "verbose_name_plural": "events",
                "ordering": ["seq"],
                "constraints": [models.UniqueConstraint(fields=("run", "seq"), name="event_order")],
            },
        ),
        migrations.CreateModel(
            name="Cycle",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("turn", models.PositiveIntegerField(verbose_name="number")),
                ("setter", models.CharField(max_length=40, verbose_name="setter")),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "under way"), ("rated", "rated"), ("void", "void")],
                        default="open",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("reason", models.TextField(blank=True, verbose_name="why there is no problem")),
                ("title", models.CharField(blank=True, max_length=200, verbose_name="title")),
                ("fingerprint", models.JSONField(blank=True, default=list, editable=False)),
                ("contestants", models.JSONField(default=list, verbose_name="contestants")),
                ("found", models.JSONField(blank=True, default=dict, verbose_name="votes")),
                ("void_reason", models.CharField(blank=True, max_length=300, verbose_name="why it is void")),
                ("voided", models.DateTimeField(blank=True, null=True, verbose_name="voided")),
                ("began", models.DateTimeField(auto_now_add=True, verbose_name="began")),
                ("ended", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "voided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="cycles", to="experiments.run"
                    ),
                ),
            ],
            options={
                "verbose_name": "cycle",
                "verbose_name_plural": "cycles",
                "ordering": ["run", "turn"],
                "indexes": [models.Index(fields=["state", "ended"], name="cycle_rated")],
                "constraints": [models.UniqueConstraint(fields=("run", "turn"), name="each_cycle_once")],
            },
        ),
        migrations.CreateModel(
            name="ClientTalk",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "system",
                    models.CharField(
                        choices=[
                            ("arena", "LLM Arena"),
                            ("starchamber", "StarChamber"),
                            ("council", "LLM Council"),
                            ("assistant", "Multi-LLM Assistant"),
                        ],
                        max_length=12,
                        verbose_name="client of",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="client_talks",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="client_talk",
                        to="experiments.run",
                        verbose_name="run",
                    ),
                ),
            ],
            options={
                "verbose_name": "run of a client",
                "verbose_name_plural": "runs of clients",
                "ordering": ["-created", "-id"],
                "indexes": [models.Index(fields=["owner", "system", "-created"], name="client_talk_of_owner")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("system", "council"), ("run__isnull", False), _connector="OR"),
                        name="only_a_council_waits",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="KeyUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="experiments.run"
                    ),
                ),
                (
                    "key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="uses", to="experiments.providerkey"
                    ),
                ),
            ],
            options={
                "verbose_name": "use of a provider key",
                "verbose_name_plural": "uses of provider keys",
                "constraints": [models.UniqueConstraint(fields=("key", "run", "day"), name="one_use_a_day")],
            },
        ),
        migrations.CreateModel(
            name="Battle",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "winner",
                    models.CharField(
                        blank=True,
                        choices=[("left", "left"), ("right", "right"), ("tie", "tie"), ("both_bad", "both bad")],
                        max_length=8,
                        verbose_name="winner",
                    ),
                ),
                ("is_consistent", models.BooleanField(null=True, verbose_name="consistent")),
                ("open_reason", models.CharField(blank=True, max_length=300, verbose_name="why it is open")),
                ("ballot", models.CharField(blank=True, max_length=72)),
                ("shown_left_first", models.BooleanField(null=True)),
                ("judged", models.DateTimeField(null=True, verbose_name="judged")),
                ("void_reason", models.CharField(blank=True, max_length=300, verbose_name="why it is void")),
                ("voided", models.DateTimeField(null=True, verbose_name="voided")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "voided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "voter",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="votes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "board",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="battles",
                        to="experiments.board",
                        verbose_name="board",
                    ),
                ),
                (
                    "experiment",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="battles",
                        to="experiments.experiment",
                    ),
                ),
                (
                    "left",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.contestant",
                        verbose_name="left",
                    ),
                ),
                (
                    "right",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.contestant",
                        verbose_name="right",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="battles",
                        to="experiments.run",
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="battles",
                        to="experiments.sample",
                        verbose_name="sample",
                    ),
                ),
            ],
            options={
                "verbose_name": "battle",
                "verbose_name_plural": "battles",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["board", "id"], name="battle_of_board"),
                    models.Index(fields=["board", "right", "id"], name="battle_of_right"),
                    models.Index(fields=["board", "left", "id"], name="battle_of_left"),
                    models.Index(fields=["board", "sample", "id"], name="battle_of_sample"),
                    models.Index(
                        fields=["experiment", "judged", "winner", "is_consistent"], name="battle_of_experiment"
                    ),
                    models.Index(
                        condition=models.Q(("voided__isnull", True)),
                        fields=["board", "winner", "is_consistent", "id"],
                        name="battle_of_outcome",
                    ),
                    models.Index(
                        condition=models.Q(("voided__isnull", False)), fields=["board", "id"], name="battle_voided"
                    ),
                    models.Index(
                        condition=models.Q(("shown_left_first__isnull", False)),
                        fields=["ballot", "id"],
                        name="vote_of_ballot",
                    ),
                    models.Index(
                        condition=models.Q(("judged__isnull", True), ("shown_left_first__isnull", False)),
                        fields=["created"],
                        name="vote_not_cast",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("board", "left", "right", "sample", "ballot"), name="each_battle_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("left__lt", models.F("right"))), name="left_has_the_smaller_key"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=200, verbose_name="key")),
                ("kind", models.CharField(max_length=12, verbose_name="kind")),
                ("purpose", models.CharField(max_length=40, verbose_name="purpose")),
                ("seat", models.CharField(blank=True, max_length=40, verbose_name="participant")),
                ("turn", models.PositiveIntegerField(blank=True, null=True, verbose_name="turn")),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("done", "done"), ("failed", "failed")],
                        default="open",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("prompt_version", models.CharField(blank=True, max_length=16, verbose_name="prompt version")),
                ("data", models.JSONField(blank=True, default=dict)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("ended", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="steps", to="experiments.run"
                    ),
                ),
            ],
            options={
                "verbose_name": "step",
                "verbose_name_plural": "steps",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["run", "purpose", "turn"], name="step_purpose")],
                "constraints": [models.UniqueConstraint(fields=("run", "key"), name="each_step_once")],
            },
        ),
        migrations.CreateModel(
            name="Tagging",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="taggings",
                        to="experiments.experiment",
                        verbose_name="experiment",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="taggings",
                        to="experiments.run",
                        verbose_name="run",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="taggings",
                        to="experiments.tag",
                        verbose_name="tag",
                    ),
                ),
            ],
            options={
                "verbose_name": "tag on something",
                "verbose_name_plural": "tags on things",
                "ordering": ["tag__folded", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("run__isnull", False)), fields=("tag", "run"), name="a_run_tagged_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("run__isnull", True)),
                        fields=("tag", "experiment"),
                        name="an_experiment_tagged_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("type", models.CharField(max_length=40, verbose_name="event")),
                ("source", models.CharField(editable=False, max_length=120)),
                ("body", models.TextField(verbose_name="what is sent")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("delivered", "delivered"),
                            ("failed", "given up"),
                            ("dropped", "not sent"),
                        ],
                        default="waiting",
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("attempt", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                ("tries", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("next_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="next attempt")),
                ("status", models.PositiveSmallIntegerField(null=True, verbose_name="status")),
                ("seconds", models.FloatField(null=True, verbose_name="seconds")),
                ("answer", models.TextField(blank=True, verbose_name="answer")),
                (
                    "problem",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("refused", "The receiver did not accept it."),
                            (
                                "redirect",
                                "The receiver redirects. Enter the final address; redirects are not followed.",
                            ),
                            ("unreachable", "The receiver could not be reached."),
                            ("timeout", "The receiver did not answer in time."),
                            ("forbidden", "The name leads to a private or reserved address, which is not allowed."),
                            ("unreadable", "Its secret can no longer be decrypted. Rotate the secret."),
                        ],
                        max_length=12,
                        verbose_name="problem",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("ended", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="experiments.run",
                        verbose_name="run",
                    ),
                ),
                (
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="experiments.webhook",
                        verbose_name="webhook",
                    ),
                ),
            ],
            options={
                "verbose_name": "delivery of a webhook",
                "verbose_name_plural": "deliveries of webhooks",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["next_at"], name="delivery_due"),
                    models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
                    models.Index(fields=["created"], name="delivery_by_age"),
                ],
                "constraints": [models.UniqueConstraint(fields=("webhook", "source"), name="told_once")],
            },
        ),
        migrations.CreateModel(
            name="Call",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(verbose_name="attempt")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("sent", "under way"),
                            ("completed", "completed"),
                            ("failed", "failed"),
                            ("lost", "lost"),
                            ("stopped", "stopped"),
                        ],
                        default="sent",
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("request", models.JSONField(verbose_name="request")),
                ("reserved", models.DecimalField(decimal_places=10, max_digits=20, null=True, verbose_name="reserved")),
                ("reserved_tokens", models.PositiveIntegerField(null=True, verbose_name="reserved tokens")),
                ("text", models.TextField(blank=True, verbose_name="text")),
                ("reasoning", models.TextField(blank=True, verbose_name="reasoning")),
                ("logprobs", models.JSONField(null=True, verbose_name="logprobs")),
                ("finish_reason", models.CharField(blank=True, max_length=40, verbose_name="finish reason")),
                ("native_finish_reason", models.CharField(blank=True, max_length=80)),
                ("served_model", models.CharField(blank=True, max_length=200, verbose_name="served model")),
                ("served_provider", models.CharField(blank=True, max_length=200, verbose_name="served by")),
                ("generation_id", models.CharField(blank=True, max_length=200)),
                ("system_fingerprint", models.CharField(blank=True, max_length=200)),
                ("warnings", models.JSONField(default=list, verbose_name="warnings")),
                ("error_kind", models.CharField(blank=True, max_length=40, verbose_name="kind of error")),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("input_tokens", models.PositiveIntegerField(null=True, verbose_name="input tokens")),
                ("output_tokens", models.PositiveIntegerField(null=True, verbose_name="output tokens")),
                ("reasoning_tokens", models.PositiveIntegerField(null=True, verbose_name="reasoning tokens")),
                ("cached_input_tokens", models.PositiveIntegerField(null=True, verbose_name="cached input tokens")),
                ("usage_is_estimated", models.BooleanField(default=False)),
                ("cost", models.DecimalField(decimal_places=10, max_digits=20, null=True, verbose_name="cost")),
                ("cost_source", models.CharField(blank=True, max_length=12, verbose_name="source of the cost")),
                ("sent", models.DateTimeField(auto_now_add=True, verbose_name="sent")),
                ("first_byte_seconds", models.FloatField(null=True)),
                ("seconds", models.FloatField(null=True, verbose_name="seconds")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="experiments.run"
                    ),
                ),
                (
                    "price",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.modelprice",
                        verbose_name="price",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="experiments.providermodel",
                        verbose_name="model",
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="experiments.step"
                    ),
                ),
            ],
            options={
                "verbose_name": "call",
                "verbose_name_plural": "calls",
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["run", "state"], name="call_state"),
                    models.Index(fields=["sent"], name="call_sent"),
                ],
                "constraints": [models.UniqueConstraint(fields=("step", "attempt"), name="each_attempt_once")],
            },
        ),
        migrations.CreateModel(
            name="Execution",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("turn", models.PositiveIntegerField(verbose_name="cycle")),
                ("seat", models.CharField(max_length=40, verbose_name="participant")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("running", "running"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="waiting",
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("language", models.CharField(max_length=20, verbose_name="language")),
                ("code", models.TextField(verbose_name="code")),
                ("entry", models.CharField(max_length=80, verbose_name="function")),
                ("comparison", models.CharField(max_length=12, verbose_name="comparison")),
                ("tests", experiments.models.coding.ExactJSONField(verbose_name="tests")),
                ("seconds_limit", models.FloatField(verbose_name="seconds for each test")),
                ("memory_limit", models.PositiveBigIntegerField(verbose_name="memory for each test")),
                ("until_failure", models.BooleanField(default=False, verbose_name="ends at the first failure")),
                ("claim", models.PositiveIntegerField(default=0, editable=False)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("results", models.JSONField(blank=True, null=True, verbose_name="results")),
                ("complaint", models.TextField(blank=True, verbose_name="complaint")),
                ("backend", models.CharField(blank=True, max_length=20, verbose_name="isolation")),
                ("layers", models.JSONField(blank=True, default=list, verbose_name="layers")),
                ("is_unsafe", models.BooleanField(default=False, verbose_name="without isolation")),
                ("seconds", models.FloatField(blank=True, null=True, verbose_name="seconds")),
                ("error_kind", models.CharField(blank=True, max_length=40, verbose_name="kind of error")),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("ended", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="executions", to="experiments.run"
                    ),
                ),
                (
                    "step",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="execution", to="experiments.step"
                    ),
                ),
            ],
            options={
                "verbose_name": "execution",
                "verbose_name_plural": "executions",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["state", "lease_until"], name="execution_claimable")],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("seq", models.PositiveBigIntegerField()),
                ("turn", models.PositiveIntegerField(verbose_name="turn")),
                ("seat", models.CharField(max_length=40, verbose_name="participant")),
                ("model", models.CharField(blank=True, max_length=200, verbose_name="model")),
                ("raw_text", models.TextField(blank=True, verbose_name="text as produced")),
                ("text", models.TextField(blank=True, verbose_name="text as others see it")),
                ("reasoning", models.TextField(blank=True, verbose_name="reasoning")),
                ("filter", models.JSONField(null=True, verbose_name="filter")),
                ("operator", models.JSONField(blank=True, null=True, verbose_name="change by a person")),
                ("flags", models.JSONField(blank=True, default=list, verbose_name="flags")),
                ("parsed", models.JSONField(blank=True, null=True, verbose_name="what was read out of it")),
                ("superseded", models.BooleanField(default=False, verbose_name="superseded")),
                ("finish_reason", models.CharField(blank=True, max_length=40, verbose_name="finish reason")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "call",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="experiments.call"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="experiments.run"
                    ),
                ),
                (
                    "step",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="message", to="experiments.step"
                    ),
                ),
            ],
            options={
                "verbose_name": "message",
                "verbose_name_plural": "messages",
                "ordering": ["seq"],
                "constraints": [models.UniqueConstraint(fields=("run", "seq"), name="message_order")],
            },
        ),
        migrations.CreateModel(
            name="Judgment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("turn", models.PositiveIntegerField(verbose_name="turn")),
                ("subject", models.CharField(max_length=40, verbose_name="subject")),
                ("judge", models.CharField(max_length=200, verbose_name="judge")),
                ("judge_seat", models.CharField(blank=True, max_length=40, verbose_name="judge's participant")),
                ("scores", models.JSONField(null=True, verbose_name="scores")),
                (
                    "unscored_reason",
                    models.CharField(blank=True, max_length=500, verbose_name="why scores are missing"),
                ),
                ("rationale", models.TextField(blank=True, verbose_name="rationale")),
                ("dynamics", models.TextField(blank=True, verbose_name="how the sides influence each other")),
                ("confidence", models.FloatField(null=True, verbose_name="confidence")),
                ("flags", models.JSONField(blank=True, default=list, verbose_name="flags")),
                (
                    "saw",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        verbose_name="what the judge read",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "call",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="experiments.call"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="judgments", to="experiments.run"
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="judgments", to="experiments.step"
                    ),
                ),
            ],
            options={
                "verbose_name": "judgment",
                "verbose_name_plural": "judgments",
                "ordering": ["turn", "subject", "id"],
                "constraints": [models.UniqueConstraint(fields=("step", "subject"), name="one_judgment_per_subject")],
            },
        ),
        migrations.CreateModel(
            name="Reservation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "call",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reservations", to="experiments.call"
                    ),
                ),
                (
                    "period",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reservations",
                        to="experiments.budgetperiod",
                    ),
                ),
            ],
            options={
                "verbose_name": "reservation",
                "verbose_name_plural": "reservations",
                "constraints": [models.UniqueConstraint(fields=("call", "period"), name="each_call_counted_once")],
            },
        ),
        migrations.CreateModel(
            name="Output",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(blank=True, verbose_name="text")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "call",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="experiments.call"
                    ),
                ),
                (
                    "contestant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outputs",
                        to="experiments.contestant",
                        verbose_name="contestant",
                    ),
                ),
                (
                    "image",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="outputs",
                        to="experiments.image",
                        verbose_name="image",
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outputs",
                        to="experiments.sample",
                        verbose_name="sample",
                    ),
                ),
            ],
            options={
                "verbose_name": "output",
                "verbose_name_plural": "outputs",
                "ordering": ["sample", "contestant"],
                "constraints": [models.UniqueConstraint(fields=("contestant", "sample"), name="each_output_once")],
            },
        ),
        migrations.CreateModel(
            name="Ballot",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("turn", models.PositiveIntegerField(verbose_name="turn")),
                ("count", models.PositiveIntegerField(default=1, verbose_name="count")),
                ("reviewer", models.CharField(max_length=40, verbose_name="reviewer")),
                ("model", models.CharField(blank=True, max_length=200, verbose_name="model")),
                ("labels", models.JSONField(verbose_name="labels")),
                ("order", models.JSONField(null=True, verbose_name="order")),
                ("abstained_reason", models.CharField(blank=True, max_length=500, verbose_name="why it abstained")),
                ("flags", models.JSONField(blank=True, default=list, verbose_name="flags")),
                ("reading", models.CharField(blank=True, max_length=12, verbose_name="reading")),
                ("superseded", models.BooleanField(default=False, verbose_name="superseded")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "call",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="experiments.call"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="ballots", to="experiments.run"
                    ),
                ),
                (
                    "step",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="ballot", to="experiments.step"
                    ),
                ),
            ],
            options={
                "verbose_name": "ballot",
                "verbose_name_plural": "ballots",
                "ordering": ["turn", "count", "reviewer", "id"],
            },
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "order",
                    models.CharField(choices=[("original", "left first"), ("swapped", "right first")], max_length=8),
                ),
                (
                    "winner",
                    models.CharField(
                        blank=True,
                        choices=[("left", "left"), ("right", "right"), ("tie", "tie"), ("both_bad", "both bad")],
                        max_length=8,
                    ),
                ),
                ("scores", models.JSONField(null=True)),
                ("confidence", models.FloatField(null=True)),
                ("rationale", models.TextField(blank=True)),
                ("unread_reason", models.CharField(blank=True, max_length=300)),
                ("raw", models.TextField(blank=True)),
                (
                    "battle",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="verdicts", to="experiments.battle"
                    ),
                ),
                (
                    "call",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="experiments.call"
                    ),
                ),
            ],
            options={
                "verbose_name": "verdict",
                "verbose_name_plural": "verdicts",
                "ordering": ["battle", "order"],
                "constraints": [models.UniqueConstraint(fields=("battle", "order"), name="each_order_once")],
            },
        ),
        migrations.CreateModel(
            name="FlagDeed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("flag", models.CharField(max_length=40, verbose_name="flag")),
                (
                    "kind",
                    models.CharField(
                        choices=[("set", "set"), ("dismissed", "dismissed")], max_length=12, verbose_name="action"
                    ),
                ),
                ("scanner", models.CharField(blank=True, max_length=40, verbose_name="scanner")),
                ("reason", models.CharField(blank=True, max_length=300, verbose_name="reason")),
                ("at", models.DateTimeField(auto_now_add=True, verbose_name="time")),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="flag_deeds",
                        to="experiments.message",
                        verbose_name="message",
                    ),
                ),
            ],
            options={
                "verbose_name": "flag set or dismissed",
                "verbose_name_plural": "flags set and dismissed",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Note",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("text", models.TextField(verbose_name="note")),
                ("shared", models.BooleanField(default=False, verbose_name="shared")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("edited", models.DateTimeField(blank=True, null=True, verbose_name="edited")),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="author",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to="experiments.message",
                        verbose_name="message",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to="experiments.run",
                        verbose_name="run",
                    ),
                ),
            ],
            options={
                "verbose_name": "note",
                "verbose_name_plural": "notes",
                "ordering": ["created", "id"],
                "indexes": [models.Index(fields=["run", "created"], name="note_of_run")],
            },
        ),
        migrations.CreateModel(
            name="Passage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("setup", "Title and prompts"),
                            ("message", "Message"),
                            ("reasoning", "Reasoning"),
                            ("note", "Note"),
                        ],
                        max_length=10,
                        verbose_name="kind",
                    ),
                ),
                ("source", models.UUIDField(verbose_name="source")),
                ("created", models.DateTimeField(verbose_name="created")),
                ("words", experiments.models.passage.WordsField(editable=False)),
                (
                    "experiment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.experiment",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.message",
                    ),
                ),
                (
                    "reader",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "searchable text",
                "verbose_name_plural": "searchable texts",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["experiment", "id"], name="passage_of_experiment")],
                "constraints": [models.UniqueConstraint(fields=("source", "kind"), name="one_passage_of_a_kind")],
            },
        ),
        migrations.CreateModel(
            name="ReviewItem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("subject", models.CharField(max_length=60, verbose_name="subject")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "judgment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_items",
                        to="experiments.judgment",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_items",
                        to="experiments.message",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_items",
                        to="experiments.run",
                        verbose_name="run",
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="experiments.reviewqueue",
                        verbose_name="queue",
                    ),
                ),
            ],
            options={
                "verbose_name": "item under review",
                "verbose_name_plural": "items under review",
                "ordering": ["queue", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("queue", "subject"), name="once_in_a_queue"),
                    models.UniqueConstraint(fields=("queue", "number"), name="one_item_per_number"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewAnswer",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1, verbose_name="version")),
                ("scores", models.JSONField(blank=True, default=dict, verbose_name="scores")),
                ("unsaid", models.JSONField(blank=True, default=dict, verbose_name="could not say, because")),
                ("labels", models.JSONField(blank=True, default=dict, verbose_name="labels")),
                ("note", models.TextField(blank=True, verbose_name="note")),
                ("flags", models.JSONField(blank=True, default=list, verbose_name="flags")),
                (
                    "is_informed",
                    models.BooleanField(default=False, verbose_name="said after seeing the judge's scores"),
                ),
                ("seconds", models.FloatField(blank=True, null=True, verbose_name="seconds")),
                ("fingerprint", models.CharField(editable=False, max_length=64)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="review_answers",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="experiments.reviewitem",
                        verbose_name="item",
                    ),
                ),
            ],
            options={
                "verbose_name": "answer of a reviewer",
                "verbose_name_plural": "answers of reviewers",
                "ordering": ["item", "author", "version"],
                "constraints": [
                    models.UniqueConstraint(fields=("item", "author", "version"), name="one_review_answer_per_version")
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewDraft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("fields", models.JSONField(default=dict, verbose_name="fields")),
                ("saved", models.DateTimeField(auto_now=True, verbose_name="saved")),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_drafts",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="drafts",
                        to="experiments.reviewitem",
                        verbose_name="item",
                    ),
                ),
            ],
            options={
                "verbose_name": "draft of an answer",
                "verbose_name_plural": "drafts of answers",
                "ordering": ["-saved"],
                "constraints": [models.UniqueConstraint(fields=("item", "person"), name="one_review_draft")],
            },
        ),
        migrations.CreateModel(
            name="ReviewSkip",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(max_length=300, verbose_name="reason")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="skips",
                        to="experiments.reviewitem",
                        verbose_name="item",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_skips",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
            ],
            options={
                "verbose_name": "skipped item",
                "verbose_name_plural": "skipped items",
                "ordering": ["-created"],
                "constraints": [models.UniqueConstraint(fields=("item", "person"), name="skipped_once")],
            },
        ),
        migrations.CreateModel(
            name="ReviewComment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("start", models.PositiveIntegerField(verbose_name="from character")),
                ("end", models.PositiveIntegerField(verbose_name="to character")),
                ("quote", models.TextField(verbose_name="quoted words")),
                ("digest", models.CharField(max_length=64, verbose_name="hash of the text")),
                ("text", models.TextField(verbose_name="comment")),
                (
                    "answer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="experiments.reviewanswer",
                        verbose_name="answer",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_comments",
                        to="experiments.message",
                        verbose_name="message",
                    ),
                ),
            ],
            options={
                "verbose_name": "comment on words",
                "verbose_name_plural": "comments on words",
                "ordering": ["answer", "message", "start", "id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("end__gt", models.F("start"))), name="a_comment_has_words"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewCorrection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("measure", models.CharField(max_length=60, verbose_name="measure")),
                ("score", models.FloatField(verbose_name="score")),
                ("reason", models.TextField(verbose_name="reason")),
                (
                    "answer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="corrections",
                        to="experiments.reviewanswer",
                        verbose_name="answer",
                    ),
                ),
                (
                    "judgment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="corrections",
                        to="experiments.judgment",
                        verbose_name="judgment",
                    ),
                ),
            ],
            options={
                "verbose_name": "correction of a judge's score",
                "verbose_name_plural": "corrections of judges' scores",
                "ordering": ["answer", "judgment", "measure"],
                "constraints": [
                    models.UniqueConstraint(fields=("answer", "judgment", "measure"), name="one_correction_per_measure")
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewSlot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField(verbose_name="number")),
                ("claimed", models.DateTimeField(blank=True, null=True, verbose_name="taken")),
                ("until", models.DateTimeField(blank=True, null=True, verbose_name="held until")),
                ("answered", models.DateTimeField(blank=True, null=True, verbose_name="answered")),
                ("revealed", models.DateTimeField(blank=True, null=True, verbose_name="revealed")),
                (
                    "answer",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="slot",
                        to="experiments.reviewanswer",
                        verbose_name="answer",
                    ),
                ),
                (
                    "holder",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="slots",
                        to="experiments.reviewitem",
                        verbose_name="item",
                    ),
                ),
            ],
            options={
                "verbose_name": "place at an item",
                "verbose_name_plural": "places at items",
                "ordering": ["item", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("item", "number"), name="one_review_slot_per_number"),
                    models.UniqueConstraint(fields=("item", "holder"), name="one_review_slot_per_person"),
                ],
            },
        ),
        migrations.AddField(
            model_name="Run",
            name="branched_from",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="branches",
                to="experiments.message",
                verbose_name="branched from",
            ),
        ),
        migrations.RunPython(add_words_index, remove_words_index),
    ]
