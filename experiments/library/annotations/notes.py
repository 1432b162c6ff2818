"""Notes: what somebody writes about a run or a message, for themselves or for all who may see it.

The search finds them, those that are not shared for their authors alone.
"""

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Forbidden, Invalid
from experiments.engine.text import is_storable
from experiments.library.search import finding, indexing
from experiments.models import Export, Message, Note, Passage, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

    from accounts.models import User

LONGEST_NOTE = 20_000
MOST_NOTES = 500  # of one person on one run


def write(run: Run, text: str, *, by: "User", message: Message | None = None, shared: bool = False) -> Note:
    """A new note on a run that its author may see. Raises Invalid for a text that cannot be kept."""
    words = _checked(text)
    if message is not None and message.run_id != run.pk:
        raise Invalid(message=_("This message belongs to another run."))
    with transaction.atomic():
        if run.notes.filter(author=by).count() >= MOST_NOTES:
            raise Invalid(text=_("You already have %(most)s notes on this run. Delete some.") % {"most": MOST_NOTES})
        note = Note.objects.create(run=run, message=message, author=by, text=words, shared=shared)
        _index(note)
        _outdate_files(note)
    return note


def revise(note: Note, *, by: "User", text: str, shared: bool) -> None:
    """What it says from now on, and who reads it. Raises Forbidden and Invalid."""
    _require_author(note, by)
    words = _checked(text)
    with transaction.atomic():
        Note.objects.filter(pk=note.pk).update(text=words, shared=shared, edited=timezone.now())
        note.refresh_from_db()
        _index(note)
        _outdate_files(note)


def remove(note: Note, *, by: "User") -> None:
    _require_author(note, by)
    with transaction.atomic():
        indexing.drop(Passage.Kind.NOTE, note.pk)
        _outdate_files(note)
        note.delete()


def notes_on(run: Run, reader: "User | AnonymousUser") -> "QuerySet[Note]":
    """Those that somebody reads beside a run: of the run first, then message by message."""
    rows = Note.objects.visible_to(reader).filter(run=run).select_related("author", "message")
    return rows.order_by("message__seq", "created", "id")


def connect_search() -> None:
    finding.TEXTS[Passage.Kind.NOTE] = lambda keys: dict(Note.objects.filter(pk__in=keys).values_list("pk", "text"))
    indexing.OTHERS.append(_index_all)


def _index(note: Note) -> None:
    reader = None if note.shared else note.author_id
    indexing.put(Passage.Kind.NOTE, note.pk, note.text, run=note.run, message=note.message, reader=reader)


def _index_all() -> int:
    rows = Note.objects.select_related("run__experiment", "message")
    for note in rows.iterator(500):
        _index(note)
    return rows.count()


def _outdate_files(note: Note) -> None:
    """Files that hold its author's notes are made anew when they are asked for again."""
    Export.objects.filter(run=note.run_id, owner=note.author_id).exclude(state=Export.State.QUEUED).delete()


def _require_author(note: Note, by: "User") -> None:
    if note.author_id != by.pk:
        raise Forbidden(_("Only its author can change a note."))


def _checked(text: str) -> str:
    words = text.replace("\r\n", "\n").strip()
    if not words or len(words) > LONGEST_NOTE or not is_storable(words):
        raise Invalid(text=_("A note has 1 to %(most)s characters.") % {"most": f"{LONGEST_NOTE:,}"})
    return words
