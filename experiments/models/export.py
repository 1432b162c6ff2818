"""Files of runs that a worker makes, because they take longer than somebody waits for a page."""

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from experiments.models.ids import new_id
from experiments.models.run import Run

if TYPE_CHECKING:
    from pathlib import Path

    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


class ExportQuerySet(models.QuerySet["Export"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """A file is its maker's, as long as they may look at the run."""
        if not user.is_active:
            return self.none()
        return self.filter(owner_id=user.pk, run__in=Run.objects.visible_to(user))


class Export(models.Model):
    """A file of a run as it was when it had `last_seq` events. The same file is made once, unless making it failed.

    attempt rises with every claim: a worker that was frozen writes nothing any more. beat: when its worker was last
    heard of. progress: 0 to 1.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="exports", verbose_name=_("run"))
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="exports", verbose_name=_("owner"))
    format = models.CharField(_("format"), max_length=12)
    language = models.CharField(_("language"), max_length=16)
    last_seq = models.PositiveBigIntegerField()
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.QUEUED)
    progress = models.FloatField(_("progress"), default=0)
    name = models.CharField(_("file name"), max_length=200, blank=True)
    size = models.PositiveBigIntegerField(_("size"), null=True)
    error = models.TextField(_("error"), blank=True)
    attempt = models.PositiveSmallIntegerField(default=0, editable=False)
    beat = models.DateTimeField(null=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    started = models.DateTimeField(_("started"), null=True)
    ended = models.DateTimeField(_("ended"), null=True)

    objects = ExportQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("file of a run")
        verbose_name_plural = _("files of runs")
        constraints = [
            models.UniqueConstraint(
                fields=["run", "format", "last_seq", "owner", "language"],
                condition=~models.Q(state="failed"),
                name="the_same_file_once",
            )
        ]
        indexes = [models.Index(fields=["state", "beat"], name="export_claimable")]

    def __str__(self) -> str:
        return f"{self.run_id}.{self.format}"

    def get_absolute_url(self) -> str:
        return reverse("file", args=[self.pk])

    @property
    def path(self) -> "Path":
        """Where the file is once it is done; who may write there may not choose its name."""
        directory: Path = settings.EXPORTS_DIR
        return directory / str(self.pk)

    @property
    def is_over(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED)
