import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0036_batches")]

    operations = [
        migrations.AlterField(
            model_name="provider",
            name="concurrency",
            field=models.PositiveSmallIntegerField(
                default=100,
                help_text="Of the whole lab; fewer are made while the provider limits us.",
                verbose_name="calls at once per model",
            ),
        ),
        migrations.AddField(
            model_name="provider",
            name="requests_per_minute",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Of the whole lab, in any 60 seconds. Leave it empty for no limit.",
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="requests a minute per model",
            ),
        ),
        migrations.AddField(
            model_name="provider",
            name="tokens_per_minute",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Input and output. Estimated before a call, corrected after it. Empty for no limit.",
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="tokens a minute per model",
            ),
        ),
    ]
