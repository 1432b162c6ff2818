"""Files with runs that were recorded elsewhere, and where each run of them comes from."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from experiments.models.dataset import Dataset
from experiments.models.run import Run
from experiments.models.waiting import OVER, Waiting

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


class ImportSource(models.TextChoices):
    OWN = "own", _("Arena Lab")
    INSPECT = "inspect", "Inspect AI"
    ARENA = "arena", "LLM Arena"
    STARCHAMBER = "starchamber", "StarChamber"
    COUNCIL = "council", "LLM Council"
    DEBATE = "debate", "multi-llm-assistant"
    MATRIX = "matrixarena", "MatrixArena"
    GENARENA = "genarena", "GenArena"


class RunImportQuerySet(models.QuerySet["RunImport"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()

    def waiting(self) -> Self:
        return self.exclude(state__in=OVER)


class RunImport(Waiting):
    """A file with runs. source: whose format it is; "" until it is recognised. is_wanted: what is in it shall be
    stored; until then it is only looked through. report: what was found, of `imports.storing.Report`. dataset: what
    battles of it became.
    """

    Source = ImportSource

    name = models.CharField(_("file name"), max_length=300)
    size = models.PositiveBigIntegerField(_("size"))
    sha256 = models.CharField(max_length=64)
    source = models.CharField(_("source"), max_length=12, choices=ImportSource, blank=True)
    is_wanted = models.BooleanField(_("to be stored"), default=False)
    report = models.JSONField(_("report"), default=dict, blank=True)
    dataset = models.ForeignKey(Dataset, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = RunImportQuerySet.as_manager()

    class Meta(Waiting.Meta):
        verbose_name = _("import of runs")
        verbose_name_plural = _("imports of runs")
        indexes = [models.Index(fields=["state", "beat"], name="run_import_claimable")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("run-import-file", args=[self.pk])

    @property
    def folder(self) -> Path:
        return Path(settings.UPLOADS_DIR) / "runs" / str(self.pk)

    @property
    def path(self) -> Path:
        """Who sends a file may not choose where it lies."""
        return self.folder / "file"

    def forget_file(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class ImportedRun(models.Model):
    """Where a run from elsewhere comes from. place: in the file. digest: of what it was made of, so that the same is
    taken over once. notes: what was not taken at its word. kept: what the file says beside what a run can hold.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="imported")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("owner"))
    brought_by = models.ForeignKey(
        RunImport, models.SET_NULL, null=True, blank=True, related_name="brought", verbose_name=_("import of runs")
    )
    source = models.CharField(_("source"), max_length=12, choices=ImportSource)
    file_name = models.CharField(_("file name"), max_length=300, blank=True)
    file_sha256 = models.CharField(_("SHA-256 of the file"), max_length=64)
    place = models.CharField(_("place in the file"), max_length=300, blank=True)
    digest = models.CharField(max_length=64)
    notes = models.JSONField(_("notes"), default=list, blank=True)
    kept = models.JSONField(_("what else the file says"), default=dict, blank=True)

    class Meta:
        verbose_name = _("origin of an imported run")
        verbose_name_plural = _("origins of imported runs")
        constraints = [models.UniqueConstraint(fields=["owner", "digest"], name="the_same_run_once")]

    def __str__(self) -> str:
        return f"{self.get_source_display()} · {self.file_name}"
