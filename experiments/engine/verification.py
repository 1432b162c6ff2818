"""Whether the records of runs are whole: events and calls against their digests, and the database against what this
machine noted outside it.

A run whose record is damaged says so (`Run.damage`); no other run is touched by it.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from experiments.engine import digests
from experiments.models import Event, Run
from experiments.models.run import LIVE_STATES
from experiments.tasks import durable

HEADS = "heads.json"
MOST_HEADS = 2_000  # the runs that moved last
LATELY = timedelta(minutes=10)
AT_ONCE = 200
Heads = dict[str, tuple[int, str]]  # by run: the number of its last event, and that event's digest

EVENT_CHANGED, EVENT_MISSING = "event_changed", "event_missing"
CALL_CHANGED, CALLS_MISSING = "call_changed", "calls_missing"
OLDER, UNREADABLE = "older", "unreadable"


def verify(runs: QuerySet[Run]) -> Iterator[tuple[UUID, str]]:
    """Each run whose record is damaged, with its damage: a word, and the number of the event, the id of the call or how
    many calls it is about. Notes it at the run, and there also that it is whole again.
    """
    for key, noted in runs.order_by("pk").values_list("pk", "damage"):
        damage = _damage_of(key) and _damage_of(key)  # twice: meanwhile the run may have been deleted
        if damage != noted:
            Run.objects.filter(pk=key).update(damage=damage)
        if damage:
            yield key, damage


def _damage_of(key: UUID) -> str:
    """Others may write to the run meanwhile: what they add is newer than its row as it was read here."""
    try:
        newest = Event.objects.filter(run=key).aggregate(seq=Max("seq"))["seq"] or 0
        run = Run.objects.filter(pk=key).only("last_seq", "settled_calls").first()
        if run is None:
            return ""
        if newest > run.last_seq:
            return f"{EVENT_CHANGED} {newest}"
        return _damage_of_events(run) or _damage_of_calls(run)
    except Exception as error:  # a page that cannot be read, JSON that is none, a cost that is no number
        return f"{UNREADABLE} {type(error).__name__}"


def _damage_of_events(run: Run) -> str:
    before, seq = "", 0
    for event in run.events.filter(seq__lte=run.last_seq).order_by("seq").iterator(AT_ONCE):
        seq += 1
        if event.seq != seq:
            return f"{EVENT_MISSING} {seq}"
        if event.digest and event.digest != digests.of_event(before, event):
            return f"{EVENT_CHANGED} {seq}"
        before = event.digest
    return "" if seq == run.last_seq else f"{EVENT_MISSING} {seq + 1}"


def _damage_of_calls(run: Run) -> str:
    found = 0
    calls = run.calls.exclude(digest="").order_by("pk").values("digest", *digests.BEGUN, *digests.ENDED)
    for columns in calls.iterator(AT_ONCE):
        found += 1
        if columns["digest"] != digests.of_ended_call(digests.of_begun_call(columns), columns):
            return f"{CALL_CHANGED} {columns['id']}"
    return f"{CALLS_MISSING} {run.settled_calls - found}" if found < run.settled_calls else ""


def sentence(damage: str) -> str:
    """What people read of a damage."""
    kind, _space, about = damage.partition(" ")
    sentences = {
        EVENT_CHANGED: _("Event %(about)s was changed outside the platform."),
        EVENT_MISSING: _("Event %(about)s is missing."),
        CALL_CHANGED: _("Call %(about)s was changed outside the platform."),
        CALLS_MISSING: _("%(about)s calls are missing."),
        UNREADABLE: _("The database cannot read the record (%(about)s)."),
        OLDER: _("Event %(about)s was recorded, and is not there: the database is older than the record."),
    }
    return sentences[kind] % {"about": about}


def structure() -> list[str]:
    """What the database says of its own file. SQLite alone; it reads all of it."""
    if connection.vendor != "sqlite":
        return []
    found = []
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA integrity_check(20)")
            while row := cursor.fetchone():
                found.append(str(row[0]))
    except DatabaseError as error:  # where it cannot even look further
        found.append(str(error))
    return [] if found == ["ok"] else found


# --- what is noted outside the database ---


def note_heads() -> None:
    """Note how far runs have come, in a file of this machine. A sweep does; an older copy of the database lacks it."""
    noted = noted_heads()
    moved = Run.objects.filter(Q(state__in=LIVE_STATES) | Q(ended__gte=timezone.now() - LATELY), damage="")
    found = {run: head for run, head in _heads(moved) if noted.get(run, (0, ""))[0] < head[0]}
    if found:
        _keep({**{run: head for run, head in noted.items() if run not in found}, **found})


def noted_heads() -> Heads:
    try:
        noted = json.loads(_file().read_text())
    except (OSError, ValueError):
        return {}
    return {run: (int(seq), str(digest)) for run, (seq, digest) in noted.items()}


def forget_heads() -> None:
    """The database is another one on purpose: it was restored, or its state is accepted."""
    _file().unlink(missing_ok=True)


def older_than_noted() -> dict[UUID, str]:
    """Runs that had come further, or elsewhere, than the database knows, with their damage, which is noted at those
    that are there. Deleted runs are none.
    """
    noted, behind = list(noted_heads().items()), dict[UUID, str]()
    for first in range(0, len(noted), AT_ONCE):
        behind |= _behind(noted[first : first + AT_ONCE])
    deleted = set(Run._base_manager.filter(pk__in=behind, deleted__isnull=False).values_list("pk", flat=True))
    behind = {key: damage for key, damage in behind.items() if key not in deleted}
    for key, damage in behind.items():
        Run.objects.filter(pk=key).update(damage=damage)
    return behind


def _behind(noted: Sequence[tuple[str, tuple[int, str]]]) -> dict[UUID, str]:
    """Those of these runs whose last event is not there, or cannot be read."""
    asked = Q()
    for run, (seq, _digest) in noted:
        asked |= Q(run=run, seq=seq)
    try:
        there = {str(run): digest for run, digest in Event.objects.filter(asked).values_list("run", "digest")}
    except DatabaseError as error:
        if len(noted) > 1:  # the page of one of them
            return {run: damage for one in noted for run, damage in _behind([one]).items()}
        return {UUID(noted[0][0]): f"{UNREADABLE} {type(error).__name__}"}
    return {UUID(run): f"{OLDER} {seq}" for run, (seq, digest) in noted if there.get(run) != digest}


def _heads(runs: QuerySet[Run]) -> Iterator[tuple[str, tuple[int, str]]]:
    last = Event.objects.filter(run=OuterRef("pk"), seq=OuterRef("last_seq")).values("digest")
    rows = runs.filter(last_seq__gt=0).annotate(head=Subquery(last[:1])).order_by("pk")
    return ((str(run), (seq, digest)) for run, seq, digest in rows.values_list("pk", "last_seq", "head") if digest)


def _keep(heads: Heads) -> None:
    path = _file()
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".heads-", delete=False) as draft:
        json.dump(dict(list(heads.items())[-MOST_HEADS:]), draft)
    durable.place(Path(draft.name), path)


def _file() -> Path:
    return Path(settings.DATA_DIR) / HEADS
