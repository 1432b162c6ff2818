"""A client that does not give up: what was not answered is asked again, under the same Idempotency-Key."""

import http.client
import json
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

ANSWER_SECONDS = 40.0
PAUSE_SECONDS = 0.3
AWAY = (urllib.error.URLError, http.client.HTTPException, OSError, ValueError)


class Over(Exception):
    """The time in which anything may be asked is over."""


class Refused(Exception):
    """The API said no: status and the problem's words."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status} {body[:300]}")
        self.status = status


@dataclass(slots=True)
class Api:
    """until: monotonic seconds after which nothing is asked any more. troubles: what came instead of answers."""

    base: str
    token: str
    until: float = float("inf")
    troubles: Counter[str] = field(default_factory=Counter)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of the first answer that is one. Raises Refused for 4xx, Over."""
        content = self.fetch(method, path, body)
        return json.loads(content) if content else None

    def fetch(self, method: str, path: str, body: Any = None) -> bytes:
        key = uuid.uuid4().hex if method == "POST" else ""
        while time.monotonic() < self.until:
            try:
                return self._once(method, path, body, key)
            except urllib.error.HTTPError as error:
                self.troubles[str(error.code)] += 1
                if error.code < 500 and error.code != 429:
                    raise Refused(error.code, error.read().decode("utf-8", "replace")) from error
            except AWAY as error:
                reason = getattr(error, "reason", error)
                self.troubles[type(reason).__name__ if not isinstance(reason, str) else "URLError"] += 1
            time.sleep(PAUSE_SECONDS)
        raise Over(path)

    def twice(self, path: str, body: Any) -> tuple[Any, Any]:
        """The same POST two times under one key, as a client does that lost the first answer."""
        key = uuid.uuid4().hex
        first, second = (self._insist(path, body, key) for _ in range(2))
        return first, second

    def _insist(self, path: str, body: Any, key: str) -> Any:
        while time.monotonic() < self.until:
            try:
                return json.loads(self._once("POST", path, body, key))
            except urllib.error.HTTPError as error:
                self.troubles[str(error.code)] += 1
                if error.code < 500 and error.code != 409:
                    raise Refused(error.code, error.read().decode("utf-8", "replace")) from error
            except AWAY as error:
                self.troubles[type(error).__name__] += 1
            time.sleep(PAUSE_SECONDS)
        raise Over(path)

    def _once(self, method: str, path: str, body: Any, key: str) -> bytes:
        """Raises HTTPError, URLError, OSError, ValueError (an answer that broke off)."""
        request = urllib.request.Request(f"{self.base}/api/{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        if key:
            request.add_header("Idempotency-Key", key)
        data = None
        if body is not None:
            request.add_header("Content-Type", "application/json")
            data = json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=ANSWER_SECONDS) as answer:
            content: bytes = answer.read()
        return content
