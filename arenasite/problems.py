"""What is answered when there is no page, or a page failed: a problem document to programs, a page to people."""

import sys
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from accounts import logs

SAFE = ("GET", "HEAD", "OPTIONS")
RETRY_SECONDS = 3


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 404, "Not Found", "There is nothing here, or nothing that you may see.", "404.html")


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Whoever tries passwords without end is slowed down (django-allauth asks for this page)."""
    return answer(request, 429, "Too Many Requests", "You have tried too often. Try again in a minute.", "429.html")


def server_error(request: HttpRequest) -> HttpResponse:
    """Called while the exception is handled. The database being away is no fault of ours, and passes."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return _database_away(request)
    return answer(request, 500, "Internal Server Error", "The server failed.", "500.html")


def _database_away(request: HttpRequest) -> HttpResponse:
    """503 says that nothing was done. Of a change nobody can know: its commit may have gone unconfirmed."""
    if request.method in SAFE:
        detail = "The database does not answer at the moment. Ask again in a few seconds."
        told = answer(request, 503, "Service Unavailable", detail, "503.html")
    else:
        detail = (
            "The database did not answer, so it is not known whether this was done. Look before you do it again, or "
            "repeat it under the same Idempotency-Key."
        )
        told = answer(request, 502, "Bad Gateway", detail, "503.html")
    told["Retry-After"] = str(RETRY_SECONDS)
    return told


def answer(request: HttpRequest, status: int, title: str, detail: str, template: str) -> HttpResponse:
    """A problem document to programs, a page to people."""
    name = logs.known().get("request", "")
    if request.path.startswith("/api/"):
        problem: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        if name:
            problem["request_id"] = name
        return JsonResponse(problem, status=status, content_type="application/problem+json")
    return render(request, template, {"detail": detail, "request_id": name}, status=status)
