"""People who sit in an experiment in the place of models."""

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core import signing
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from experiments.models.experiment import Experiment
from experiments.models.ids import new_id
from experiments.models.labels import role_name

SALT = "seat"  # of the signature in an invitation link
SEATED = "seated"  # the kind of `Message.operator` of what a person in a seat said


class SeatedPersonQuerySet(models.QuerySet["SeatedPerson"]):
    def held_by(self, user: User | AnonymousUser, opened: Any = ()) -> Self:
        """Those in which somebody may answer: their own, and of invitations that they have opened those that hold.
        Administrators may answer for everybody, which is recorded.
        """
        seats = self.filter(experiment__deleted__isnull=True)
        if user.is_active and getattr(user, "role", "") == User.Role.ADMIN:
            return seats
        by_link = Q(pk__in=list(opened), person__isnull=True, expires__gt=Now())
        return seats.filter(Q(person=user.pk, person__isnull=False) | by_link)


class SeatedPerson(models.Model):
    """A person in the seat of an experiment: a user of the platform, or whoever has the invitation link.

    person: None of an invitation, which opens the seat until it `expires`. name: what somebody invited is called.
    seconds: that each answer may take. is_blind: the person is not told which models the others are, and those who read
    the transcript are not told who the person is.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    experiment = models.ForeignKey(
        Experiment, models.CASCADE, related_name="people", verbose_name=gettext_lazy("experiment")
    )
    seat = models.CharField(gettext_lazy("participant"), max_length=40)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="seats",
        verbose_name=gettext_lazy("person"),
    )
    name = models.CharField(gettext_lazy("name"), max_length=100, blank=True)
    expires = models.DateTimeField(gettext_lazy("expires"), null=True, blank=True)
    seconds = models.PositiveIntegerField(gettext_lazy("seconds for each answer"), default=600)
    is_blind = models.BooleanField(gettext_lazy("blind"), default=False)

    objects = SeatedPersonQuerySet.as_manager()

    class Meta:
        ordering = ["seat"]
        verbose_name = gettext_lazy("seated person")
        verbose_name_plural = gettext_lazy("seated people")
        constraints = [
            models.UniqueConstraint(fields=["experiment", "seat"], name="one_person_per_seat"),
            models.CheckConstraint(
                condition=Q(person__isnull=True, expires__isnull=False) | Q(person__isnull=False, expires__isnull=True),
                name="a_user_or_an_invitation",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seat}: {self.called}"

    def get_absolute_url(self) -> str:
        return reverse("seat", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Whether its invitation can be opened now; of the seat of a user there is none."""
        return self.expires is not None and self.expires > timezone.now()

    @property
    def role(self) -> str:
        return str(role_name(self.experiment.workflow, self.seat))

    @property
    def names(self) -> tuple[str, ...]:
        """By which the person could be recognized."""
        own = self.person.get_username() if self.person else self.name
        return (own,) if own else ()

    @property
    def shown_name(self) -> str:
        """What readers of the transcript are told; "" where they are only told that it is a person."""
        return "" if self.is_blind else next(iter(self.names), "")

    @property
    def called(self) -> str:
        return self.shown_name or _("Person")

    @property
    def link(self) -> str:
        """The path of the invitation. Its signature is made anew each time, so that no secret is stored."""
        return reverse("seat-join", args=[signing.Signer(salt=SALT).sign(str(self.pk))])
