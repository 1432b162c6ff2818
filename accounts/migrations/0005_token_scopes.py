"""Tokens are limited in scope, and say when they were last used. Those that are there keep what they could do."""

from django.db import migrations, models

import accounts.scopes


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_people")]

    operations = [
        migrations.AddField(
            "apitoken", "scopes", models.JSONField(default=accounts.scopes.all_scopes, verbose_name="scopes")
        ),
        migrations.AddField(
            "apitoken", "last_used", models.DateTimeField(blank=True, null=True, verbose_name="last used")
        ),
        migrations.AddField(
            "apitoken", "last_address", models.GenericIPAddressField(blank=True, null=True, verbose_name="from")
        ),
    ]
