"""Work that waits for a worker: claimed by one at a time, taken up again when that one has died."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.ids import new_id
from experiments.tasks import clock


class WorkState(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    READY = "ready", _("waiting for you")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


OVER = (WorkState.DONE, WorkState.FAILED, WorkState.CANCELLED)


class Waiting(models.Model):
    """attempt rises with every claim: a worker that was frozen writes nothing any more. beat: when its worker was last
    heard of. progress: 0 to 1. error: why it failed, in words for its owner.
    """

    State: ClassVar = WorkState

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("owner"))
    language = models.CharField(_("language"), max_length=16, default="en")
    state = models.CharField(_("state"), max_length=9, choices=WorkState, default=WorkState.QUEUED)
    progress = models.FloatField(_("progress"), default=0)
    error = models.TextField(_("error"), blank=True)
    attempt = models.PositiveSmallIntegerField(default=0, editable=False)
    beat = models.DateTimeField(null=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    started = models.DateTimeField(_("started"), null=True)
    ended = models.DateTimeField(_("ended"), null=True)

    class Meta:
        abstract = True
        ordering = ["-created", "-id"]

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def is_under_way(self) -> bool:
        return self.state in (WorkState.QUEUED, WorkState.RUNNING)

    @property
    def seconds_left(self) -> int | None:
        """As long as the rest takes at the pace so far; None while nothing can be said."""
        if self.state != WorkState.RUNNING or not self.started or self.progress <= 0:
            return None
        so_far = (clock.now() - self.started).total_seconds()
        return max(1, round(so_far / self.progress * (1 - self.progress)))
