"""Files that a worker makes, because they take longer than somebody waits for a page: of one run, and of many."""

from pathlib import Path
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models.run import Run
from experiments.models.waiting import OVER, Waiting


class ExportQuerySet(models.QuerySet["Export"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """A file is its maker's, as long as they may look at the run."""
        if not user.is_active:
            return self.none()
        return self.filter(owner_id=user.pk, run__in=Run.objects.visible_to(user))


class Export(Waiting):
    """A file of a run as it was when it had `last_seq` events. The same file is made once, unless making it failed."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    run = models.ForeignKey(Run, models.CASCADE, related_name="exports", verbose_name=_("run"))
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="exports", verbose_name=_("owner"))
    format = models.CharField(_("format"), max_length=12)
    language = models.CharField(_("language"), max_length=16)
    last_seq = models.PositiveBigIntegerField()
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.QUEUED)
    name = models.CharField(_("file name"), max_length=200, blank=True)
    size = models.PositiveBigIntegerField(_("size"), null=True)

    objects = ExportQuerySet.as_manager()

    class Meta(Waiting.Meta):
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
    def path(self) -> Path:
        """Where the file is once it is done; who may write there may not choose its name."""
        return Path(settings.EXPORTS_DIR) / str(self.pk)


LOOKED_UP_AT_ONCE = 400


class BulkExportQuerySet(models.QuerySet["BulkExport"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()

    def waiting(self) -> Self:
        return self.exclude(state__in=OVER)


class BulkExport(Waiting):
    """asked: how the runs were chosen, in words of the API. runs: their ids then. manifest: what the file holds, with
    counts and the SHA-256 of each part; empty until it is done. left_out: runs that its owner could not see any more.
    """

    format = models.CharField(_("format"), max_length=12)
    asked = models.JSONField(_("selection"), default=dict)
    runs = models.JSONField(_("runs"), default=list, editable=False)
    run_count = models.PositiveIntegerField(_("runs"), default=0)
    left_out = models.PositiveIntegerField(_("left out"), default=0)
    name = models.CharField(_("file name"), max_length=200, blank=True)
    size = models.PositiveBigIntegerField(_("size"), null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    manifest = models.JSONField(_("manifest"), default=dict, blank=True)

    objects = BulkExportQuerySet.as_manager()

    class Meta(Waiting.Meta):
        verbose_name = _("bulk export")
        verbose_name_plural = _("bulk exports")
        indexes = [models.Index(fields=["state", "beat"], name="bulk_export_claimable")]

    def __str__(self) -> str:
        return self.name or str(self.pk)

    def get_absolute_url(self) -> str:
        return reverse("bulk-export", args=[self.pk])

    @property
    def path(self) -> Path:
        """Where the file is once it is done; who may write there may not choose its name."""
        return Path(settings.EXPORTS_DIR) / "bulk" / str(self.pk)

    def may_still_be_read(self) -> bool:
        """Whether its owner may look at every run that is in it, now as then."""
        return len(self.still_visible()) == self.run_count - self.left_out

    def still_visible(self) -> list[str]:
        """The ids of those of its runs that the owner may see, in the order of the choice."""
        seen: set[str] = set()
        for start in range(0, len(self.runs), LOOKED_UP_AT_ONCE):
            some = self.runs[start : start + LOOKED_UP_AT_ONCE]
            rows = Run.objects.visible_to(self.owner).filter(pk__in=some)
            seen.update(str(pk) for pk in rows.order_by().values_list("pk", flat=True))
        return [pk for pk in self.runs if pk in seen]
