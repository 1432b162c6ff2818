"""What is to be tried: a workflow, its configuration and its cast; and unlisted links to read it by."""

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Project, User
from experiments.models.catalog import ProviderModel
from experiments.models.ids import new_id
from experiments.workflows import workflow_of
from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.steps import Cast, Seat


class Visibility(models.TextChoices):
    PRIVATE = "private", _("only me")
    PROJECT = "project", _("the project")
    LAB = "lab", _("the lab")
    PUBLIC = "public", _("everybody")


class ExperimentQuerySet(models.QuerySet["Experiment"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """What a person may look at: their own, their projects', the lab's, and what everybody may see."""
        everybody = Q(visibility=Visibility.PUBLIC)
        if not user.is_active:
            return self.filter(everybody)
        projects = Project.objects.visible_to(user).values("pk")
        of_projects = Q(visibility=Visibility.PROJECT, project__in=projects)
        return self.filter(Q(owner_id=user.pk) | of_projects | Q(visibility=Visibility.LAB) | everybody)

    def changeable_by(self, user: User | AnonymousUser) -> Self:
        """What a person may steer, stop, repeat and judge again: their own, and what their project's members share."""
        if not user.is_active:
            return self.none()
        shared = ~Q(visibility=Visibility.PRIVATE) & Q(project__in=Project.objects.with_share_of(user).values("pk"))
        return self.filter(Q(owner_id=user.pk) | shared)

    def owned_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()


_Experiments = models.Manager.from_queryset(ExperimentQuerySet)


class ExperimentManager(_Experiments["Experiment"]):
    """Those that are not deleted."""

    def get_queryset(self) -> ExperimentQuerySet:
        return ExperimentQuerySet(self.model, using=self._db).filter(deleted__isnull=True)


class Experiment(models.Model):
    """Immutable once created, but for its title and who sees it: its runs are reports of what was configured, so a
    change is a clone.

    project: where it belongs, and whose budget it uses. Its members see it unless it is private. uses_batches: whether
    models are asked by the batch API of their provider, where it has one. deleted: nothing of it is left but whose it
    was, which its calls are counted by.
    """

    Visibility = Visibility

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="experiments", verbose_name=_("owner")
    )
    project = models.ForeignKey(
        Project, models.PROTECT, null=True, blank=True, related_name="experiments", verbose_name=_("project")
    )
    visibility = models.CharField(_("visible to"), max_length=8, choices=Visibility, default=Visibility.PRIVATE)
    workflow = models.CharField(_("workflow"), max_length=20)
    title = models.CharField(_("title"), max_length=200)
    config = models.JSONField(_("configuration"))
    uses_batches = models.BooleanField(_("answers in batches"), default=False, db_default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    deleted = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ExperimentManager()
    with_deleted = models.Manager["Experiment"]()

    class Meta:
        ordering = ["-created"]
        verbose_name = _("experiment")
        verbose_name_plural = _("experiments")
        constraints = [
            models.CheckConstraint(
                condition=~Q(visibility="project") | Q(project__isnull=False), name="only_a_project_is_shared_with"
            )
        ]
        indexes = [models.Index(fields=["visibility", "-created"], name="experiment_visibility")]

    def __str__(self) -> str:
        return self.title

    def cast(self, seed: int) -> Cast:
        """Who is seated, as a workflow sees it: names and personas, and what they could be recognised by."""
        seated = self.participants.select_related("model")
        seats = {p.seat: Seat(p.seat, p.persona, p.model.names) for p in seated}
        people = {p.seat: Seat(p.seat, called=p.names, is_person=True) for p in self.people.select_related("person")}
        return Cast(seats=seats | people, seed=seed)

    @property
    def labels(self) -> dict[str, str]:
        """What the seated models and people are called, by seat."""
        models = {p.seat: p.model.label for p in self.participants.select_related("model")}
        return models | {p.seat: p.called for p in self.people.select_related("person")}

    @property
    def seated(self) -> list[Any]:
        """The participants that are models, then the people (`SeatedPerson`)."""
        return [*self.participants.all(), *self.people.all()]

    @property
    def is_archived(self) -> bool:
        """Whether it has runs and all of them are."""
        archived = self.runs.order_by().values_list("archived", flat=True)
        return bool(archived) and all(archived)

    def parsed_config(self, overrides: JsonObject | None = None) -> Any:
        return workflow_of(self.workflow).config.model_validate({**self.stored_config, **(overrides or {})})

    @property
    def stored_config(self) -> JsonObject:
        """The configuration with every setting that it was stored without, as it was before the setting existed."""
        return {**workflow_of(self.workflow).stored_without, **self.config}


class Participant(models.Model):
    """A model seated in an experiment. People have rows of their own (`SeatedPerson`)."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="participants")
    seat = models.CharField(_("participant"), max_length=40)
    model = models.ForeignKey(ProviderModel, models.PROTECT, related_name="+", verbose_name=_("model"))
    persona = models.CharField(_("persona"), max_length=100, blank=True)
    params = models.JSONField(_("parameters"), default=dict, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["experiment", "seat"], name="one_participant_per_seat")]

    def __str__(self) -> str:
        return f"{self.seat}: {self.model}"


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those of the experiments that a person may change. The text of a link is shown to nobody twice."""
        return self.filter(experiment__in=Experiment.objects.changeable_by(user))

    def open(self) -> Self:
        return self.filter(Q(revoked__isnull=True), expires__gt=Now())


class ShareLink(models.Model):
    """digest: SHA-256 of the secret in its address, which is stored nowhere. hint: how the secret begins."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="links", verbose_name=_("experiment"))
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(_("begins with"), max_length=6, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("made by")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)
    expires = models.DateTimeField(_("expires"))
    revoked = models.DateTimeField(_("revoked"), null=True, blank=True)

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("link")
        verbose_name_plural = _("links")

    def __str__(self) -> str:
        return f"{self.hint}… · {self.experiment}"
