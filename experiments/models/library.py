"""What people keep for later: contexts, councils, and whole set-ups."""

import uuid
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from experiments.models.ids import new_id

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


class PresetQuerySet(models.QuerySet["Preset"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        return self.filter(Q(owner_id=user.pk) | Q(shared=True)) if user.is_active else self.none()


class Preset(models.Model):
    """Part of a configuration under a name, such as a system context. The built-in ones are files, not rows."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="presets", verbose_name=_("owner"))
    workflow = models.CharField(_("workflow"), max_length=20)
    name = models.CharField(_("name"), max_length=80)
    config = models.JSONField(_("configuration"), default=dict)
    shared = models.BooleanField(_("shared with the lab"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = PresetQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        verbose_name = _("preset")
        verbose_name_plural = _("presets")
        constraints = [models.UniqueConstraint(fields=["owner", "workflow", "name"], name="one_preset_per_name")]

    def __str__(self) -> str:
        return self.name


class ScenarioQuerySet(models.QuerySet["Scenario"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        return self.filter(Q(owner_id=user.pk) | Q(shared=True)) if user.is_active else self.none()

    def newest(self) -> Self:
        """The newest version of each that is not archived."""
        newer = Scenario.objects.filter(family=OuterRef("family"), version__gt=OuterRef("version"))
        return self.filter(~Exists(newer), archived=False)


class Scenario(models.Model):
    """One version of a saved arena set-up: versions of one scenario share a `family`, and are never changed."""

    class Kind(models.TextChoices):
        COOPERATION = "cooperation", pgettext_lazy("kind of scenario", "cooperation")
        COMPETITION = "competition", _("competition")
        MIXED = "mixed", _("mixed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="scenarios", verbose_name=_("owner")
    )
    family = models.UUIDField(default=uuid.uuid4, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1)
    title = models.CharField(_("title"), max_length=120)
    description = models.TextField(_("description"), blank=True)
    kind = models.CharField(_("kind"), max_length=12, choices=Kind, default=Kind.MIXED)
    config = models.JSONField(_("configuration"))
    shared = models.BooleanField(_("shared with the lab"), default=False)
    archived = models.BooleanField(_("archived"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ScenarioQuerySet.as_manager()

    class Meta:
        ordering = ["title", "-version"]
        verbose_name = _("scenario")
        verbose_name_plural = _("scenarios")
        constraints = [models.UniqueConstraint(fields=["family", "version"], name="scenario_version_once")]

    def __str__(self) -> str:
        return f"{self.title} {self.version}"
