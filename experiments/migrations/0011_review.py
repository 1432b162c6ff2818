import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import experiments.models.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_people"),
        ("experiments", "0010_sharing"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="FlagDeed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("flag", models.CharField(max_length=40, verbose_name="flag")),
                (
                    "kind",
                    models.CharField(
                        choices=[("set", "set"), ("dismissed", "dismissed")], max_length=12, verbose_name="deed"
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
            ],
            options={
                "verbose_name": "item under review",
                "verbose_name_plural": "items under review",
                "ordering": ["queue", "number"],
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
            ],
            options={
                "verbose_name": "review queue",
                "verbose_name_plural": "review queues",
                "ordering": ["-created", "-id"],
            },
        ),
        migrations.AddField(
            model_name="reviewitem",
            name="queue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="items",
                to="experiments.reviewqueue",
                verbose_name="queue",
            ),
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
            },
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="rubric",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="queues",
                to="experiments.reviewrubric",
                verbose_name="rubric",
            ),
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
                ("approved", models.DateTimeField(blank=True, null=True, verbose_name="approved")),
                ("excluded", models.DateTimeField(blank=True, null=True, verbose_name="left out of ladders")),
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
        migrations.AddConstraint(
            model_name="reviewanswer",
            constraint=models.UniqueConstraint(
                fields=("item", "author", "version"), name="one_review_answer_per_version"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewitem",
            constraint=models.UniqueConstraint(fields=("queue", "subject"), name="once_in_a_queue"),
        ),
        migrations.AddConstraint(
            model_name="reviewitem",
            constraint=models.UniqueConstraint(fields=("queue", "number"), name="one_item_per_number"),
        ),
        migrations.AddConstraint(
            model_name="queuemember",
            constraint=models.UniqueConstraint(fields=("queue", "user"), name="one_place_in_a_queue"),
        ),
        migrations.AddConstraint(
            model_name="reviewrubric",
            constraint=models.UniqueConstraint(fields=("family", "version"), name="one_review_rubric_per_version"),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(("overlap__range", (1, 5))), name="review_people_per_item"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_lab", False), ("project__isnull", True), _connector="OR"),
                name="review_lab_or_project",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewskip",
            constraint=models.UniqueConstraint(fields=("item", "person"), name="skipped_once"),
        ),
        migrations.AddConstraint(
            model_name="reviewslot",
            constraint=models.UniqueConstraint(fields=("item", "number"), name="one_review_slot_per_number"),
        ),
        migrations.AddConstraint(
            model_name="reviewslot",
            constraint=models.UniqueConstraint(fields=("item", "holder"), name="one_review_slot_per_person"),
        ),
        migrations.AddIndex(
            model_name="runreview",
            index=models.Index(fields=["excluded"], name="run_review_excluded"),
        ),
    ]
