from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("experiments", "0010_sharing")]
    operations = []
