"""The models that whoever asks can choose from. A form asks for them at each of its fields, and the database once."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from accounts.asking import once
from experiments.models import Experiment, ProviderModel

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User
    from experiments.models.catalog import Person

# Parts of names by which providers tell that a model is made for one task.
SPECIALISED = re.compile(
    r"(?<![a-z])(cod(e|er|ing)|embed(ding)?s?|guard|math|moderation|ocr|rerank(er)?|translate|tts|whisper)(?![a-z])",
    re.IGNORECASE,
)


def askable_models() -> list[ProviderModel]:
    """Those that can be asked now, each with its provider."""
    return once(_askable)


def speaking_models() -> list[tuple[str, str]]:
    """Slugs and labels of those that can take a seat in a talk."""
    return [(model.slug, model.label) for model in askable_models() if not model.is_tool]


def general_models() -> list[str]:
    """Slugs of those that can take a seat in a talk; those made for one task, by their names, come last."""
    return sorted((slug for slug, _label in speaking_models()), key=lambda slug: bool(SPECIALISED.search(slug)))


def usual_cast(user: "User | AnonymousUser", workflow: str, seats: Sequence[str]) -> dict[str, str]:
    """The slug of a model for each seat: as in the last experiment of the person, where all its models can be asked;
    otherwise different models, as far as there are enough. Empty where no model can be asked.
    """
    offered = general_models()
    last = Experiment.objects.owned_by(user).filter(workflow=workflow).order_by("-created").first()
    seated = dict(last.participants.values_list("seat", "model__slug")) if last else {}
    if all(seated.get(seat) in offered for seat in seats):
        return {seat: seated[seat] for seat in seats}
    return {seat: offered[number % len(offered)] for number, seat in enumerate(seats)} if offered else {}


def _askable(person: "Person") -> list[ProviderModel]:
    return list(ProviderModel.objects.askable(person))
