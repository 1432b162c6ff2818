"""What is to be tried: a workflow, its configuration and its cast."""

from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.catalog import ProviderModel
from experiments.models.ids import new_id
from experiments.workflows import REGISTRY
from experiments.workflows.steps import Cast, Seat

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


class ExperimentQuerySet(models.QuerySet["Experiment"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()


class Experiment(models.Model):
    """Immutable once created: its runs are reports of what was configured, so a change is a clone."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="experiments", verbose_name=_("owner")
    )
    workflow = models.CharField(_("workflow"), max_length=20)
    title = models.CharField(_("title"), max_length=200)
    config = models.JSONField(_("configuration"))
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        verbose_name = _("experiment")
        verbose_name_plural = _("experiments")

    def __str__(self) -> str:
        return self.title

    def cast(self, seed: int) -> Cast:
        """Who is seated, as a workflow sees it: names and personas, and what the models could be recognised by."""
        seated = self.participants.select_related("model")
        seats = {p.seat: Seat(p.seat, p.persona, p.model.names) for p in seated}
        return Cast(seats=seats, seed=seed)

    @property
    def labels(self) -> dict[str, str]:
        """What the seated models are called, by seat."""
        return {p.seat: p.model.label for p in self.participants.select_related("model")}

    def parsed_config(self, overrides: dict[str, Any] | None = None) -> Any:
        return REGISTRY[self.workflow].Config.model_validate({**self.config, **(overrides or {})})


class Participant(models.Model):
    """A model (or later a person) seated in an experiment."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="participants")
    seat = models.CharField(_("seat"), max_length=40)
    model = models.ForeignKey(ProviderModel, models.PROTECT, related_name="+", verbose_name=_("model"))
    persona = models.CharField(_("persona"), max_length=100, blank=True)
    params = models.JSONField(_("parameters"), default=dict, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["experiment", "seat"], name="one_participant_per_seat")]

    def __str__(self) -> str:
        return f"{self.seat}: {self.model}"
