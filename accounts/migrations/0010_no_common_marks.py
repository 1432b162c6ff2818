from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_reading_of_runs"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(  # the table stays: the release before this one reads it
            state_operations=[migrations.DeleteModel(name="CommonMark")],
        ),
    ]
