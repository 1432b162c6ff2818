"""Work that waits for a worker: claimed by one at a time, taken up again when that one has died."""

from typing import Any, ClassVar

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


class Claimable(models.Model):
    """What one worker at a time does (`experiments.tasks.waiting`). attempt rises with every claim: a worker that was
    frozen writes nothing any more. beat: when its worker was last heard of. progress: 0 to 1.

    QUEUED, RUNNING, FAILED: values of `state`. REASON: the column that says why it failed, in the owner's language.
    LEASE: the setting that says after how many seconds without a heartbeat a worker counts as dead. language: of its
    owner.
    """

    QUEUED: ClassVar[str]
    RUNNING: ClassVar[str]
    FAILED: ClassVar[str]
    REASON: ClassVar[str]
    LEASE: ClassVar[str] = "EXPORT_LEASE_SECONDS"
    state: Any
    language: Any

    progress = models.FloatField(_("progress"), default=0)
    attempt = models.PositiveSmallIntegerField(default=0, editable=False)
    beat = models.DateTimeField(null=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    started = models.DateTimeField(_("started"), null=True)
    ended = models.DateTimeField(_("ended"), null=True)

    class Meta:
        abstract = True
        ordering = ["-created", "-id"]

    @classmethod
    def lease_seconds(cls) -> float:
        return float(getattr(settings, cls.LEASE))

    @property
    def seconds_left(self) -> int | None:
        """As long as the rest takes at the pace so far; None while nothing can be said."""
        if self.state != self.RUNNING or not self.started or self.progress <= 0:
            return None
        so_far = (clock.now() - self.started).total_seconds()
        return max(1, round(so_far / self.progress * (1 - self.progress)))


class Waiting(Claimable):
    """A file that a worker makes or reads for somebody. error: why it failed, in words for its owner."""

    State: ClassVar = WorkState
    QUEUED = WorkState.QUEUED
    RUNNING = WorkState.RUNNING
    FAILED = WorkState.FAILED
    REASON = "error"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("owner"))
    language = models.CharField(_("language"), max_length=16, default="en")
    state = models.CharField(_("state"), max_length=9, choices=WorkState, default=WorkState.QUEUED)
    error = models.TextField(_("error"), blank=True)

    class Meta(Claimable.Meta):
        abstract = True

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def is_under_way(self) -> bool:
        return self.state in (WorkState.QUEUED, WorkState.RUNNING)
