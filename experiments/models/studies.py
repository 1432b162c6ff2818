"""Studies: their design, the plan as it was locked and amended, conditions, planned runs, and looks at results."""

from typing import Any, NoReturn, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import Project, User
from experiments.models.experiment import Experiment
from experiments.models.ids import new_id
from experiments.models.reviewed import NeverChanged
from experiments.models.run import LIVE_STATES, Run


class StudyQuerySet(models.QuerySet["Study"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """One's own, and those of one's projects."""
        if not user.is_active:
            return self.none()
        return self.filter(Q(owner_id=user.pk) | Q(project__in=Project.objects.visible_to(user).values("pk")))

    def changeable_by(self, user: User | AnonymousUser) -> Self:
        """One's own, and those of projects in which one has a share."""
        if not user.is_active:
            return self.none()
        return self.filter(Q(owner_id=user.pk) | Q(project__in=Project.objects.with_share_of(user).values("pk")))

    def with_counts(self) -> Self:
        """Adds planned, begun and ended_runs: how many planned runs there are, have begun, and have ended. They are
        counted apart: joined with them, what else is asked of a study would be found once for each planned run.
        """
        runs = StudyRun.objects.filter(study=models.OuterRef("pk")).order_by().values("study")
        begun = Q(run__isnull=False)
        counted = {"planned": Q(), "begun": begun, "ended_runs": begun & ~Q(run__state__in=LIVE_STATES)}
        return self.annotate(
            **{
                name: Coalesce(models.Subquery(runs.annotate(n=models.Count("pk", filter=which)).values("n")), 0)
                for name, which in counted.items()
            }
        )


class StudyState(models.TextChoices):
    DRAFT = "draft", _("draft")
    LOCKED = "locked", _("locked")
    RUNNING = "running", _("running")
    PAUSED = "paused", _("paused")
    STOPPED = "stopped", _("stopped")
    COMPLETED = "completed", _("completed")


class Study(models.Model):
    """A designed set of runs. design: as `studies.design.Design` reads it; plan: the draft of `studies.plan.Plan`,
    until it is locked. at_once: how many of its runs are queued or under way at a time. cost_limit: US dollars after
    which no further run begins. note: why it is paused.
    """

    State = StudyState

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="studies", verbose_name=_("owner"))
    project = models.ForeignKey(
        Project, models.PROTECT, null=True, blank=True, related_name="studies", verbose_name=_("project")
    )
    title = models.CharField(_("title"), max_length=200)
    design = models.JSONField(_("design"))
    plan = models.JSONField(_("plan"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=12, choices=StudyState, default=StudyState.DRAFT)
    note = models.CharField(_("note"), max_length=500, blank=True)
    at_once = models.PositiveIntegerField(_("runs at once"), default=10)
    cost_limit = models.DecimalField(_("cost limit"), max_digits=12, decimal_places=4, null=True, blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    started = models.DateTimeField(_("started"), null=True, blank=True, editable=False)
    ended = models.DateTimeField(_("ended"), null=True, blank=True, editable=False)

    objects = StudyQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("study")
        verbose_name_plural = _("studies")

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("study", args=[self.pk])

    @property
    def locked(self) -> "StudyPlan | None":
        """The plan as it was locked; None before."""
        return self.plans.filter(number=1).first()

    @property
    def newest_plan(self) -> "StudyPlan | None":
        """The plan with all amendments; None before it was locked."""
        return self.plans.order_by("-number").first()


class AppendOnly(models.QuerySet[Any]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise NeverChanged("What was locked or seen of a study is never changed.")


class Unchanging(models.Model):
    objects = AppendOnly.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise NeverChanged("What was locked or seen of a study is never changed.")
        super().save(*args, **kwargs)


class StudyPlan(Unchanging):
    """The plan as it was locked (number 1), and each amendment after it, whole. digest: of the content. reason: of an
    amendment. runs_seen: how many runs had ended by then.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="plans")
    number = models.PositiveIntegerField(_("number"))
    content = models.JSONField(_("plan"))
    digest = models.CharField(_("hash of the plan"), max_length=64)
    reason = models.TextField(_("reason"), blank=True)
    runs_seen = models.PositiveIntegerField(_("runs that had ended"), default=0)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("person"))
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["study", "number"]
        verbose_name = _("plan of a study")
        verbose_name_plural = _("plans of studies")
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="each_plan_once")]

    def __str__(self) -> str:
        return f"{self.study} · {self.number}"


class StudyCondition(models.Model):
    """One combination of levels. levels: by factor. experiment: what is played for it, once the study has begun."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="conditions")
    number = models.PositiveIntegerField(_("number"))
    levels = models.JSONField(_("levels"))
    experiment = models.OneToOneField(
        Experiment, models.PROTECT, related_name="condition", verbose_name=_("experiment")
    )

    class Meta:
        ordering = ["study", "number"]
        verbose_name = _("condition of a study")
        verbose_name_plural = _("conditions of studies")
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="each_condition_once")]

    def __str__(self) -> str:
        return ", ".join(map(str, self.levels.values()))


class StudyRun(models.Model):
    """A run as it was planned. number: its place in the random order. run: None until it is its turn."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="planned_runs")
    condition = models.ForeignKey(StudyCondition, models.CASCADE, related_name="planned_runs")
    number = models.PositiveIntegerField(_("number"))
    repeat = models.PositiveIntegerField(_("repeat"))
    seed = models.BigIntegerField(_("seed"))
    run = models.OneToOneField(
        Run, models.PROTECT, null=True, blank=True, related_name="planned", verbose_name=_("run")
    )

    class Meta:
        ordering = ["study", "number"]
        verbose_name = _("run of a study")
        verbose_name_plural = _("runs of studies")
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="each_planned_run_once")]

    def __str__(self) -> str:
        return f"{self.study} · {self.number}"


class StudyLook(Unchanging):
    """An analysis, as it was seen. ended: of the planned runs; share: ended / planned, 0 to 1. plan: the one that held;
    analyzed: as `leaderboard.ratings.studies.analysis.Plan` reads it; data: the rows as CSV; labels: what
    people said of judged units, as CSV, "" for nothing. results: {shares, spent_at, results, corrected} of that
    analysis. A look at the same runs again costs nothing of alpha.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="looks")
    number = models.PositiveIntegerField(_("number"))
    plan = models.ForeignKey(StudyPlan, models.PROTECT, related_name="looks")
    ended = models.PositiveIntegerField(_("runs that had ended"))
    share = models.FloatField(_("share of the planned runs"))
    analyzed = models.JSONField(_("analysis plan"))
    data = models.TextField(_("data"))
    labels = models.TextField(_("labels of people"), blank=True, db_default="")
    results = models.JSONField(_("results"))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("person"))
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["study", "number"]
        verbose_name = _("look at a study")
        verbose_name_plural = _("looks at studies")
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="each_look_once")]

    def __str__(self) -> str:
        return f"{self.study} · {self.number}"
