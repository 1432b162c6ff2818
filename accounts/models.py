"""Who: the people of the lab."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken


class User(AbstractUser):  # type: ignore[django-manager-missing]
    class Role(models.TextChoices):
        RESEARCHER = "researcher", _("researcher")
        REVIEWER = "reviewer", _("reviewer")
        CURATOR = "curator", _("curator")
        ADMIN = "admin", _("admin")

    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.RESEARCHER)
    language = models.CharField(_("language"), max_length=16, blank=True)

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")

    @property
    def may_experiment(self) -> bool:
        """Whether this person may create and start experiments."""
        return self.role in {self.Role.RESEARCHER, self.Role.CURATOR, self.Role.ADMIN}


class ApiToken(AbstractAuthToken):  # type: ignore[misc]
    """A bearer token of the API: stored as a hash, expiring, named by what it is for."""

    name = models.CharField(_("name"), max_length=100, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
