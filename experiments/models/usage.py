"""What the days that are over came to: added up once, so that a usage page need not read every call again."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.catalog import ProviderModel
from experiments.models.experiment import Experiment
from experiments.models.money import MoneyField


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
