import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0033_battle_of_day")]

    operations = [
        migrations.AddField(
            model_name="contestant",
            name="variant_of",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="variants",
                to="experiments.contestant",
                verbose_name="variant of",
            ),
        ),
        migrations.AddField(
            model_name="contestant",
            name="base_model",
            field=models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="base model"),
        ),
        migrations.AddField(
            model_name="contestant",
            name="released",
            field=models.DateField(blank=True, null=True, verbose_name="date"),
        ),
        migrations.AddField(
            model_name="contestant",
            name="quantization",
            field=models.CharField(blank=True, db_default="", default="", max_length=40, verbose_name="quantization"),
        ),
        migrations.AddField(
            model_name="contestant",
            name="upstream",
            field=models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="upstream"),
        ),
        migrations.AddField(
            model_name="contestant",
            name="prompt",
            field=models.TextField(
                blank=True, db_default="", default="", max_length=8000, verbose_name="system prompt"
            ),
        ),
    ]
