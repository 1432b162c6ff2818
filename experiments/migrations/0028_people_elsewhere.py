from typing import Any

from django.db import migrations, models


def make_people_of_imported_voters(apps: Any, _schema_editor: Any) -> None:
    """Imports used to put the votes of people on a board of a judge; of a dataset that has two of these, the one with
    the name that imports give now.
    """
    boards = apps.get_model("experiments", "Board").objects
    for judge in ("people-elsewhere", "people"):
        for board in boards.filter(kind="imported", judge=judge):
            if not boards.filter(dataset=board.dataset_id, kind="people", judge="people-elsewhere").exists():
                boards.filter(pk=board.pk).update(kind="people", judge="people-elsewhere")


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0027_record_digests_and_bills"),
    ]

    operations = [
        migrations.AddField(
            model_name="logimport",
            name="columns",
            field=models.JSONField(blank=True, db_default={}, default=dict, verbose_name="columns"),
        ),
        migrations.AddField(
            model_name="logimport",
            name="is_dry_run",
            field=models.BooleanField(db_default=False, default=False, verbose_name="check only"),
        ),
        migrations.AddField(
            model_name="sample",
            name="language",
            field=models.CharField(blank=True, db_default="", default="", max_length=60, verbose_name="language"),
        ),
        migrations.AlterField(
            model_name="logimport",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting to be read"),
                    ("reading", "being read"),
                    ("done", "read"),
                    ("refused", "refused"),
                    ("checked", "checked, nothing stored"),
                ],
                default="waiting",
                max_length=8,
                verbose_name="state",
            ),
        ),
        migrations.RunPython(make_people_of_imported_voters, migrations.RunPython.noop),
    ]
