"""Why something was not done: the one tree of refusals, and the HTTP status of each, the same on pages and in the API.

A verb raises them with a sentence for whoever asks: what is wrong, and what to do. The API answers them as problem
documents (`experiments.api.problems`), pages by `accounts.refusing`.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from itertools import chain

from django.core.exceptions import PermissionDenied
from django.http import Http404

Errors = dict[str, list[str]]


class Refusal(Exception):
    """Anything that was asked for and not done. Its text is a sentence for whoever asks."""

    status = HTTPStatus.BAD_REQUEST
    page = "refused.html"  # what a person sees where no form and no page before it says it


class Invalid(Refusal):
    """400: what was sent cannot be taken. errors: sentences by field. A form that shows them is answered with 422."""

    def __init__(self, errors: Mapping[str, Sequence[str]] | None = None, **sentences: str) -> None:
        self.errors: Errors = {name: list(texts) for name, texts in (errors or {}).items()}
        self.errors |= {name: [text] for name, text in sentences.items()}
        super().__init__(" ".join(chain.from_iterable(self.errors.values())))


class ActionUnavailable(Invalid):
    """400: there is no such action here, or not now."""

    def __init__(self, sentence: str) -> None:
        super().__init__(action=sentence)


class TooLarge(Refusal):
    """413: what was sent, or what it unpacks to, is larger than what is taken."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class Forbidden(Refusal, PermissionDenied):
    """403: the person may know of it, but not do that."""

    status = HTTPStatus.FORBIDDEN


class NotFound(Refusal, Http404):
    """404: it does not exist, or the person may not know of it."""

    status = HTTPStatus.NOT_FOUND


class Conflict(Refusal):
    """409: nobody may do that as things are now, or somebody else was first. Nothing was changed."""

    status = HTTPStatus.CONFLICT


class AlreadyAnswered(Conflict):
    """409: another answer was recorded here before."""


class RateLimited(Refusal):
    """429: too much was asked for in too short a time."""

    status = HTTPStatus.TOO_MANY_REQUESTS


class Unavailable(Refusal):
    """503: what is needed for it does not answer. The same can be asked for again later."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
