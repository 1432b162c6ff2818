from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("experiments", "0008_provider_keys")]
    operations = []
