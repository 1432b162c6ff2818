"""Who sits in a council whose client names nobody."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.api.compatibility.naming import askable_slugs
from experiments.models import Experiment
from experiments.workflows.council import WORKFLOW as COUNCIL
from experiments.workflows.council.config import MEMBERS

if TYPE_CHECKING:
    from accounts.models import User

USUAL_MEMBERS = 4


def cast_for(person: "User") -> dict[str, object]:
    """The council that the person asked last, as far as its models can be asked; otherwise the first few models, with
    another one as the chair where there is another one.
    """
    slugs = askable_slugs(person)
    if not slugs:
        raise Invalid({"cast": [_("There is no model that could be asked.")]})
    last = Experiment.objects.owned_by(person).filter(workflow=COUNCIL.slug).order_by("-created").first()
    seated = list(last.participants.select_related("model")) if last else []
    if seated and all(one.model.slug in slugs for one in seated if one.seat != "title"):
        return {one.seat: {"model": one.model.slug, "params": one.params} for one in seated if one.seat != "title"}
    members = slugs[:USUAL_MEMBERS] if len(slugs) > 1 else slugs * 2
    chair = next((slug for slug in slugs if slug not in members), members[0])
    return {**{seat: {"model": slug} for seat, slug in zip(MEMBERS, members, strict=False)}, "chair": {"model": chair}}
