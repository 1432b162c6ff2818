"""The models that whoever asks can choose from. A form asks for them at each of its fields, and the database once."""

from typing import TYPE_CHECKING

from accounts.asking import once
from experiments.models import ProviderModel

if TYPE_CHECKING:
    from experiments.models.catalog import Person


def askable_models() -> list[ProviderModel]:
    """Those that can be asked now, each with its provider."""
    return once(_askable)


def speaking_models() -> list[tuple[str, str]]:
    """Slugs and labels of those that can take a seat in a talk."""
    return [(model.slug, model.label) for model in askable_models() if not model.is_tool]


def _askable(person: "Person") -> list[ProviderModel]:
    return list(ProviderModel.objects.askable(person))
