import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import experiments.models.ids


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0007_visibility"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="provider",
            name="needs_key",
            field=models.BooleanField(
                default=False,
                help_text="Whether calls without a key are refused, so that none are made.",
                verbose_name="needs a key",
            ),
        ),
        migrations.AlterField(
            model_name="provider",
            name="api_key_env",
            field=models.CharField(
                blank=True,
                help_text="Used where nobody has entered a key. With a name here, a key is needed.",
                max_length=100,
                verbose_name="environment variable of the key",
            ),
        ),
        migrations.CreateModel(
            name="ProviderKey",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=100, verbose_name="name")),
                ("ciphertext", models.TextField(blank=True, editable=False)),
                ("hint", models.CharField(blank=True, editable=False, max_length=4, verbose_name="ends with")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("last_used", models.DateTimeField(editable=False, null=True, verbose_name="last used")),
                ("is_active", models.BooleanField(default=True, verbose_name="in use")),
                ("tested", models.DateTimeField(editable=False, null=True, verbose_name="tested")),
                ("test_outcome", models.CharField(blank=True, editable=False, max_length=16, verbose_name="test")),
                (
                    "test_words",
                    models.CharField(blank=True, editable=False, max_length=400, verbose_name="what the provider said"),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="entered by",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="provider_keys",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "provider",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="keys",
                        to="experiments.provider",
                        verbose_name="provider",
                    ),
                ),
            ],
            options={
                "verbose_name": "provider key",
                "verbose_name_plural": "provider keys",
                "ordering": ["provider__name", "created"],
            },
        ),
        migrations.CreateModel(
            name="KeyUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="experiments.run"
                    ),
                ),
                (
                    "key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="uses", to="experiments.providerkey"
                    ),
                ),
            ],
            options={
                "verbose_name": "use of a provider key",
                "verbose_name_plural": "uses of provider keys",
            },
        ),
        migrations.AddConstraint(
            model_name="providerkey",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_active", True), ("owner__isnull", False)),
                fields=("provider", "owner"),
                name="one_active_key_of_a_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="providerkey",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_active", True), ("owner__isnull", True)),
                fields=("provider",),
                name="one_active_key_of_the_lab",
            ),
        ),
        migrations.AddConstraint(
            model_name="providerkey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("is_active", True), models.Q(("ciphertext", ""), _negated=True)),
                    models.Q(("ciphertext", ""), ("is_active", False)),
                    _connector="OR",
                ),
                name="only_a_key_in_use_is_kept",
            ),
        ),
        migrations.AddConstraint(
            model_name="keyuse",
            constraint=models.UniqueConstraint(fields=("key", "run", "day"), name="one_use_a_day"),
        ),
    ]
