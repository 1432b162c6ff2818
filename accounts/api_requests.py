"""What the API does with every request: read it, know who asks, count it, and say in the answer what is left."""

import time
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_vary_headers, set_response_etag
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.addresses import address_of

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Project

Checked = TypeVar("Checked", bound=serializers.Serializer[Any])
MINUTE = 60
TOKENS = {"Authorization", "X-Api-Key"}  # the headers that they come in


def validated(serializer: type[serializers.Serializer[Any]], request: Request, **options: Any) -> dict[str, Any]:
    """What the request says. Raises and takes options as `checked` does."""
    return dict(checked(serializer, request, **options).validated_data)


def checked(serializer: type[Checked], request: Request, *, allow_unknown: bool = False, **options: Any) -> Checked:
    """The serializer with what the request says. Raises ValidationError, also for a field that does not exist: a
    misspelled one would go unnoticed. allow_unknown: for clients of other systems, which say more than is read here.
    """
    found = serializer(data=request.data, **options)
    is_valid = found.is_valid()
    unknown = [] if allow_unknown else _unknown_fields(found, request.data)
    if unknown or not is_valid:
        sentence = _("This field does not exist, or cannot be set.")
        raise ValidationError({**found.errors, **{name: [sentence] for name in unknown}})
    return found


def _unknown_fields(reader: Any, said: Any, within: str = "") -> list[str]:
    """Names of what cannot be set, the parts of other fields as `comments.0.text`. reader: of any kind of field."""
    if isinstance(reader, serializers.ListSerializer) and isinstance(said, list):
        return [
            name
            for number, part in enumerate(said)
            for name in _unknown_fields(reader.child, part, f"{within}{number}.")
        ]
    if not (isinstance(reader, serializers.Serializer) and isinstance(said, Mapping)):
        return []
    unknown: list[str] = []
    for name, value in said.items():
        field = reader.fields.get(str(name))
        if field is None or field.read_only:
            unknown.append(f"{within}{name}")
        else:
            unknown += _unknown_fields(field, value, f"{within}{name}.")
    return unknown


def person(request: Request | HttpRequest) -> Any:
    return request.user


def project_among(rows: "QuerySet[Project]", pk: "UUID | None") -> "Project | None":
    """The project of this id, None for none. Raises ValidationError where it is not among these."""
    found = rows.filter(pk=pk).first() if pk else None
    if pk and found is None:
        raise ValidationError({"project": ["There is no such project."]})
    return found


class ShallowJsonParser(JSONParser):
    """JSON; what is nested deeper than Python can read is refused like any other that cannot be read."""

    def parse(self, stream: IO[Any], media_type: Any = None, parser_context: Any = None) -> dict[str, Any]:
        try:
            found: dict[str, Any] = super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply.")) from error
        return found


# --- how often: so many requests of one person and of one address in a minute; 0 in the settings is no limit ---


class PerMinute(BaseThrottle):
    """Counts whole minutes by one clock. What is left is noted at the request, for the headers of its answer."""

    setting = ""

    def allow_request(self, request: Request, view: Any) -> bool:
        most, who = int(getattr(settings, self.setting)), self.counted(request)
        if not most or who is None:
            return True
        minute, second = divmod(int(time.time()), MINUTE)
        self._left = MINUTE - second
        used = counted(f"rate:{self.setting}:{who}:{minute}", 2 * MINUTE)
        rate = {"limit": most, "remaining": max(most - used, 0), "reset": self._left}
        before = getattr(request._request, "rate", None)
        if before is None or rate["remaining"] < before["remaining"]:
            request._request.rate = rate  # type: ignore[attr-defined]  # read where the headers are written
        return used <= most

    def wait(self) -> float:
        return self._left

    def counted(self, request: Request) -> str | None:
        """Whose requests are counted together. None: nobody's."""
        raise NotImplementedError


class OfPerson(PerMinute):
    setting = "API_PER_PERSON"

    def counted(self, request: Request) -> str | None:
        return str(request.user.pk) if request.user.is_authenticated else None


class OfAddress(PerMinute):
    setting = "API_PER_ADDRESS"

    def counted(self, request: Request) -> str | None:
        return address_of(request._request)


class OfTests(OfPerson):
    """Asking a provider whether a key is good costs money, and is a way to try stolen keys."""

    setting = "API_KEY_TESTS"


def counted(key: str, seconds: int) -> int:
    """How often it was counted, this time included, in so many seconds from the first time on."""
    cache.add(key, 0, seconds)
    try:
        return int(cache.incr(key))
    except ValueError:  # it expired, or Redis went away, between the two
        return 1


class ApiAnswerMiddleware(MiddlewareMixin):
    """ETags of what was read, 304 for who has it already, and `X-RateLimit-…`."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if not request.path.startswith("/api/"):
            return response
        if request.method == "GET" and response.status_code == 200 and not response.streaming:
            if not response.has_header("ETag"):
                set_response_etag(response)
            # Kept by the program that asked, and asked for again each time: what one may see can change at any moment.
            # What a browser asks for on behalf of its person is not kept (ShieldMiddleware says so).
            is_browsers = request.user.is_authenticated and not TOKENS & request.headers.keys()
            if not (response.has_header("Cache-Control") or is_browsers):
                response["Cache-Control"] = "private, no-cache"
            patch_vary_headers(response, ["Authorization", "Cookie", "Accept-Language"])
            answer = get_conditional_response(request, etag=response["ETag"], response=response)
            assert isinstance(answer, HttpResponse)  # noqa: S101 - for mypy: it is the response, or what stands for it
            response = answer
        for name, value in (getattr(request, "rate", None) or {}).items():
            response[f"X-RateLimit-{name.title()}"] = str(value)
        return response
