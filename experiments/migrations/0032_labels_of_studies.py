from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0031_seated_people")]

    operations = [
        migrations.AddField(
            model_name="studylook",
            name="labels",
            field=models.TextField(blank=True, db_default="", verbose_name="labels of people"),
        ),
    ]
