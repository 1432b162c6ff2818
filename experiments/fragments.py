"""Events as HTML: one template per event type serves the first paint, the live push and the report."""

from functools import lru_cache
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils import translation

from experiments.timeline import Entry, entry


def render(shown: Entry, run_id: UUID | str) -> str:
    context = {"run_id": run_id, "anchor": shown.anchor, "type": shown.type, "data": shown.data}
    return render_to_string(f"events/{shown.type}.html", context)


def render_envelope(envelope: dict[str, Any], language: str) -> str | None:
    """The fragment of an event as it travels, in the viewer's language; None when it shows nothing."""
    shown = entry(envelope["type"], envelope["data"])
    return _rendered(_Key(envelope, shown), language) if shown else None


class _Key:
    """Lets the cache know an event by its run and number: a hundred viewers of a run share one rendering."""

    def __init__(self, envelope: dict[str, Any], shown: Entry) -> None:
        self.run_id, self.seq, self.shown = envelope["run"], envelope["seq"], shown

    def __hash__(self) -> int:
        return hash((self.run_id, self.seq))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and (self.run_id, self.seq) == (other.run_id, other.seq)


@lru_cache(maxsize=512)
def _rendered(key: _Key, language: str) -> str:
    with translation.override(language):
        return render(key.shown, key.run_id)
