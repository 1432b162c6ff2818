from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("experiments", "0007_visibility")]
    operations = []
