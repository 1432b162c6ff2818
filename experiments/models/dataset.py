"""What contestants are compared on: datasets, their samples, and what each contestant made of them."""

from pathlib import Path
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models import shared_files
from experiments.models.catalog import ProviderModel
from experiments.models.ids import new_id
from experiments.models.work import Call


class Image(models.Model):
    """A picture that was checked, kept once under the hash of its bytes. width, height in pixels, size in bytes."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    mime = models.CharField(max_length=40)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveBigIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("image")
        verbose_name_plural = _("images")

    def __str__(self) -> str:
        return self.sha256

    @property
    def path(self) -> Path:
        return Path(settings.IMAGES_DIR) / self.sha256[:2] / self.sha256

    def content(self) -> bytes:
        """The bytes of the picture. Raises FileNotFoundError and Unavailable."""
        return shared_files.here(self.path).read_bytes()


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """What a person may look at: their own, the lab's, and what everybody may see."""
        everybody = models.Q(visibility="public", state="ready")
        if not user.is_active:
            return self.filter(everybody)
        return self.filter(everybody | models.Q(owner_id=user.pk) | models.Q(visibility="lab", state="ready"))

    def owned_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()

    def ready(self) -> Self:
        return self.filter(state="ready")


class Dataset(models.Model):
    """Samples on which contestants are compared. Its samples never change once it is ready.

    source: where it came from, such as a file's name. columns: which column of the source was read as what.
    progress: 0 to 1 while it is read. beat: when whoever reads it was last heard of.
    """

    class Modality(models.TextChoices):
        TEXT = "text", _("text")
        IMAGE = "image", _("image")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be read")
        READING = "reading", _("being read")
        READY = "ready", _("ready")
        REFUSED = "refused", _("refused")

    class Visibility(models.TextChoices):
        PRIVATE = "private", _("only me")
        LAB = "lab", _("the lab")
        PUBLIC = "public", _("everybody")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="datasets", verbose_name=_("owner")
    )
    name = models.CharField(_("name"), max_length=200)
    slug = models.SlugField(_("short name"), max_length=80, unique=True)
    description = models.TextField(_("description"), blank=True)
    modality = models.CharField(_("kind of output"), max_length=8, choices=Modality, default=Modality.TEXT)
    visibility = models.CharField(_("who may see it"), max_length=8, choices=Visibility, default=Visibility.PRIVATE)
    takes_votes = models.BooleanField(
        _("people may vote"),
        default=True,
        help_text=_("Everybody who can see the dataset can compare its outputs without seeing the names."),
    )
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.WAITING)
    refused_reason = models.TextField(_("why it was refused"), blank=True)
    source = models.CharField(_("source"), max_length=300, blank=True)
    columns = models.JSONField(_("columns"), default=dict, blank=True)
    warnings = models.JSONField(_("warnings"), default=list, blank=True)
    progress = models.FloatField(_("progress"), default=0)
    beat = models.DateTimeField(null=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        verbose_name = _("dataset")
        verbose_name_plural = _("datasets")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("dataset", args=[self.slug])

    @property
    def is_ready(self) -> bool:
        return self.state == self.State.READY


class DatasetImage(models.Model):
    """That a picture belongs to a dataset: whoever sees the dataset may see it."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="pictures")
    image = models.ForeignKey(Image, models.PROTECT, related_name="datasets")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["image", "dataset"], name="each_picture_once")]

    def __str__(self) -> str:
        return f"{self.dataset_id}/{self.image_id}"


class Sample(models.Model):
    """One task of a dataset. images: hashes of the pictures that belong to it, in order. category: its kind of task.
    language: of the instruction, as the file calls it; empty where it is not known.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="samples", verbose_name=_("dataset"))
    subset = models.CharField(_("subset"), max_length=100, blank=True)
    index = models.PositiveIntegerField(_("number"))
    category = models.CharField(_("category"), max_length=100, blank=True)
    instruction = models.TextField(_("instruction"))
    images = models.JSONField(_("images"), default=list, blank=True)
    source = models.CharField(_("source"), max_length=200, blank=True)
    language = models.CharField(_("language"), max_length=60, blank=True, default="", db_default="")
    metadata = models.JSONField(_("further fields"), default=dict, blank=True)

    class Meta:
        ordering = ["subset", "index"]
        verbose_name = _("sample")
        verbose_name_plural = _("samples")
        constraints = [models.UniqueConstraint(fields=["dataset", "subset", "index"], name="each_sample_once")]

    def __str__(self) -> str:
        return f"{self.subset}/{self.index}" if self.subset else str(self.index)


class Contestant(models.Model):
    """Somebody whose outputs are compared. model: the provider model that makes them here, where there is one.

    version: the experiment, "name_yyyymmdd", with which it joined. void_reason: why it is left out of ratings.
    variant_of and the five after it: what curators have entered in the register, each empty where nobody has.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="contestants", verbose_name=_("dataset"))
    name = models.CharField(_("name"), max_length=200)
    label = models.CharField(_("shown as"), max_length=200, blank=True)
    link = models.URLField(_("link"), blank=True)
    model = models.ForeignKey(
        ProviderModel, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("model")
    )
    params = models.JSONField(_("parameters"), default=dict, blank=True)
    version = models.CharField(_("version"), max_length=120, blank=True)
    void_reason = models.CharField(_("why it is left out"), max_length=300, blank=True)
    variant_of = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="variants", verbose_name=_("variant of")
    )
    base_model = models.CharField(_("base model"), max_length=200, blank=True, default="", db_default="")
    released = models.DateField(_("date"), null=True, blank=True)
    quantization = models.CharField(_("quantization"), max_length=40, blank=True, default="", db_default="")
    upstream = models.CharField(_("upstream"), max_length=200, blank=True, default="", db_default="")
    prompt = models.TextField(_("system prompt"), max_length=8000, blank=True, default="", db_default="")
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name = _("contestant")
        verbose_name_plural = _("contestants")
        constraints = [models.UniqueConstraint(fields=["dataset", "name"], name="each_contestant_once")]

    def __str__(self) -> str:
        return self.label or self.name


class Output(models.Model):
    """What a contestant made of a sample: a text or an image. call: the call that made it here."""

    sample = models.ForeignKey(Sample, models.CASCADE, related_name="outputs", verbose_name=_("sample"))
    contestant = models.ForeignKey(Contestant, models.CASCADE, related_name="outputs", verbose_name=_("contestant"))
    text = models.TextField(_("text"), blank=True)
    image = models.ForeignKey(Image, models.PROTECT, null=True, related_name="outputs", verbose_name=_("image"))
    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="+")
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["sample", "contestant"]
        verbose_name = _("output")
        verbose_name_plural = _("outputs")
        constraints = [models.UniqueConstraint(fields=["contestant", "sample"], name="each_output_once")]

    def __str__(self) -> str:
        return f"{self.contestant_id}/{self.sample_id}"
