"""Which of the lab's models a client means, and by what ids it knows what it has begun."""

from typing import TYPE_CHECKING
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.models import ProviderModel

if TYPE_CHECKING:
    from accounts.models import User


def slug_of(name: str, field: str) -> str:
    """The slug of the model that a client names: by the slug itself, or by what stands after the vendor's name, as in
    `deepseek-r1`. Raises Invalid where it could be several, or none.
    """
    models = ProviderModel.objects.available().speaking()
    if models.filter(slug=name).exists():
        return name
    found = [slug for slug in models.filter(slug__endswith=f"/{name}").values_list("slug", flat=True)[:2] if name]
    if len(found) == 1:
        return found[0]
    message = _("There is no model called “%(name)s” here: /api/models lists those that there are.") % {"name": name}
    raise Invalid({field: [message]})


def askable_slugs(person: "User") -> list[str]:
    return list(ProviderModel.objects.askable(person).speaking().values_list("slug", flat=True))


def reference(prefix: str, pk: UUID) -> str:
    return f"{prefix}_{pk.hex}"


def referred(prefix: str, text: str) -> UUID | None:
    """The id in a reference; None for what is none."""
    head, _, rest = text.partition("_")
    try:
        return UUID(rest) if head == prefix else None
    except ValueError:
        return None
