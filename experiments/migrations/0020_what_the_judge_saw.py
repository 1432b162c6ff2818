"""What the judge was shown is stored with its scores."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0019_keep_partial_of_log_imports")]

    operations = [
        migrations.AddField(
            model_name="judgment",
            name="saw",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
                verbose_name="what the judge saw",
            ),
        ),
    ]
