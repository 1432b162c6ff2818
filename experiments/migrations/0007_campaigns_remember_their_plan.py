"""A campaign keeps what is left to share out; its progress is read from an index."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0006_battles_are_found_by_index")]

    operations = [
        migrations.AddField("campaign", "plan", models.JSONField(default=dict, editable=False)),
        migrations.AddField("campaign", "cursor", models.JSONField(default=dict, editable=False)),
        migrations.AddField("campaign", "edition", models.PositiveIntegerField(default=0, editable=False)),
        migrations.AddIndex(
            "battle",
            models.Index(fields=["experiment", "judged", "winner", "is_consistent"], name="battle_of_experiment"),
        ),
    ]
