"""The one-time link that creates the first administrator."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class FirstAdminLink(models.Model):
    """At most one row, with the primary key ONLY: a new link replaces the one before. digest: SHA-256 of the token in
    the link, "" once it was used; the token itself is never stored.
    """

    ONLY = 1

    digest = models.CharField(_("digest"), max_length=64, blank=True)
    expires = models.DateTimeField(_("expires"))

    class Meta:
        verbose_name = _("link for the first administrator")
        verbose_name_plural = _("link for the first administrator")
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_first_admin_link")]

    def __str__(self) -> str:
        return f"{self.expires:%Y-%m-%d %H:%M}"
