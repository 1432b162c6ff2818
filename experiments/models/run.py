"""One execution of an experiment: its seed, its state, and the lease of whoever drives it."""

from functools import cache
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models.functions import Coalesce, Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models.experiment import Experiment
from experiments.models.ids import new_id

if TYPE_CHECKING:
    from experiments.models.work import Step


CURATORS = (User.Role.CURATOR, User.Role.ADMIN)


class RunState(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    WAITING = "waiting", _("waiting")
    STOPPING = "stopping", _("stopping")
    STOPPED = "stopped", _("stopped")
    COMPLETED = "completed", _("completed")
    FAILED = "failed", _("failed")


class RunMode(models.TextChoices):
    AUTOMATIC = "automatic", _("automatic")
    MANUAL = "manual", _("manual")


class RunOrigin(models.TextChoices):
    """Where a run's record comes from. A demonstration was written, not played: it never counts in statistics."""

    LIVE = "live", _("played here")
    BRANCH = "branch", _("branched")
    IMPORTED = "imported", _("imported")
    DEMONSTRATION = "demonstration", _("demonstration")


RECORDS = (RunOrigin.IMPORTED, RunOrigin.DEMONSTRATION)  # played elsewhere, or never: there is nothing to go on with
PERSON = "person"  # in the data of a step that asks a person: what they are shown, and until when an answer is taken
PAUSES = ("listen", "offer")  # kinds of step at which somebody says something; nothing waits for an offer
DRIVEN_STATES = (RunState.RUNNING, RunState.STOPPING)
LIVE_STATES = (RunState.QUEUED, RunState.RUNNING, RunState.WAITING, RunState.STOPPING)
FAILED_FOR_GOOD = ("pool_too_small",)  # reasons of a failure after which nothing could be tried again
BUDGET_REASONS = ("budget_person", "budget_project", "budget_experiment")
TERMINAL_STATES = (RunState.STOPPED, RunState.COMPLETED, RunState.FAILED)


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those of the experiments that a person may look at; to visitors, those alone that a curator has approved."""
        seen = self.filter(experiment__in=Experiment.objects.visible_to(user))
        return seen if user.is_active else seen.filter(review__approved__isnull=False)

    def changeable_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(experiment__in=Experiment.objects.changeable_by(user))

    def owned_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(experiment__owner_id=user.pk) if user.is_active else self.none()

    def decidable_by(self, user: User | AnonymousUser) -> Self:
        """Those on which a curator decides: what they may look at, what its owner has submitted to the curators, and
        what they have approved themselves.
        """
        if not user.is_active or getattr(user, "role", "") not in CURATORS:
            return self.none()
        submitted = models.Q(review__submitted__isnull=False)
        seen = models.Q(experiment__in=Experiment.objects.visible_to(user))
        return self.filter(seen | submitted | models.Q(review__approved_by=user.pk))

    def readable_at_desk(self, user: User | AnonymousUser) -> Self:
        """Those that open at the review desk: for administrators every run. Opening one that is not shared with the
        reader is recorded.
        """
        is_admin = user.is_active and getattr(user, "role", "") == User.Role.ADMIN
        return self.all() if is_admin else self.decidable_by(user)

    def undecided(self) -> Self:
        """Those that have ended, and that no curator has approved, left out or returned."""
        decided = ("approved", "excluded", "returned")
        untouched = models.Q(**{f"review__{decision}__isnull": True for decision in decided})
        return self.filter(models.Q(review__isnull=True) | untouched, state__in=TERMINAL_STATES)

    def live(self) -> Self:
        return self.filter(state__in=LIVE_STATES)

    def claimable(self) -> Self:
        """Queued runs, and driven ones whose driver has not renewed its lease in time; none whose record is damaged."""
        abandoned = models.Q(state__in=DRIVEN_STATES) & (
            models.Q(lease_until__lt=Now()) | models.Q(lease_until__isnull=True)
        )
        return self.filter(models.Q(state=RunState.QUEUED) | abandoned, damage="")

    def with_totals(self, *names: str) -> Self:
        """Adds turn (the last completed one), turns_done (how many), turn_ended, input_, output_ and reasoning_tokens,
        call_count, total_cost and unpriced_calls: those that are settled, but at an unknown cost, so that total_cost is
        a lower bound. Where the workflow has stages, stage is what is known of the last one, stage_began when it did,
        and stages_began when the first one of the turn did. client_system: whose client has begun it, None for none.
        asks_person: whether it waits for somebody in a seat; in_batch: for a provider's batch. names: of the
        totals to add; all by default.
        """
        totals = _totals()
        return self.annotate(**{name: totals[name] for name in names or totals})

    def with_pauses(self) -> Self:
        """Fetches what the runs wait for and what they offer: `open_pauses` and `open_offers` have it at hand then."""
        steps = apps.get_model("experiments.Step").objects.filter(kind__in=PAUSES, state="open").order_by("id")
        return self.prefetch_related(models.Prefetch("steps", steps, to_attr="fetched_pauses"))


def _has(rows: Any) -> Coalesce:
    """Whether there is one of each run. For `Exists`, PostgreSQL would go through those of all runs."""
    found = models.Value(True, models.BooleanField())
    return Coalesce(models.Subquery(rows.annotate(found=found).values("found")[:1]), False)


@cache
def _totals() -> dict[str, Any]:
    """What `with_totals` adds: the expressions are the same for every query."""
    this_run = models.OuterRef("pk")
    calls = apps.get_model("experiments.Call").objects.filter(run=this_run).order_by()
    steps = apps.get_model("experiments.Step").objects.filter(run=this_run).order_by()
    clients = apps.get_model("experiments.ClientTalk").objects.filter(run=this_run).order_by()

    def total(rows: Any, expression: Any) -> models.Subquery:
        return models.Subquery(rows.values("run").annotate(total=expression).values("total"))

    stages = steps.filter(purpose="stage_started").order_by("-id")

    return {
        "stage": models.Subquery(stages.values("data")[:1]),
        "stage_began": models.Subquery(stages.values("created")[:1]),
        "stages_began": models.Subquery(stages.filter(data__number=1).values("created")[:1]),
        "turn": total(steps.filter(purpose="turn_completed"), models.Max("turn")),
        "turns_done": total(steps.filter(purpose="turn_completed"), models.Count("pk")),
        "turn_ended": total(steps.filter(purpose="turn_completed"), models.Max("ended")),
        "input_tokens": total(calls, models.Sum("input_tokens")),
        "output_tokens": total(calls, models.Sum("output_tokens")),
        "reasoning_tokens": total(calls, models.Sum("reasoning_tokens")),
        "call_count": total(calls, models.Count("pk")),
        "total_cost": total(calls, models.Sum("cost")),
        "client_system": models.Subquery(clients.values("system")[:1]),
        "in_batch": _has(calls.filter(state="batched")),
        "asks_person": _has(steps.filter(kind="ask", state="open", data__has_key=PERSON)),
        "unpriced_calls": total(
            calls.exclude(state__in=("sent", "batched")).filter(cost__isnull=True), models.Count("pk")
        ),
    }


_Runs = models.Manager.from_queryset(RunQuerySet)


class RunManager(_Runs["Run"]):
    """Those that are not deleted."""

    def get_queryset(self) -> RunQuerySet:
        return RunQuerySet(self.model, using=self._db).filter(deleted__isnull=True)


class Run(models.Model):
    """State moves only by `move`. `fence` rises with every claim: a driver that was frozen writes nothing any more.

    mode: whether pauses are passed or wait for a person. is_held: no further step begins until somebody resumes it.
    overrides: fields of the configuration that were changed while it was played, such as a higher `max_turns`.
    waited_seconds: how long it has waited for people in all, which no limit of time counts. parent: the run that it
    branches from (`branched_from` says at which message), or whose transcript it judges again. archived: left out of
    lists unless they are asked for it. deleted: nothing of it is left but its calls, which usage counts. settled_calls:
    how many calls have a digest. damage: what is wrong with its record, of `engine/verification.py`; empty for nothing.
    """

    State = RunState
    Mode = RunMode
    Origin = RunOrigin

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="runs", verbose_name=_("experiment"))
    seed = models.BigIntegerField(_("seed"))
    state = models.CharField(_("state"), max_length=12, choices=RunState, default=RunState.QUEUED)
    mode = models.CharField(_("mode"), max_length=12, choices=RunMode, default=RunMode.AUTOMATIC)
    overrides = models.JSONField(_("changes to the configuration"), default=dict, blank=True)
    is_held = models.BooleanField(_("paused"), default=False)
    origin = models.CharField(_("origin"), max_length=16, choices=RunOrigin, default=RunOrigin.LIVE)
    parent = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="children", verbose_name=_("parent")
    )
    branched_from = models.ForeignKey(
        "experiments.Message",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="branches",
        verbose_name=_("branched from"),
    )
    stop_reason = models.CharField(_("reason of its end"), max_length=40, blank=True)
    error = models.TextField(_("error"), blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    started = models.DateTimeField(_("started"), null=True, blank=True)
    ended = models.DateTimeField(_("ended"), null=True, blank=True)
    waiting_since = models.DateTimeField(null=True, blank=True, editable=False)
    waited_seconds = models.FloatField(default=0, editable=False)
    last_seq = models.PositiveBigIntegerField(default=0, editable=False)
    settled_calls = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    damage = models.CharField(max_length=60, blank=True, default="", db_default="", editable=False)
    fence = models.PositiveIntegerField(default=0, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    archived = models.DateTimeField(_("archived"), null=True, blank=True, editable=False)
    deleted = models.DateTimeField(null=True, blank=True, editable=False)

    reader: User | None = None  # for whom a file is made, with the notes of whom; no column

    objects = RunManager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        indexes = [
            models.Index(fields=["state", "lease_until"], name="run_claimable"),
            models.Index(fields=["experiment", "-created"], name="run_of_experiment"),
            models.Index(fields=["-created", "-id"], name="run_newest"),
            models.Index(fields=["state", "-created"], name="run_in_state"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment.title} · {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def config(self) -> dict[str, Any]:
        """The configuration as it is played: the experiment's, with what was changed since."""
        return {**self.experiment.stored_config, **self.overrides}

    @property
    def open_pauses(self) -> "list[Step]":
        """The pauses at which somebody may speak, the latest last."""
        return [step for step in self._open_steps() if step.kind == "listen"]

    @property
    def open_offers(self) -> "list[Step]":
        """What may still be said although nothing waits for it, the latest last; nothing in a run from elsewhere."""
        return [] if self.origin in RECORDS else [step for step in self._open_steps() if step.kind == "offer"]

    def _open_steps(self) -> "list[Step]":
        if hasattr(self, "fetched_pauses"):
            return list(self.fetched_pauses)
        return list(self.steps.filter(kind__in=PAUSES, state="open").order_by("id"))

    @property
    def is_over(self) -> bool:
        return self.state in TERMINAL_STATES

    @property
    def may_resume(self) -> bool:
        """Whether it has failed at something that can be tried again, or was stopped by a budget that can be raised."""
        has_failed = self.state == RunState.FAILED and self.stop_reason not in FAILED_FOR_GOOD
        return (has_failed and self.origin not in RECORDS) or self.is_stopped_by_budget

    @property
    def is_stopped_by_budget(self) -> bool:
        """Whether it goes on once there is room again. Part of a campaign goes on with the campaign."""
        return self.state == RunState.STOPPED and self.stop_reason in BUDGET_REASONS and "tasks" not in self.overrides

    def move(
        self,
        to: RunState,
        *,
        from_: tuple[RunState, ...],
        fence: int | None = None,
        fields: dict[str, object] | None = None,
    ) -> bool:
        """Change the state if it still is one of `from_` (and the lease still ours). True when this call did it."""
        runs = Run.objects.filter(pk=self.pk, state__in=from_)
        if fence is not None:
            runs = runs.filter(fence=fence)
        if not runs.update(state=to, **(fields or {})):
            return False
        if to == RunState.QUEUED and not set(TERMINAL_STATES).isdisjoint(from_):
            approved = apps.get_model("experiments.RunReview").objects.filter(run=self.pk, approved__isnull=False)
            approved.update(approved=None, approved_by=None)  # nobody has looked at what is still to come
        self.state = to
        return True
