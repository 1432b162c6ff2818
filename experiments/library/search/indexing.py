"""Keeps what is found by its words up to date, in the transaction of whoever writes the words.

Messages and set-ups are indexed as they stand in the database. What else has a text of its own, such as a note, calls
`put` when it is written and `drop` when it goes while its run stays, and adds to `OTHERS` what indexes all of its kind.
"""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from experiments.library.search import passages
from experiments.library.search.batches import batches
from experiments.library.search.content import content
from experiments.library.search.passages import Tables
from experiments.models import Experiment, Message, Participant, Passage, Run

TODAY = Tables(Experiment, Participant, Message, Passage)
AT_ONCE = 500
OTHERS: list[Callable[[], int]] = []  # each indexes all texts of a kind, and returns how many there were


def messages(*keys: UUID) -> None:
    for some in batches(keys, AT_ONCE):
        passages.index_messages(TODAY, some)


def of_run(run: UUID) -> None:
    """Index all messages of a run."""
    messages(*Message.objects.filter(run_id=run).order_by("seq").values_list("pk", flat=True))


def setup(*experiments: UUID) -> None:
    """Index titles and prompts."""
    for some in batches(experiments, AT_ONCE):
        passages.index_setups(TODAY, some)


def put(
    kind: str, source: UUID, text: str, *, run: Run, message: Message | None = None, reader: int | None = None
) -> None:
    """Index a text that belongs to a run, or to one of its messages. reader: the key of the only person who may find
    it; None for everybody who sees the run.
    """
    marks = passages.of_experiment(run.experiment.workflow, run.experiment.owner_id)
    place = {"experiment_id": run.experiment_id, "run": run, "message": message, "reader_id": reader}
    fields = {**place, "kind": kind, "source": source, "created": timezone.now(), "words": content(marks, [text])}
    passages.write(TODAY, [fields])


def drop(kind: str, source: UUID) -> None:
    Passage.objects.filter(kind=kind, source=source).delete()


def everything(tables: Tables = TODAY, *, only_missing: bool = False) -> int:
    """Index all set-ups and messages, some at a time, also while runs are live. Returns how many there were."""
    setups = _all(tables, tables.experiment, passages.SETUP, passages.index_setups, only_missing)
    return setups + _all(tables, tables.message, passages.MESSAGE, passages.index_messages, only_missing)


def _all(tables: Tables, model: Any, kind: str, index: Callable[[Tables, Iterable[UUID]], None], rest: bool) -> int:
    """Some rows in a transaction. They are locked in it, so that what is read of a live run is not older than what its
    driver has indexed meanwhile.
    """
    count, rows = 0, model.objects.order_by("pk")
    if rest:
        rows = rows.filter(~Exists(tables.passage.objects.filter(kind=kind, source=OuterRef("pk"))))
    last = UUID(int=0)
    while True:
        with transaction.atomic():
            keys = list(rows.filter(pk__gt=last).values_list("pk", flat=True)[:AT_ONCE])
            if not keys:
                return count
            list(model.objects.filter(pk__in=keys).order_by("pk").select_for_update().values_list("pk"))
            index(tables, keys)
        count, last = count + len(keys), keys[-1]
