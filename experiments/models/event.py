"""Durable, numbered facts about a run."""

from typing import TypedDict

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.run import Run
from experiments.workflows.base.events import JsonObject

ENVELOPE_VERSION = 1


class Envelope(TypedDict):
    """An event as it travels. data: of the class of its type."""

    v: int
    run: str
    seq: int
    type: str
    data: JsonObject
    at: str


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
    def envelope(self) -> Envelope:
        return {
            "v": ENVELOPE_VERSION,
            "run": str(self.run_id),
            "seq": self.seq,
            "type": self.type,
            "data": self.data,
            "at": self.at.isoformat(),
        }
