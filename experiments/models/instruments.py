"""Instruments with their versions, and annotations: what a judge or a person found, with citations."""

from typing import Any, NoReturn, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.utils.translation import gettext_lazy as _

from accounts.models import Project, User
from experiments.models.catalog import ProviderModel
from experiments.models.ids import new_id
from experiments.models.reviewed import NeverChanged
from experiments.models.run import Run
from experiments.models.work import Call, Message, Step
from experiments.workflows.base.instruments import Definition

LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 2000


class InstrumentQuerySet(models.QuerySet["Instrument"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those that come with the platform, one's own, those of one's projects, and those shared with the lab."""
        if not user.is_active:
            return self.none()
        of_projects = Q(project__in=Project.objects.visible_to(user).values("pk"))
        return self.filter(Q(owner__isnull=True) | Q(owner_id=user.pk) | of_projects | Q(shared=True))

    def usable_by(self, user: User | AnonymousUser) -> Self:
        """Those that can be chosen: seen and not archived."""
        return self.visible_to(user).filter(archived__isnull=True)

    def changeable_by(self, user: User | AnonymousUser) -> Self:
        """Those that a person may revise and archive: their own, and those of projects in which they have a share."""
        if not user.is_active:
            return self.none()
        of_projects = Q(project__in=Project.objects.with_share_of(user).values("pk"))
        return self.filter(Q(owner_id=user.pk) | of_projects, owner__isnull=False)

    def with_newest(self) -> Self:
        """Adds newest_number and newest_id, those of the newest version."""
        newest = InstrumentVersion.objects.filter(instrument=OuterRef("pk")).order_by("-number")
        return self.annotate(
            newest_number=Subquery(newest.values("number")[:1]), newest_id=Subquery(newest.values("pk")[:1])
        )


class Instrument(models.Model):
    """A judge that people define. What it asks is in its versions; a change is another version.

    owner: null for those that come with the platform or with an installed distribution, which have a `slug`. project:
    whose members see it, and may change it where they have a share. shared: with the lab. archived: no longer offered.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="instruments",
        verbose_name=_("owner"),
    )
    project = models.ForeignKey(
        Project, models.PROTECT, null=True, blank=True, related_name="instruments", verbose_name=_("project")
    )
    shared = models.BooleanField(_("shared with the lab"), default=False)
    slug = models.CharField(max_length=40, blank=True, editable=False)
    title = models.CharField(_("title"), max_length=LONGEST_TITLE)
    description = models.TextField(_("description"), max_length=LONGEST_DESCRIPTION, blank=True)
    archived = models.DateTimeField(_("archived"), null=True, blank=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = InstrumentQuerySet.as_manager()

    class Meta:
        ordering = ["title", "id"]
        verbose_name = _("instrument")
        verbose_name_plural = _("instruments")
        constraints = [
            models.UniqueConstraint(fields=["slug"], condition=~Q(slug=""), name="one_instrument_per_slug"),
            models.CheckConstraint(
                condition=Q(slug="", owner__isnull=False) | (~Q(slug="") & Q(owner__isnull=True)),
                name="an_instrument_is_owned_or_built_in",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_builtin(self) -> bool:
        return self.owner_id is None

    @property
    def newest(self) -> "InstrumentVersion":
        return max(self.versions.all(), key=lambda version: version.number)


class VersionQuerySet(models.QuerySet["InstrumentVersion"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(instrument__in=Instrument.objects.visible_to(user))

    def usable_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(instrument__in=Instrument.objects.usable_by(user))

    def update(self, **kwargs: Any) -> NoReturn:
        raise NeverChanged("A version of an instrument is never changed: a change is another version.")


class InstrumentVersion(models.Model):
    """What an instrument asks. number: from 1. definition: as `workflows.base.instruments.Definition` reads it. digest:
    equal definitions have the same. by: who saved it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    instrument = models.ForeignKey(Instrument, models.PROTECT, related_name="versions", verbose_name=_("instrument"))
    number = models.PositiveIntegerField(_("version"))
    definition = models.JSONField(_("definition"))
    digest = models.CharField(_("hash of the definition"), max_length=64, editable=False)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("person")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = VersionQuerySet.as_manager()

    class Meta:
        ordering = ["instrument", "-number"]
        verbose_name = _("version of an instrument")
        verbose_name_plural = _("versions of instruments")
        constraints = [models.UniqueConstraint(fields=["instrument", "number"], name="one_instrument_per_version")]

    def __str__(self) -> str:
        return f"{self.instrument} v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise NeverChanged("A version of an instrument is never changed: a change is another version.")
        super().save(*args, **kwargs)

    @property
    def parsed(self) -> Definition:
        return Definition.model_validate(self.definition)


class AnnotationQuerySet(models.QuerySet["Annotation"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those on runs that one sees, made by a scan or a judge in a run that one sees too; people's own."""
        runs = Run.objects.visible_to(user)
        by_person = Q(made_in__isnull=True, person__isnull=False, person_id=user.pk)
        return self.filter(Q(made_in__in=runs) | by_person, run__in=runs)

    def newest(self) -> Self:
        """Of each unit, subject and dimension the last one that a judge gave with a version: what was asked for again
        replaces what was there before.
        """
        same = {name: OuterRef(name) for name in ("run", "unit", "place", "subject", "version", "dimension")}
        later = self.model.objects.filter(**same, judge=OuterRef("judge"), made_in__isnull=False)
        return self.filter(Q(person__isnull=False) | Q(pk=Subquery(later.order_by("-pk").values("pk")[:1])))


class Annotation(models.Model):
    """What a judge, or a person, found of one unit of a transcript, in one dimension of an instrument.

    run: whose transcript it is about. unit: `message`, `turn` or `run`; place: its number in the run, that is the `seq`
    of the message, the turn, or 0. subject: the seat that is measured, "" for the unit as a whole. dimension: its name
    in the version's definition. value: number, text, truth value or list of texts, as `instruments.Value`; null where
    none could be used, and `unscored_reason` says why. answered: whether the judge's reply could be read at all. found:
    whether the value says that there is something; null without a value. citations: [{message (id), seq, quote,
    verified}]; is_verified: whether all that had to be quoted stands there word for word; null where nothing had to be.

    judge: what the model is called that judged, with `model`; person: who said it instead. made_in, step, call: where
    it comes from. confidence: 0 to 1. rationale: the judge's notes on the subject.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="annotations", verbose_name=_("run"))
    message = models.ForeignKey(Message, models.CASCADE, null=True, blank=True, related_name="annotations")
    unit = models.CharField(_("unit"), max_length=8)
    place = models.PositiveBigIntegerField(_("place"), default=0)
    turn = models.PositiveIntegerField(_("turn"), null=True, blank=True)
    subject = models.CharField(_("participant"), max_length=40, blank=True)
    version = models.ForeignKey(
        InstrumentVersion, models.PROTECT, related_name="annotations", verbose_name=_("version of an instrument")
    )
    dimension = models.CharField(_("dimension"), max_length=40)
    value = models.JSONField(_("value"), null=True, blank=True)
    unscored_reason = models.CharField(_("why the value is missing"), max_length=500, blank=True)
    answered = models.BooleanField(_("answered"), default=True)
    found = models.BooleanField(_("found something"), null=True, blank=True)
    citations = models.JSONField(_("citations"), default=list, blank=True)
    is_verified = models.BooleanField(_("citations verified"), null=True, blank=True)
    rationale = models.TextField(_("rationale"), blank=True)
    confidence = models.FloatField(_("confidence"), null=True, blank=True)
    judge = models.CharField(_("judge"), max_length=200, blank=True)
    model = models.ForeignKey(ProviderModel, models.PROTECT, null=True, blank=True, related_name="+")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("person")
    )
    made_in = models.ForeignKey(
        Run, models.CASCADE, null=True, blank=True, related_name="annotations_made", verbose_name=_("made in")
    )
    step = models.ForeignKey(Step, models.CASCADE, null=True, blank=True, related_name="annotations")
    call = models.ForeignKey(Call, models.PROTECT, null=True, blank=True, related_name="+")
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name = _("annotation")
        verbose_name_plural = _("annotations")
        constraints = [
            models.UniqueConstraint(fields=["step", "subject", "dimension"], name="each_annotation_once"),
            models.CheckConstraint(
                condition=Q(person__isnull=False) | Q(made_in__isnull=False), name="an_annotation_has_an_author"
            ),
        ]
        indexes = [
            models.Index(fields=["version", "run", "unit", "place"], name="annotation_of_unit"),
            models.Index(fields=["run", "dimension"], name="annotation_of_run"),
        ]

    def __str__(self) -> str:
        return f"{self.dimension} {self.unit} {self.place}"
