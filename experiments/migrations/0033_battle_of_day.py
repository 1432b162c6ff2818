from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0032_labels_of_studies")]

    operations = [
        migrations.AddIndex(
            model_name="battle",
            index=models.Index(fields=["board", "judged"], name="battle_of_day"),
        ),
    ]
