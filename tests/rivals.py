"""Several at the same moment, each on a thread and a connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection


def at_once(*actions: Callable[[], Any], refused: type[Exception] | tuple[type[Exception], ...] = ()) -> list[Any]:
    """What each of them gave, or the refusal that it got; any other error is raised here. All begin together."""
    together, given, errors = threading.Barrier(len(actions)), [None] * len(actions), []

    def do(place: int, action: Callable[[], Any]) -> None:
        together.wait()
        try:
            given[place] = action()
        except Exception as error:
            given[place] = error
            errors.extend([error] if not isinstance(error, refused) else [])
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=pair) for pair in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
    return given
