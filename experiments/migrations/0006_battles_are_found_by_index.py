"""Indices with which the battle browser finds its pages, and votes their voters."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0005_datasets_and_battles"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name="battle",
            index=models.Index(fields=["board", "sample", "id"], name="battle_of_sample"),
        ),
        migrations.AddIndex(
            model_name="battle",
            index=models.Index(
                condition=models.Q(("voided__isnull", True)),
                fields=["board", "winner", "is_consistent", "id"],
                name="battle_of_outcome",
            ),
        ),
        migrations.AddIndex(
            model_name="battle",
            index=models.Index(
                condition=models.Q(("voided__isnull", False)), fields=["board", "id"], name="battle_voided"
            ),
        ),
        migrations.AddIndex(
            model_name="battle",
            index=models.Index(
                condition=models.Q(("shown_left_first__isnull", False)), fields=["ballot", "id"], name="vote_of_ballot"
            ),
        ),
        migrations.AddIndex(
            model_name="battle",
            index=models.Index(
                condition=models.Q(("judged__isnull", True), ("shown_left_first__isnull", False)),
                fields=["created"],
                name="vote_not_cast",
            ),
        ),
    ]
