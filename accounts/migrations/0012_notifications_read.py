from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0011_wording"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="notifications_read",
            field=models.DateTimeField(blank=True, editable=False, null=True, verbose_name="notifications read"),
        ),
    ]
