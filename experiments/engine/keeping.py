"""Words of calls under way, written down as they come: by a thread of its own, whatever else keeps the driver busy."""

import logging
import threading
from collections.abc import Callable, Iterable
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction

from experiments.models import Call

logger = logging.getLogger(__name__)

SAVE_SECONDS = 0.25  # a quarter of the time within which words are kept for good: machines are busy
Words = Iterable[tuple[UUID, str, str]]  # of each call: text, reasoning


class Keeper:
    """The thread. grown: gives the calls whose words have grown since it was asked last, with all of their words."""

    def __init__(self, grown: Callable[[], Words]) -> None:
        self._grown = grown
        self._unkept: dict[UUID, tuple[str, str]] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Afterwards it writes nothing any more."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._end.wait(SAVE_SECONDS):
                try:
                    self._keep()
                except Exception:  # words that cannot be written down are no reason to lose others
                    logger.exception("words of calls under way could not be written down")
        finally:
            connection.close()

    def _keep(self) -> None:
        """What cannot be written down now is written the next time."""
        self._unkept |= {call_id: (text, reasoning) for call_id, text, reasoning in self._grown()}
        try:
            write_down((call_id, *words) for call_id, words in self._unkept.items())
        except (OperationalError, InterfaceError) as error:
            logger.warning("words of %s calls are not written down yet: %s", len(self._unkept), type(error).__name__)
            connection.close()
        else:
            self._unkept.clear()


def write_down(words: Words) -> None:
    """Of the calls that are still under way."""
    to_database = Call._meta.pk.get_db_prep_value
    rows = [
        (text, reasoning, to_database(call_id, connection), Call.State.SENT.value) for call_id, text, reasoning in words
    ]
    if not rows:
        return
    table = connection.ops.quote_name(Call._meta.db_table)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET text = %s, reasoning = %s WHERE id = %s AND state = %s", rows)  # noqa: S608 — names of our own tables
