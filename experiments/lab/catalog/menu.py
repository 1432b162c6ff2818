"""The models that the current person can choose from, read once per request, however many fields ask for them."""

import re
from typing import TYPE_CHECKING

from accounts.people import once
from experiments.models import Provider, ProviderModel

if TYPE_CHECKING:
    from experiments.models.catalog import Person

# Parts of names by which providers tell that a model is made for one task.
SPECIALISED = re.compile(
    r"(?<![a-z])(cod(e|er|ing)|embed(ding)?s?|guard|math|moderation|ocr|rerank(er)?|translate|tts|whisper)(?![a-z])",
    re.IGNORECASE,
)


def available_models() -> list[ProviderModel]:
    """Those that are switched on, each with its provider."""
    return once(_available)


def askable_models() -> list[ProviderModel]:
    """Those among them that can be asked now."""
    return once(_askable)


def speaking_models() -> list[tuple[str, str]]:
    """Slugs and labels of those that can take a seat in a talk."""
    return [(model.slug, model.label) for model in askable_models() if not model.is_tool]


def general_models() -> list[str]:
    """Slugs of those that can take a seat in a talk; those made for one task, by their names, come last, and simulated
    ones after all others.
    """
    models = [model for model in askable_models() if not model.is_tool]
    models.sort(key=lambda model: (model.provider.is_simulated, bool(SPECIALISED.search(model.slug))))
    return [model.slug for model in models]


def _available(_person: "Person") -> list[ProviderModel]:
    return list(ProviderModel.objects.available())


def _askable(person: "Person") -> list[ProviderModel]:
    keyless = Provider.objects.lacking_key(person)
    return [model for model in available_models() if model.provider_id not in keyless]
