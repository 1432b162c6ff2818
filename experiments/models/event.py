"""Durable, numbered facts about a run."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.run import Run

ENVELOPE_VERSION = 1


class Event(models.Model):
    """Written in the transaction that makes it true. seq starts at 1 and has no gap."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()
    type = models.CharField(_("type"), max_length=40)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(_("at"))

    class Meta:
        ordering = ["seq"]
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="event_order")]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"

    @property
    def envelope(self) -> dict[str, Any]:
        """The event as it travels: {v, run, seq, type, data, at}."""
        return {
            "v": ENVELOPE_VERSION,
            "run": str(self.run_id),
            "seq": self.seq,
            "type": self.type,
            "data": self.data,
            "at": self.at.isoformat(),
        }
