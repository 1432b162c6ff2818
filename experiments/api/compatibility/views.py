"""What all the routes of other systems have in common: who is let in, how a refusal reads, and what names mean."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import APIException, NotAuthenticated
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import BearerAuthentication, KeyHeaderAuthentication
from accounts.errors import Invalid
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import spends as spending
from experiments.api.schema import Described
from experiments.models import ProviderModel

if TYPE_CHECKING:
    from accounts.models import User

Route = TypeVar("Route", bound=Callable[..., Any])
TAG = "compatibility"
KEY_HELP = "Ignored, and stored nowhere: models are asked with the keys that are kept here."
REFUSALS: dict[Any, Any] = dict.fromkeys((400, 401, 403, 404, 409), ProblemSerializer)
SPENDING_REFUSALS = {**REFUSALS, 429: ProblemSerializer, 502: ProblemSerializer, 504: ProblemSerializer}


class Text(serializers.CharField):
    """As it was typed."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"required": False, "allow_blank": True, "default": "", "trim_whitespace": False, **more})


class ProviderFailed(APIException):
    """The model gave no answer. What the provider said is told as an error, and is never part of a talk."""

    status_code = 502
    default_code = "provider_failed"


class TooManyRequests(ProviderFailed):
    status_code = 429


class NotYet(APIException):
    """The request has waited long enough; the run goes on."""

    status_code = 504
    default_code = "not_yet"


class WhateverIsAccepted(BaseContentNegotiation):
    """The clients ask for JSON and for events in any way they like, and get what the route gives."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        first = next(iter(renderers))
        return first, first.media_type


class OfClients(Described):
    """Whatever type a client names is taken, so it is never told that there is none of it."""

    def statuses_of_problems(self) -> list[int]:
        return [status for status in super().statuses_of_problems() if status not in (406, 415)]


class ClientView(APIView):
    """A route of another system. A problem document that refuses it says the same in the client's own words, too."""

    authentication_classes = [BearerAuthentication, KeyHeaderAuthentication, SessionAuthentication]
    content_negotiation_class = WhateverIsAccepted
    schema = OfClients()

    def permission_denied(self, request: Request, message: str | None = None, code: str | None = None) -> Any:
        if not request.successful_authenticator:
            raise NotAuthenticated(
                _("Sign in, or send a token: “Authorization: Bearer TOKEN”. Tokens are made on the account page.")
            )
        super().permission_denied(request, message, code)

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        if isinstance(response.data, dict) and "detail" in response.data:
            response.data = {**response.data, **self.in_their_words(str(response.data["detail"]))}
        return response

    def in_their_words(self, detail: str) -> dict[str, object]:
        """The members by which the client knows that it was refused, beside those of a problem document."""
        return {"error": detail}


def described(
    name: str, request: Any = None, answer: Any = None, *, spends: bool = False, parameters: Sequence[Any] = ()
) -> Callable[[Route], Route]:
    """The route in the OpenAPI document. answer: what a success answers, or all answers by their statuses. spends:
    models are asked, so that it needs the scope, and takes an Idempotency-Key.
    """
    responses = answer if isinstance(answer, dict) else {200: answer, **(SPENDING_REFUSALS if spends else REFUSALS)}
    told = extend_schema(operation_id=name, tags=[TAG], request=request, responses=responses, parameters=parameters)
    return (lambda route: told(spending(route))) if spends else told


def now() -> str:
    return timezone.now().isoformat()


def slug_of(name: str, field: str) -> str:
    """The slug of the model that a client names: by the slug itself, or by what stands after the vendor's name, as in
    `deepseek-r1`. Raises Invalid where it could be several, or none.
    """
    models = ProviderModel.objects.available().speaking()
    if models.filter(slug=name).exists():
        return name
    found = [slug for slug in models.filter(slug__endswith=f"/{name}").values_list("slug", flat=True)[:2] if name]
    if len(found) == 1:
        return found[0]
    message = _("There is no model “%(name)s”. /api/models lists the available ones.") % {"name": name}
    raise Invalid({field: [message]})


def askable_slugs(person: "User") -> list[str]:
    return list(ProviderModel.objects.askable(person).speaking().values_list("slug", flat=True))


def reference(prefix: str, pk: UUID) -> str:
    return f"{prefix}_{pk.hex}"


def referred(prefix: str, text: str) -> UUID | None:
    """The id in a reference; None for what is none."""
    head, _, rest = text.partition("_")
    try:
        return UUID(rest) if head == prefix else None
    except ValueError:
        return None
