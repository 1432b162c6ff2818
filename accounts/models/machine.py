"""What the machines of one platform must have in common."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CommonMark(models.Model):
    """By what a machine tells whether it has the same as the others: the fingerprint of a secret, or the mark that lies
    in a directory. `accounts.machines` compares.
    """

    name = models.CharField(_("what"), max_length=20, primary_key=True)
    mark = models.CharField(_("mark"), max_length=64)
    changed = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        ordering = ["name"]
        verbose_name = _("mark that all machines share")
        verbose_name_plural = _("marks that all machines share")

    def __str__(self) -> str:
        return self.name
