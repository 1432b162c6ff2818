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
        migrations.AddField(
            model_name="call",
            name="reserved_tokens",
            field=models.PositiveIntegerField(null=True, verbose_name="reserved tokens"),
        ),
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
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="set by",
                    ),
                ),
                (
                    "experiment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to="experiments.experiment",
                        verbose_name="experiment",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to="accounts.project",
                        verbose_name="project",
                    ),
                ),
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
                (
                    "budget",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="periods", to="experiments.budget"
                    ),
                ),
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
                (
                    "call",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reservations", to="experiments.call"
                    ),
                ),
                (
                    "period",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reservations",
                        to="experiments.budgetperiod",
                    ),
                ),
            ],
            options={
                "verbose_name": "reservation",
                "verbose_name_plural": "reservations",
            },
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
    ]
