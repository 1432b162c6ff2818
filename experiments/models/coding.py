"""Contests of coding: the cycles, what the sandbox ran, and where it can run anything."""

import json
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.models.work import Step


class ExactJSONField(models.TextField[Any, Any]):
    """JSON that comes back as it was. PostgreSQL's jsonb sorts names and writes numbers anew: a program would be called
    with other arguments than its statement shows.
    """

    def from_db_value(self, value: str | None, *_: Any) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj))


class CycleQuerySet(models.QuerySet["Cycle"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(run__in=Run.objects.visible_to(user))

    def counted(self) -> Self:
        """Those on which ratings rest, in the order in which they were rated."""
        rated = self.filter(state=CycleState.RATED, voided__isnull=True, run__origin=Run.Origin.LIVE)
        return rated.order_by("ended", "pk")


class CycleState(models.TextChoices):
    OPEN = "open", _("under way")
    RATED = "rated", _("rated")
    VOID = "void", _("void")


class Cycle(models.Model):
    """One round trip: a problem is set, solved, executed and judged.

    setter: the seat. reason: why it has no problem, when it is void by itself. title, fingerprint: of the problem.
    contestants: [seat, slug of the model] of everybody who took part, in the order of the seats. found: the votes and
    what follows from them, of `cycle_rated`. void_reason, voided, voided_by: an administrator left it out of ratings.
    """

    State = CycleState

    run = models.ForeignKey(Run, models.CASCADE, related_name="cycles")
    turn = models.PositiveIntegerField(_("number"))
    setter = models.CharField(_("setter"), max_length=40)
    state = models.CharField(_("state"), max_length=8, choices=CycleState, default=CycleState.OPEN)
    reason = models.TextField(_("why there is no problem"), blank=True)
    title = models.CharField(_("title"), max_length=200, blank=True)
    fingerprint = models.JSONField(default=list, blank=True, editable=False)
    contestants = models.JSONField(_("contestants"), default=list)
    found = models.JSONField(_("votes"), default=dict, blank=True)
    void_reason = models.CharField(_("why it is void"), max_length=300, blank=True)
    voided = models.DateTimeField(_("voided"), null=True, blank=True)
    voided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    began = models.DateTimeField(_("began"), auto_now_add=True)
    ended = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = CycleQuerySet.as_manager()

    class Meta:
        ordering = ["run", "turn"]
        verbose_name = _("cycle")
        verbose_name_plural = _("cycles")
        constraints = [models.UniqueConstraint(fields=["run", "turn"], name="each_cycle_once")]
        indexes = [models.Index(fields=["state", "ended"], name="cycle_rated")]

    def __str__(self) -> str:
        return f"{self.turn} {self.title}".strip()


class ExecutionState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


class ExecutionQuerySet(models.QuerySet["Execution"]):
    def claimable(self) -> Self:
        """Those that wait, and those whose worker has not been heard of for too long."""
        abandoned = models.Q(state=ExecutionState.RUNNING, lease_until__lt=Now())
        return self.filter(models.Q(state=ExecutionState.WAITING) | abandoned)


class Execution(models.Model):
    """Code that the sandbox runs against tests, and what it found. It is not paid for: after a death it is run again.

    tests: each with name, arguments and expected. results: one per test, of `sandbox.Result`. complaint: why nothing
    could be run, such as an error of syntax. error: why the sandbox itself could not do its work, when it failed.
    is_unsafe: it was run without isolation. claim: rises with every worker that takes it; an older one writes nothing.
    """

    State = ExecutionState

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="executions")
    step = models.OneToOneField(Step, models.CASCADE, related_name="execution")
    turn = models.PositiveIntegerField(_("cycle"))
    seat = models.CharField(_("participant"), max_length=40)
    state = models.CharField(_("state"), max_length=12, choices=ExecutionState, default=ExecutionState.WAITING)
    language = models.CharField(_("language"), max_length=20)
    code = models.TextField(_("code"))
    entry = models.CharField(_("function"), max_length=80)
    comparison = models.CharField(_("comparison"), max_length=12)
    tests = ExactJSONField(_("tests"))
    seconds_limit = models.FloatField(_("seconds for each test"))
    memory_limit = models.PositiveBigIntegerField(_("memory for each test"))
    until_failure = models.BooleanField(_("ends at the first failure"), default=False)
    claim = models.PositiveIntegerField(default=0, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    results = models.JSONField(_("results"), null=True, blank=True)
    complaint = models.TextField(_("complaint"), blank=True)
    backend = models.CharField(_("isolation"), max_length=20, blank=True)
    layers = models.JSONField(_("layers"), default=list, blank=True)
    is_unsafe = models.BooleanField(_("without isolation"), default=False)
    seconds = models.FloatField(_("seconds"), null=True, blank=True)
    error_kind = models.CharField(_("kind of error"), max_length=40, blank=True)
    error = models.TextField(_("error"), blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    ended = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = ExecutionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name = _("execution")
        verbose_name_plural = _("executions")
        indexes = [models.Index(fields=["state", "lease_until"], name="execution_claimable")]

    def __str__(self) -> str:
        return f"{self.turn} {self.seat}"


class SandboxHost(models.Model):
    """A machine that runs code, and what its self-test found. refusal: what is missing, when nothing may be run there.

    layers: {name, holds, detail} each, of `sandbox.Layer`. checked: when the test was made, or last confirmed.
    """

    name = models.CharField(_("machine"), max_length=200, unique=True)
    backend = models.CharField(_("isolation"), max_length=20)
    is_sufficient = models.BooleanField(_("sufficient"), default=False)
    refusal = models.TextField(_("what is missing"), blank=True)
    layers = models.JSONField(_("layers"), default=list)
    checked = models.DateTimeField(_("checked"))

    class Meta:
        ordering = ["name"]
        verbose_name = _("sandbox")
        verbose_name_plural = _("sandboxes")

    def __str__(self) -> str:
        return self.name
