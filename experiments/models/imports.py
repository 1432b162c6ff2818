"""Files that people have sent: datasets, logs of battles, and runs that were recorded elsewhere."""

import shutil
from pathlib import Path
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models import shared_files
from experiments.models.dataset import Dataset
from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.models.waiting import OVER, Claimable, Waiting


class SentFile(models.Model):
    """A file that somebody has sent, in a folder of its own as long as it is needed."""

    FOLDER: ClassVar[str] = ""  # within UPLOADS_DIR, of all files of this kind
    FILE: ClassVar[str] = "file"

    class Meta:
        abstract = True

    @property
    def folder(self) -> Path:
        return Path(settings.UPLOADS_DIR) / self.FOLDER / str(self.pk)

    @property
    def path(self) -> Path:
        """Who sends a file may not choose where it lies."""
        return self.folder / self.FILE

    def forget_file(self) -> None:
        shared_files.forget(self.path)
        shutil.rmtree(self.folder, ignore_errors=True)


class UploadQuerySet(models.QuerySet["Upload"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()


class Upload(SentFile, Claimable):
    """A file of samples, or of contestants' outputs for a dataset that is there.

    KEPT until its owner has said how it is to be read (`asked`). found: what was in it.
    """

    class Kind(models.TextChoices):
        SAMPLES = "samples", _("samples")
        OUTPUTS = "outputs", _("outputs")

    class State(models.TextChoices):
        KEPT = "kept", _("uploaded")
        WAITING = "waiting", _("waiting to be read")
        READING = "reading", _("being read")
        DONE = "done", _("read")
        REFUSED = "refused", _("refused")

    QUEUED = State.WAITING
    RUNNING = State.READING
    FAILED = State.REFUSED
    REASON = "refused_reason"
    LEASE = "DATASET_LEASE_SECONDS"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="uploads", verbose_name=_("owner"))
    dataset = models.ForeignKey(Dataset, models.CASCADE, null=True, related_name="uploads", verbose_name=_("dataset"))
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    name = models.CharField(_("file name"), max_length=300)
    size = models.PositiveBigIntegerField(_("size"))
    asked = models.JSONField(default=dict, blank=True)
    found = models.JSONField(default=dict, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.KEPT)
    refused_reason = models.TextField(_("why it was refused"), blank=True)

    objects = UploadQuerySet.as_manager()

    class Meta(Claimable.Meta):
        verbose_name = _("upload")
        verbose_name_plural = _("uploads")
        indexes = [models.Index(fields=["state", "beat"], name="upload_claimable")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Of the dataset that it became or belongs to; without one, of the page that says what is in the file."""
        return self.dataset.get_absolute_url() if self.dataset else reverse("dataset-upload", args=[self.pk])

    @property
    def path(self) -> Path:
        """Where the file is. Complaints about what is in it name it, so it keeps its name."""
        return self.folder / self.name

    @property
    def language(self) -> str:
        return self.owner.language or settings.LANGUAGE_CODE

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.DONE, self.State.REFUSED}


class LogImportQuerySet(models.QuerySet["LogImport"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Whoever sent it, as long as they may see the dataset."""
        rows = self.filter(dataset__in=Dataset.objects.visible_to(user))
        return rows.filter(owner_id=user.pk) if user.is_active else rows.none()


class LogImport(SentFile):
    """A file with battles that were judged elsewhere, for a dataset. judge, subset: of logs that name none. columns:
    which column is what, by `logs.columns.PARTS`. is_dry_run: read and reported, then CHECKED until it is to be stored.

    attempt rises with every claim: a worker that was frozen writes nothing any more. report: `logs.records.Report`, as
    far as it is read. refused_reason: why it could not be read to its end.
    """

    FOLDER = "logs"
    FILE = "log"

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be read")
        READING = "reading", _("being read")
        DONE = "done", _("read")
        REFUSED = "refused", _("refused")
        CHECKED = "checked", _("checked, nothing stored")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="log_imports", verbose_name=_("dataset"))
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("owner"))
    name = models.CharField(_("file name"), max_length=300)
    size = models.PositiveBigIntegerField(_("size"))
    judge = models.CharField(_("judge"), max_length=200, blank=True)
    subset = models.CharField(_("subset"), max_length=100, blank=True)
    keep_partial = models.BooleanField(
        _("import the valid lines even if some are refused"), default=False, db_default=False
    )
    columns = models.JSONField(_("columns"), default=dict, db_default={}, blank=True)
    is_dry_run = models.BooleanField(_("check only"), default=False, db_default=False)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.WAITING)
    report = models.JSONField(_("report"), default=dict, blank=True)
    refused_reason = models.TextField(_("why it was refused"), blank=True)
    attempt = models.PositiveSmallIntegerField(default=0, editable=False)
    beat = models.DateTimeField(null=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    ended = models.DateTimeField(_("ended"), null=True)

    objects = LogImportQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("import of logs")
        verbose_name_plural = _("imports of logs")
        indexes = [models.Index(fields=["state", "beat"], name="log_import_claimable")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("log-import", args=[self.dataset.slug, self.pk])

    @property
    def is_over(self) -> bool:
        """Whether nothing more becomes of it by itself."""
        return self.state in {self.State.DONE, self.State.REFUSED, self.State.CHECKED}


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
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()

    def waiting(self) -> Self:
        return self.exclude(state__in=OVER)


class RunImport(SentFile, Waiting):
    """A file with runs. source: whose format it is; "" until it is recognised. is_wanted: what is in it shall be
    stored; until then it is only looked through. report: what was found, of `imports.storing.Report`. dataset: what
    battles of it became.
    """

    FOLDER = "runs"
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
