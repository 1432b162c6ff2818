"""Events as HTML: one template per event type serves the first paint, the live push and the report."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils import translation

from experiments.timeline import Entry, entry

LOOKS = ("council", "debate", "coding")  # workflows whose pages show events in their own way
SEATS_OF_A_TALK = {"model", "researcher"}
OF_AN_ANSWER = re.compile(r"turn/\d+/answer")


def render(shown: Entry, run_id: UUID | str, look: str = "", **words: Any) -> str:
    """look: the workflow whose page it is for, where that has fragments of its own. words: what only the page knows,
    such as the researcher's name; a pushed fragment does without.
    """
    context = {"run_id": run_id, "anchor": shown.anchor, "type": shown.type, "data": shown.data, **words}
    look = look or ("starchamber" if _is_of_a_talk(shown) else "")
    folders = [f"{look}/events", "events"] if look else ["events"]
    return render_to_string([f"{folder}/{shown.type}.html" for folder in folders], context)


def _is_of_a_talk(shown: Entry) -> bool:
    """Whether a researcher and a model are who speaks, instead of two sides; events tell it by seat, subject or key."""
    judged = {judgment["subject"] for judgment in shown.data.get("judgments", ())}
    is_theirs = bool(SEATS_OF_A_TALK & {shown.data.get("seat"), *judged})
    return is_theirs or OF_AN_ANSWER.match(str(shown.data.get("key", ""))) is not None


def render_envelope(
    envelope: dict[str, Any], language: str, workflow: str = "", cast: Mapping[str, str] | None = None
) -> str | None:
    """The fragment of an event as it travels, in the viewer's language; None when it shows nothing. cast: the models'
    labels by seat, which the fragments of a council need.
    """
    shown = entry(envelope["type"], envelope["data"])
    look = workflow if workflow in LOOKS else ""
    return _rendered(_Key(envelope, shown, cast or {}), language, look) if shown else None


class _Key:
    """Lets the cache know an event by its run and number: a hundred viewers of a run share one rendering."""

    def __init__(self, envelope: dict[str, Any], shown: Entry, cast: Mapping[str, str]) -> None:
        self.run_id, self.seq, self.shown, self.cast = envelope["run"], envelope["seq"], shown, cast

    def __hash__(self) -> int:
        return hash((self.run_id, self.seq))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and (self.run_id, self.seq) == (other.run_id, other.seq)


@lru_cache(maxsize=512)
def _rendered(key: _Key, language: str, look: str) -> str:
    with translation.override(language):
        return render(key.shown, key.run_id, look, cast=key.cast)
