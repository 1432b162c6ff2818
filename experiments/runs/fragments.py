"""Fragments of run pages that were rendered before. They are kept by what they show, so that none is ever stale."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

MOST_CHARACTERS = 8_000_000  # in all, of each process: about 35 pages of 24 messages


class Fragments:
    """The fragments that were asked for last, at most so many characters in all."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        self._most, self._size = most, 0
        self._kept: OrderedDict[bytes, str] = OrderedDict()
        self._lock = Lock()

    def of(self, given: list[Any], make: Callable[[], str]) -> str:
        """given: everything that the fragment depends on. Where that is more than plain data, such as the entries that
        stand inside another one, the fragment is made anew.
        """
        try:
            key = hashlib.blake2b(json.dumps(given, cls=DjangoJSONEncoder).encode(), digest_size=16).digest()
        except TypeError:
            return make()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        html = make()
        with self._lock:
            self._size += len(html) - len(self._kept.pop(key, ""))
            self._kept[key] = html
            while self._size > self._most:
                _oldest, gone = self._kept.popitem(last=False)
                self._size -= len(gone)
        return html
