"""Saves the text of calls under way as it comes, in a thread of its own: whatever else keeps the driver busy."""

import logging
import threading
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple, Protocol
from uuid import UUID

from django.db import Error as DatabaseTrouble
from django.db import connection, transaction

from experiments.models import Call

logger = logging.getLogger(__name__)

SAVE_SECONDS = 0.25  # a quarter of the time within which text is to be in the database: machines are busy
LOCK_MILLISECONDS = 1000  # that it waits for a lock: what is not saved now is saved the next time
BRIEF_LOCKS = {
    "sqlite": f"PRAGMA busy_timeout = {LOCK_MILLISECONDS}",
    "postgresql": f"SET lock_timeout = {LOCK_MILLISECONDS}",
}
Words = tuple[UUID, str, str]  # of a call: text, reasoning


class Partial(NamedTuple):
    """What a call has said so far. size: how much of it there was, as its source counts."""

    call_id: UUID
    text: str
    reasoning: str
    size: tuple[int, int]

    @property
    def words(self) -> Words:
        return self.call_id, self.text, self.reasoning


class Source(Protocol):
    """Of text. partials: the calls under way that have grown since they were saved."""

    def partials(self) -> list[Partial]: ...
    def saved(self, partials: Iterable[Partial]) -> None: ...


class PartialTextWriter:
    """The thread, with a database connection of its own."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="partial-text", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Save what there is; afterwards it writes nothing any more."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(SAVE_SECONDS):
            self._save()
        self._save()
        connection.close()

    def _save(self) -> None:
        try:
            if grown := self._source.partials():
                if connection.connection is None:  # unlike other connections, this one waits for locks only briefly
                    with connection.cursor() as cursor:
                        cursor.execute(BRIEF_LOCKS[connection.vendor])
                save(one.words for one in grown)
                self._source.saved(grown)
        except DatabaseTrouble as error:
            logger.warning("text of %s calls is not saved yet: %s", len(grown), type(error).__name__)
            connection.close()
        except Exception:  # one that ends this thread would lose the text of all calls to come
            logger.exception("text of calls under way could not be saved")
            connection.close()


def save(words: Iterable[Words]) -> None:
    """Of the calls that are still under way."""
    to_database = Call._meta.pk.get_db_prep_value
    rows = [
        (text, reasoning, to_database(call_id, connection), Call.State.SENT.value)
        for call_id, text, reasoning in sorted(words, key=itemgetter(0))  # in which order others lock them, too
    ]
    if not rows:
        return
    table = connection.ops.quote_name(Call._meta.db_table)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET text = %s, reasoning = %s WHERE id = %s AND state = %s", rows)  # noqa: S608 — names of our own tables
