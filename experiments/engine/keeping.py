"""Words of calls under way, written down as they come: by a thread of its own, whatever else keeps the driver busy."""

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

SAVE_SECONDS = 0.25  # a quarter of the time within which words are kept for good: machines are busy
PATIENCE = 1000  # milliseconds that it waits for a lock: what is not kept now is kept the next time
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
    """Of words. partials: the calls under way that have grown since they were kept."""

    def partials(self) -> list[Partial]: ...
    def kept(self, partials: Iterable[Partial]) -> None: ...


class Keeper:
    """The thread."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Keep what there is; afterwards it writes nothing any more."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(SAVE_SECONDS):
            self._keep()
        self._keep()
        connection.close()

    def _keep(self) -> None:
        try:
            if grown := self._source.partials():
                _connect()
                write_down(one.words for one in grown)
                self._source.kept(grown)
        except DatabaseTrouble as error:
            logger.warning("words of %s calls are not written down yet: %s", len(grown), type(error).__name__)
            connection.close()
        except Exception:  # one that ends this thread would lose the words of all calls to come
            logger.exception("words of calls under way could not be written down")
            connection.close()


def _connect() -> None:
    """In a hurry, unlike other connections."""
    if connection.connection is None:
        with connection.cursor() as cursor:
            is_sqlite = connection.vendor == "sqlite"
            cursor.execute(f"PRAGMA busy_timeout = {PATIENCE}" if is_sqlite else f"SET lock_timeout = {PATIENCE}")


def write_down(words: Iterable[Words]) -> None:
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
