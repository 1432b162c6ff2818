"""Who: the people of the lab, and the tokens by which programs act in their name."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken

from accounts.scopes import all_scopes


class People(UserManager["User"]):
    """Whoever is made an admin, by whatever command, is one everywhere: by role, and to Django."""

    def create_user(
        self, username: str, email: str | None = None, password: str | None = None, **fields: Any
    ) -> "User":
        fields |= {"is_staff": True, "is_superuser": True} if fields.get("role") == User.Role.ADMIN else {}
        return super().create_user(username, email, password, **fields)

    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **fields: Any
    ) -> "User":
        return super().create_superuser(username, email, password, **{"role": User.Role.ADMIN, **fields})


class User(AbstractUser):  # type: ignore[django-manager-missing]  # its manager is made from a query set
    class Role(models.TextChoices):
        RESEARCHER = "researcher", _("researcher")
        REVIEWER = "reviewer", _("reviewer")
        CURATOR = "curator", _("curator")
        ADMIN = "admin", _("admin")

    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.RESEARCHER)
    language = models.CharField(_("language"), max_length=16, blank=True)

    objects: ClassVar[People] = People()

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")

    @property
    def is_admin(self) -> bool:
        """Whether this person decides on people and roles."""
        return self.is_active and self.role == self.Role.ADMIN

    @property
    def may_experiment(self) -> bool:
        """Whether this person may create and start experiments."""
        return self.role in {self.Role.RESEARCHER, self.Role.CURATOR, self.Role.ADMIN}


class ApiToken(AbstractAuthToken):  # type: ignore[misc]  # knox has no types
    """A bearer token of the API: stored as a hash, expiring, named by what it is for. last_used: to the minute."""

    name = models.CharField(_("name"), max_length=100, blank=True)
    scopes = models.JSONField(_("scopes"), default=all_scopes)
    last_used = models.DateTimeField(_("last used"), null=True, blank=True)
    last_address = models.GenericIPAddressField(_("from"), null=True, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
