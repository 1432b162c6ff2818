"""What a run was set up with, in the words of its set-up page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from experiments.setup.config_form import flat
from experiments.setup.forms import labels_of
from experiments.workflows import surface_of

LONG = 80  # characters of a text that stands by itself


@dataclass(frozen=True, slots=True)
class SetupFact:
    name: str
    label: str
    text: str

    @property
    def is_long(self) -> bool:
        return len(self.text) > LONG or "\n" in self.text


def facts(workflow: str, config: Mapping[str, Any]) -> Iterator[SetupFact]:
    """Of a workflow that declares its set-up page, in the order of its groups; of others, what is stored."""
    page = surface_of(workflow).setup
    renamed = page.renamed if page else {}
    values = dict(flat({renamed.get(name, name): value for name, value in config.items()}))
    labels = labels_of(page) if page else {}
    names = page.fields if page else tuple(values)
    for name in names:
        if values.get(name) not in (None, "", []):
            yield SetupFact(name, str(labels.get(name, name)), _said(values[name]))


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
