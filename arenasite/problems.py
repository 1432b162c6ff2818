"""What is answered when there is no page, or a page failed: a problem document to programs, a page to people."""

import logging
import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from accounts import logs
from accounts.addresses import shown_path
from accounts.refusing import problem_response
from experiments.tasks.room import is_out_of_room

log = logging.getLogger(__name__)

SAFE = ("GET", "HEAD", "OPTIONS")
RETRY_SECONDS = 3


class FullDiskMiddleware(MiddlewareMixin):
    """507 where something could not be written; what only reads goes on."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not is_out_of_room(error):
            return None
        log.error("the disk is full: %s could not be done", shown_path(request))
        detail = _("The server's disk is full. Nothing was saved or lost. Tell an administrator, then try again.")
        return _answer(request, 507, detail, "500.html")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 404, "There is nothing here, or nothing that you may see.", "404.html")


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Whoever tries passwords without end is slowed down (django-allauth asks for this page)."""
    return _answer(request, 429, "You have tried too often. Try again in a minute.", "429.html")


def server_error(request: HttpRequest) -> HttpResponse:
    """Called while the exception is handled. The database being away is no fault of ours, and passes: 503 says that
    nothing was done. Of a change that cannot be known: its commit may have gone unconfirmed.
    """
    if not isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return _answer(request, 500, "The server failed.", "500.html")
    if request.method in SAFE:
        detail = "The database does not answer at the moment. Ask again in a few seconds."
        response = _answer(request, 503, detail, "503.html")
    else:
        detail = (
            "The database did not answer, so it is not known whether this was done. Look before you do it again, or "
            "repeat it under the same Idempotency-Key."
        )
        response = _answer(request, 502, detail, "503.html")
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _answer(request: HttpRequest, status: int, detail: str, template: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        return problem_response(status, detail)
    return render(request, template, {"detail": detail, "request_id": logs.known().get("request", "")}, status=status)
