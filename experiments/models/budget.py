"""Hard limits of money and tokens that many runs share, and what the days that are over came to."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Project, User
from experiments.models.catalog import Provider, ProviderModel
from experiments.models.experiment import Experiment
from experiments.models.ids import new_id
from experiments.models.money import MoneyField
from experiments.models.work import Call

SUBJECTS = ("person", "project", "experiment")
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)  # of a budget without a period


def _one_subject() -> Q:
    choices = [Q(**{f"{name}__isnull": name != chosen for name in SUBJECTS}) for chosen in SUBJECTS]
    return choices[0] | choices[1] | choices[2]


class BudgetPeriodKind(models.TextChoices):
    TOTAL = "total", _("in all")
    MONTH = "month", _("a month")
    DAY = "day", _("a day")


class BudgetQuerySet(models.QuerySet["Budget"]):
    def active(self) -> Self:
        return self.filter(active=True)

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """One's own, those of one's projects and of experiments that one may begin runs of; an admin sees all."""
        if not user.is_active:
            return self.none()
        if getattr(user, "role", "") == "admin":
            return self
        projects = Project.objects.visible_to(user).values("pk")
        experiments = Experiment.objects.changeable_by(user).values("pk")
        return self.filter(Q(person_id=user.pk) | Q(project__in=projects) | Q(experiment__in=experiments))

    def applying_to(self, *, person_id: Any, project_id: Any = None, experiment_id: Any = None) -> Self:
        """The active ones that calls of an experiment count against: its own, its project's, its owner's."""
        subject = Q(person_id=person_id)
        if project_id is not None:
            subject |= Q(project_id=project_id)
        if experiment_id is not None:
            subject |= Q(experiment_id=experiment_id)
        return self.active().filter(subject)


class Budget(models.Model):
    """What one person, project or experiment may spend in a period; null: no limit of that kind.

    allows_unknown_prices: calls whose price nobody knows are made, and count no money until their cost is told.
    since: from when on calls are counted one by one. What was spent earlier in the same period is a sum of its own.
    """

    Period = BudgetPeriodKind

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="budgets",
        verbose_name=_("person"),
    )
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, blank=True, related_name="budgets", verbose_name=_("project")
    )
    experiment = models.ForeignKey(
        Experiment, models.CASCADE, null=True, blank=True, related_name="budgets", verbose_name=_("experiment")
    )
    period = models.CharField(_("period"), max_length=5, choices=BudgetPeriodKind, default=BudgetPeriodKind.TOTAL)
    cost_limit = MoneyField(_("US dollars at most"), null=True, blank=True)
    token_limit = models.BigIntegerField(_("tokens at most"), null=True, blank=True)
    allows_unknown_prices = models.BooleanField(_("allow unknown prices"), default=False)
    active = models.BooleanField(_("active"), default=True)
    since = models.DateTimeField(_("counted since"))
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("set by")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = BudgetQuerySet.as_manager()

    class Meta:
        ordering = ["created", "id"]
        verbose_name = _("budget")
        verbose_name_plural = _("budgets")
        constraints = [
            models.CheckConstraint(condition=_one_subject(), name="a_budget_has_one_subject"),
            models.CheckConstraint(
                condition=Q(cost_limit__isnull=False) | Q(token_limit__isnull=False), name="a_budget_limits_something"
            ),
            models.CheckConstraint(
                condition=(Q(cost_limit__isnull=True) | Q(cost_limit__gte=0))
                & (Q(token_limit__isnull=True) | Q(token_limit__gte=0)),
                name="no_budget_below_zero",
            ),
            *(
                models.UniqueConstraint(fields=[name, "period"], name=f"one_budget_of_a_{name}_and_period")
                for name in SUBJECTS
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject} ({self.period})"

    @property
    def kind(self) -> str:
        """Whose it is: person, project or experiment."""
        return next(name for name in SUBJECTS if getattr(self, f"{name}_id") is not None)

    @property
    def subject(self) -> Any:
        return getattr(self, self.kind)

    def begins(self, now: datetime) -> datetime:
        """When the period that holds a moment began; months and days are those of UTC."""
        day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        if self.period == BudgetPeriodKind.TOTAL:
            return BEGINNING
        return day.replace(day=1) if self.period == BudgetPeriodKind.MONTH else day

    def ends(self, now: datetime) -> datetime | None:
        """When the next period starts; None for a budget without a period."""
        if self.period == BudgetPeriodKind.TOTAL:
            return None
        begins = self.begins(now)
        if self.period == BudgetPeriodKind.DAY:
            return begins + timedelta(days=1)
        return (begins + timedelta(days=32)).replace(day=1)


class BudgetPeriod(models.Model):
    """The account of one period. earlier: spent before the budget was there. spent: by calls that have ended, at what
    they cost or, where nobody knows, at what was set aside. reserved: set aside for calls under way.

    The counters are there for the conditional UPDATE that decides whether a call still fits; `manage.py check_budgets`
    proves that they equal the sums over the calls.
    """

    budget = models.ForeignKey(Budget, models.CASCADE, related_name="periods")
    begins = models.DateTimeField(_("begins"))
    cost_earlier = MoneyField(default=Decimal(0))
    cost_spent = MoneyField(default=Decimal(0))
    cost_reserved = MoneyField(default=Decimal(0))
    tokens_earlier = models.BigIntegerField(default=0)
    tokens_spent = models.BigIntegerField(default=0)
    tokens_reserved = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["-begins"]
        verbose_name = _("period of a budget")
        verbose_name_plural = _("periods of budgets")
        constraints = [models.UniqueConstraint(fields=["budget", "begins"], name="each_period_once")]

    def __str__(self) -> str:
        return f"{self.budget_id} {self.begins:%Y-%m-%d}"

    def cost_left(self, limit: Decimal | None) -> Decimal | None:
        """Below zero where an answer has cost more than was set aside for it; None without a limit."""
        return None if limit is None else limit - self.cost_earlier - self.cost_spent - self.cost_reserved

    def tokens_left(self, limit: int | None) -> int | None:
        return None if limit is None else limit - self.tokens_earlier - self.tokens_spent - self.tokens_reserved


class Reservation(models.Model):
    """That a call is counted in a period: set aside while it is under way, spent once it has ended."""

    period = models.ForeignKey(BudgetPeriod, models.CASCADE, related_name="reservations")
    call = models.ForeignKey(Call, models.CASCADE, related_name="reservations")

    class Meta:
        verbose_name = _("reservation")
        verbose_name_plural = _("reservations")
        constraints = [models.UniqueConstraint(fields=["call", "period"], name="each_call_counted_once")]

    def __str__(self) -> str:
        return f"{self.call_id} {self.period_id}"


class UsageDay(models.Model):
    """All calls of one day (UTC), experiment, model and purpose. A day has either all its rows or none.

    cost: what is known. unpriced: ended calls whose cost nobody knows, the lost ones among them; they may have come to
    possible_cost, which was set aside for them.
    """

    day = models.DateField(_("day"))
    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="usage")
    model = models.ForeignKey(ProviderModel, models.PROTECT, related_name="+")
    purpose = models.CharField(_("purpose"), max_length=40)
    calls = models.PositiveIntegerField(_("calls"))
    lost = models.PositiveIntegerField(_("lost calls"))
    unpriced = models.PositiveIntegerField(_("calls at an unknown cost"))
    input_tokens = models.BigIntegerField(_("input tokens"))
    output_tokens = models.BigIntegerField(_("output tokens"))
    cost = MoneyField(_("cost"))
    possible_cost = MoneyField(_("possible cost"))

    class Meta:
        ordering = ["day", "id"]
        verbose_name = _("day of usage")
        verbose_name_plural = _("days of usage")
        indexes = [models.Index(fields=["experiment", "day"], name="usage_of_experiment")]
        constraints = [
            models.UniqueConstraint(fields=["day", "experiment", "model", "purpose"], name="each_usage_once")
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.purpose}"


class BilledDay(models.Model):
    """What a provider says that it billed for a model on a day (UTC), as it names the model."""

    provider = models.ForeignKey(Provider, models.CASCADE, related_name="billed")
    day = models.DateField(_("day"))
    model = models.CharField(_("model"), max_length=200)
    cost = MoneyField(_("cost"))
    fetched = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["day", "id"]
        verbose_name = _("billed day")
        verbose_name_plural = _("billed days")
        constraints = [models.UniqueConstraint(fields=["provider", "day", "model"], name="each_bill_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.model}"
