from decimal import Decimal

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import experiments.models.ids
import experiments.models.money


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_projects_and_audit"),
        ("experiments", "0008_provider_keys"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Budget",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=experiments.models.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "period",
                    models.CharField(
                        choices=[("total", "in all"), ("month", "a month"), ("day", "a day")],
                        default="total",
                        max_length=5,
                        verbose_name="period",
                    ),
                ),
                (
                    "cost_limit",
                    experiments.models.money.MoneyField(blank=True, null=True, verbose_name="US dollars at most"),
                ),
                ("token_limit", models.BigIntegerField(blank=True, null=True, verbose_name="tokens at most")),
                ("allows_unknown_prices", models.BooleanField(default=False, verbose_name="allow unknown prices")),
                ("active", models.BooleanField(default=True, verbose_name="active")),
                ("since", models.DateTimeField(verbose_name="counted since")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
            ],
            options={
                "verbose_name": "budget",
                "verbose_name_plural": "budgets",
                "ordering": ["created", "id"],
            },
        ),
        migrations.CreateModel(
            name="BudgetPeriod",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("begins", models.DateTimeField(verbose_name="begins")),
                ("cost_earlier", experiments.models.money.MoneyField(default=Decimal("0"))),
                ("cost_spent", experiments.models.money.MoneyField(default=Decimal("0"))),
                ("cost_reserved", experiments.models.money.MoneyField(default=Decimal("0"))),
                ("tokens_earlier", models.BigIntegerField(default=0)),
                ("tokens_spent", models.BigIntegerField(default=0)),
                ("tokens_reserved", models.BigIntegerField(default=0)),
            ],
            options={
                "verbose_name": "period of a budget",
                "verbose_name_plural": "periods of budgets",
                "ordering": ["-begins"],
            },
        ),
        migrations.CreateModel(
            name="Reservation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ],
            options={
                "verbose_name": "reservation",
                "verbose_name_plural": "reservations",
            },
        ),
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(verbose_name="day")),
                ("purpose", models.CharField(max_length=40, verbose_name="purpose")),
                ("calls", models.PositiveIntegerField(verbose_name="calls")),
                ("lost", models.PositiveIntegerField(verbose_name="lost calls")),
                ("unpriced", models.PositiveIntegerField(verbose_name="calls at an unknown cost")),
                ("input_tokens", models.BigIntegerField(verbose_name="input tokens")),
                ("output_tokens", models.BigIntegerField(verbose_name="output tokens")),
                ("cost", experiments.models.money.MoneyField(verbose_name="cost")),
                ("possible_cost", experiments.models.money.MoneyField(verbose_name="possible cost")),
            ],
            options={
                "verbose_name": "day of usage",
                "verbose_name_plural": "days of usage",
                "ordering": ["day", "id"],
            },
        ),
        migrations.AddField(
            model_name="call",
            name="reserved_tokens",
            field=models.PositiveIntegerField(null=True, verbose_name="reserved tokens"),
        ),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(fields=["sent"], name="call_sent"),
        ),
        migrations.AddField(
            model_name="budget",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="set by",
            ),
        ),
        migrations.AddField(
            model_name="budget",
            name="experiment",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="budgets",
                to="experiments.experiment",
                verbose_name="experiment",
            ),
        ),
        migrations.AddField(
            model_name="budget",
            name="person",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="budgets",
                to=settings.AUTH_USER_MODEL,
                verbose_name="person",
            ),
        ),
        migrations.AddField(
            model_name="budget",
            name="project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="budgets",
                to="accounts.project",
                verbose_name="project",
            ),
        ),
        migrations.AddField(
            model_name="budgetperiod",
            name="budget",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="periods", to="experiments.budget"
            ),
        ),
        migrations.AddField(
            model_name="reservation",
            name="call",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="reservations", to="experiments.call"
            ),
        ),
        migrations.AddField(
            model_name="reservation",
            name="period",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="reservations", to="experiments.budgetperiod"
            ),
        ),
        migrations.AddField(
            model_name="usageday",
            name="experiment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="usage", to="experiments.experiment"
            ),
        ),
        migrations.AddField(
            model_name="usageday",
            name="model",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="experiments.providermodel"
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("experiment__isnull", True), ("person__isnull", False), ("project__isnull", True)),
                    models.Q(("experiment__isnull", True), ("person__isnull", True), ("project__isnull", False)),
                    models.Q(("experiment__isnull", False), ("person__isnull", True), ("project__isnull", True)),
                    _connector="OR",
                ),
                name="a_budget_has_one_subject",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
                condition=models.Q(("cost_limit__isnull", False), ("token_limit__isnull", False), _connector="OR"),
                name="a_budget_limits_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("cost_limit__isnull", True), ("cost_limit__gte", 0), _connector="OR"),
                    models.Q(("token_limit__isnull", True), ("token_limit__gte", 0), _connector="OR"),
                ),
                name="no_budget_below_zero",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(fields=("person", "period"), name="one_budget_of_a_person_and_period"),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(fields=("project", "period"), name="one_budget_of_a_project_and_period"),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(
                fields=("experiment", "period"), name="one_budget_of_a_experiment_and_period"
            ),
        ),
        migrations.AddConstraint(
            model_name="budgetperiod",
            constraint=models.UniqueConstraint(fields=("budget", "begins"), name="each_period_once"),
        ),
        migrations.AddConstraint(
            model_name="reservation",
            constraint=models.UniqueConstraint(fields=("call", "period"), name="each_call_counted_once"),
        ),
        migrations.AddIndex(
            model_name="usageday",
            index=models.Index(fields=["experiment", "day"], name="usage_of_experiment"),
        ),
        migrations.AddConstraint(
            model_name="usageday",
            constraint=models.UniqueConstraint(
                fields=("day", "experiment", "model", "purpose"), name="each_usage_once"
            ),
        ),
    ]
