"""Test cases of instruments: what is known of one unit of a transcript, and is expected of every version."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models.ids import new_id
from experiments.models.instruments import Instrument
from experiments.models.run import Run


class CaseQuerySet(models.QuerySet["InstrumentCase"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those of instruments and on runs that one sees."""
        instruments, runs = Instrument.objects.visible_to(user), Run.objects.visible_to(user)
        return self.filter(instrument__in=instruments, run__in=runs)


class InstrumentCase(models.Model):
    """unit, place, subject: which part of the run, as in Annotation. expected: by the names of dimensions, as people
    would answer them (`workflows.base.instruments.answer_of`); a dimension of which nothing is expected is left out.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    instrument = models.ForeignKey(Instrument, models.CASCADE, related_name="cases", verbose_name=_("instrument"))
    run = models.ForeignKey(Run, models.CASCADE, related_name="instrument_cases", verbose_name=_("run"))
    unit = models.CharField(_("unit"), max_length=8)
    place = models.PositiveBigIntegerField(_("place"), default=0)
    subject = models.CharField(_("participant"), max_length=40, blank=True)
    expected = models.JSONField(_("expected values"))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("person"))
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = CaseQuerySet.as_manager()

    class Meta:
        ordering = ["created", "id"]
        verbose_name = _("test case of an instrument")
        verbose_name_plural = _("test cases of instruments")
        constraints = [
            models.UniqueConstraint(
                fields=["instrument", "run", "unit", "place", "subject"], name="one_case_per_unit_of_an_instrument"
            )
        ]

    def __str__(self) -> str:
        return f"{self.unit} {self.place}"
