from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

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
    dependencies = [
        ("experiments", "0012_webhooks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["-created", "-id"], name="run_newest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["state", "-created"], name="run_in_state"),
        ),
        migrations.RunPython(add_words_index, remove_words_index, elidable=False),
    ]
