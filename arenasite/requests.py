"""What is known of every request: its id in every line of a log and in its answer, how long it took, how it ended."""

import logging
import re
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse

from accounts import logs
from accounts.paths import route_of, shown_path
from experiments.lab.observing import counting

logger = logging.getLogger(__name__)

HEADER = "X-Request-ID"
WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
UNTOLD = ("api-health", "metrics", "unknown")  # asked every few seconds, or files, or what nobody has heard of


class RequestMiddleware:
    """Comes first, so that nothing is answered without it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began, name = time.perf_counter(), request_id(request.headers.get(HEADER, ""))
        with logs.about(request=name):
            response = self._get_response(request)
            _tell(request, response.status_code, time.perf_counter() - began)
        response[HEADER] = name
        return response

    def process_view(self, request: HttpRequest, *args: Any) -> None:
        """By now it is known who asks."""
        logs.note(user=request.user.pk)


def request_id(given: str) -> str:
    """The one that a proxy or a client has given it, if it is one; otherwise a new one."""
    return given if WELL_FORMED.fullmatch(given) else uuid4().hex


def _tell(request: HttpRequest, status: int, seconds: float) -> None:
    route, method = route_of(request), request.method or ""
    counting.add(counting.HTTP_REQUESTS, route, method if method in METHODS else "other", str(status))
    counting.observe(counting.HTTP_SECONDS, seconds, route)
    level = logging.DEBUG if route in UNTOLD else logging.INFO
    logger.log(level, "%s %s %s in %.0f ms", method, shown_path(request), status, 1000 * seconds)
