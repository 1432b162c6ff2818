"""Keys of providers: the lab's and people's own. They are written, used and forgotten, and never shown again."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models.catalog import Provider
from experiments.models.ids import new_id
from experiments.models.run import Run

HINT_CHARACTERS = 4
LEAST_FOR_HINT = 16  # of a shorter key, four characters would be too much of it


class ProviderKeyQuerySet(models.QuerySet["ProviderKey"]):
    def active(self) -> Self:
        return self.filter(is_active=True)

    def of_lab(self) -> Self:
        return self.filter(owner__isnull=True)

    def owned_by(self, user: User | AnonymousUser) -> Self:
        """A person's own: nobody else may do anything with them, but that an administrator may end their use."""
        return self.filter(owner_id=user.pk) if user.is_active and user.pk else self.none()

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those a person may look after: their own, and the lab's for administrators."""
        if not (user.is_active and user.pk):
            return self.none()
        is_admin = getattr(user, "role", "") == "admin"
        return self.filter(Q(owner_id=user.pk) | Q(owner__isnull=True) if is_admin else Q(owner_id=user.pk))


class ProviderKey(models.Model):
    """One key. owner: whose experiments it is for; null for the lab's, which is for everybody's.

    ciphertext: what `accounts.crypto` made of it; empty once it is no longer used. hint: its last characters, if it is
    long enough to have some to spare. tested, test_outcome, test_words: what became of the last test, and what the
    provider said to it, without the key.
    """

    class Outcome(models.TextChoices):
        ACCEPTED = "accepted", _("The provider accepts the key.")
        REFUSED = "refused", _("The provider refuses the key. Check that it is complete and still valid.")
        NO_CREDIT = "no_credit", _("The provider knows the key, but the account has no credit.")
        RATE_LIMITED = "rate_limited", _("The provider limits this key right now. Test it later.")
        UNREACHABLE = "unreachable", _("The provider could not be reached, so the key was not tested.")
        UNREADABLE = "unreadable", _("The key can no longer be decrypted, because its secret is gone. Enter it again.")
        UNKNOWN = "unknown", _("The provider's answer does not say whether the key is valid.")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    provider = models.ForeignKey(Provider, models.CASCADE, related_name="keys", verbose_name=_("provider"))
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="provider_keys",
        verbose_name=_("owner"),
    )
    name = models.CharField(_("name"), max_length=100, blank=True)
    ciphertext = models.TextField(editable=False, blank=True)
    hint = models.CharField(_("ends with"), max_length=HINT_CHARACTERS, blank=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("entered by")
    )
    last_used = models.DateTimeField(_("last used"), null=True, editable=False)
    is_active = models.BooleanField(_("in use"), default=True)
    tested = models.DateTimeField(_("tested"), null=True, editable=False)
    test_outcome = models.CharField(_("test"), max_length=16, blank=True, editable=False)
    test_words = models.CharField(_("what the provider said"), max_length=400, blank=True, editable=False)

    objects = ProviderKeyQuerySet.as_manager()

    class Meta:
        ordering = ["provider__name", "created"]
        verbose_name = _("provider key")
        verbose_name_plural = _("provider keys")
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "owner"],
                condition=Q(is_active=True, owner__isnull=False),
                name="one_active_key_of_a_person",
            ),
            models.UniqueConstraint(
                fields=["provider"], condition=Q(is_active=True, owner__isnull=True), name="one_active_key_of_the_lab"
            ),
            models.CheckConstraint(
                condition=Q(is_active=True) & ~Q(ciphertext="") | Q(is_active=False, ciphertext=""),
                name="only_a_key_in_use_is_kept",
            ),
        ]

    def __str__(self) -> str:
        """Words for records and logs: of the key itself, not even the hint."""
        return f"{self.provider.name} · {self.name}" if self.name else self.provider.name

    @property
    def is_of_lab(self) -> bool:
        return self.owner_id is None

    @property
    def test_sentence(self) -> str:
        """What became of the last test; "" when there was none."""
        return str(self.Outcome(self.test_outcome).label) if self.test_outcome else ""

    @property
    def is_accepted(self) -> bool | None:
        """What the last test says of the key; None where it says nothing, or there was none."""
        return VERDICTS.get(self.test_outcome)


VERDICTS = {
    ProviderKey.Outcome.ACCEPTED.value: True,
    ProviderKey.Outcome.REFUSED.value: False,
    ProviderKey.Outcome.NO_CREDIT.value: False,
    ProviderKey.Outcome.UNREADABLE.value: False,
}


class KeyUse(models.Model):
    """That a run was asked with a key on a day: once, whatever number of calls that were."""

    key = models.ForeignKey(ProviderKey, models.CASCADE, related_name="uses")
    run = models.ForeignKey(Run, models.CASCADE, related_name="+")
    day = models.DateField()

    class Meta:
        verbose_name = _("use of a provider key")
        verbose_name_plural = _("uses of provider keys")
        constraints = [models.UniqueConstraint(fields=["key", "run", "day"], name="one_use_a_day")]

    def __str__(self) -> str:
        return f"{self.key_id} {self.run_id} {self.day}"
