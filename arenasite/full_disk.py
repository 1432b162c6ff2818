"""What is answered while the disk is full: what cannot be done, that nothing is lost, and whom to tell."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts.addresses import shown_path
from arenasite.problems import answer
from experiments.tasks.room import is_out_of_room

log = logging.getLogger(__name__)


class FullDiskMiddleware:
    """507 where something could not be written; what only reads goes on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not is_out_of_room(error):
            return None
        log.error("the disk is full: %s could not be done", shown_path(request))
        detail = _(
            "The disk of the server is full. Nothing was recorded or lost: tell an administrator, and try again."
        )
        return answer(request, 507, "Insufficient Storage", detail, "500.html")
