"""Notes in the search: found by whoever may read them."""

from collections.abc import Sequence
from uuid import UUID

from experiments.library.search import finding, indexing
from experiments.models import Note, Passage


def connect() -> None:
    finding.TEXTS[Passage.Kind.NOTE] = _texts
    indexing.OTHERS.append(_index_all)


def index(note: Note) -> None:
    """As it stands now; one that is not shared is found by its author alone."""
    reader = None if note.shared else note.author_id
    indexing.put(Passage.Kind.NOTE, note.pk, note.text, run=note.run, message=note.message, reader=reader)


def forget(note: Note) -> None:
    indexing.drop(Passage.Kind.NOTE, note.pk)


def _texts(keys: Sequence[UUID]) -> dict[UUID, str]:
    return dict(Note.objects.filter(pk__in=keys).values_list("pk", "text"))


def _index_all() -> int:
    count = 0
    for note in Note.objects.select_related("run__experiment", "message").iterator(500):
        index(note)
        count += 1
    return count
