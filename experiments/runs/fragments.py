"""Events as HTML: one template per event type serves the first paint, the live push and the report."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils import translation

from experiments.models import Experiment
from experiments.models.work import Envelope
from experiments.runs.timeline import Entry, entry
from experiments.workflows import surface_of

FAMILIES = {  # types of events that look alike: where one has no template of its own, that of its family shows it
    **{f"message_{what}": "message" for what in ("completed", "parsed", "superseded", "filtered", "altered")},
    **{f"call_{what}": "call" for what in ("retried", "lost", "failed")},
}


def look_of(experiment: Experiment) -> str:
    """The workflow whose fragments show its events: as a rule its own."""
    look = surface_of(experiment.workflow).look
    return look(experiment.config) if look else experiment.workflow


def render(shown: Entry, run_id: UUID | str, look: str, **words: Any) -> str:
    """words: what only the page knows, such as the run; a pushed fragment does without."""
    context = {"run_id": run_id, "anchor": shown.anchor, "type": shown.type, "data": shown.data, **words}
    context["slot"] = surface_of(look).slot(shown.type, shown.data)
    names = [name for name in (shown.type, FAMILIES.get(shown.type)) if name]
    templates = [f"{place}events/{name}.html" for place in (f"workflows/{look}/", "") for name in names]
    return render_to_string([*templates, "events/pairs.html"], context)


def render_envelope(envelope: Envelope, language: str, look: str, cast: Mapping[str, str]) -> str | None:
    """The fragment of an event as it travels, in the viewer's language; None when it shows nothing. cast: the models'
    labels by seat, which some fragments need.
    """
    shown = entry(envelope["type"], envelope["data"])
    return _rendered(_Key(envelope, shown, cast), language, look) if shown else None


class _Key:
    """Lets the cache know an event by its run and number: a hundred viewers of a run share one rendering."""

    def __init__(self, envelope: Envelope, shown: Entry, cast: Mapping[str, str]) -> None:
        self.run_id, self.seq, self.shown, self.cast = envelope["run"], envelope["seq"], shown, cast

    def __hash__(self) -> int:
        return hash((self.run_id, self.seq))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and (self.run_id, self.seq) == (other.run_id, other.seq)


@lru_cache(maxsize=512)
def _rendered(key: _Key, language: str, look: str) -> str:
    with translation.override(language):
        return render(key.shown, key.run_id, look, cast=key.cast)
