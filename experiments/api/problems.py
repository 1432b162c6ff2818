"""Errors of the API as problem documents (RFC 9457)."""

from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework import exceptions, serializers
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from accounts import logs
from accounts.errors import Invalid, Refusal, TooLarge
from experiments.engine.text import storable

PROBLEM_TYPE = "application/problem+json"
TOO_LARGE = "The request is too large: use less text."


class ProblemSerializer(serializers.Serializer[Any]):
    """A problem document. errors names the fields at fault, where there are any. request_id: by which the lines about
    the request are found in the logs; also in the header `X-Request-ID` of every answer.
    """

    type = serializers.CharField(default="about:blank")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    request_id = serializers.CharField(required=False)
    errors = serializers.DictField(  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
        child=serializers.ListField(child=serializers.CharField()), required=False
    )


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """A refusal is answered with the status that its class has."""
    if isinstance(error, RequestDataTooBig):
        error = TooLarge(TOO_LARGE)
    if isinstance(error, Refusal) and str(error):
        told = exceptions.APIException(error.errors if isinstance(error, Invalid) else str(error))
        told.status_code, error = error.status, told
    response = exception_handler(error, context)
    if response is None:
        return None
    response.data = problem(response.status_code, response.data)
    response.content_type = PROBLEM_TYPE
    return response


def problem(status: int, said: Any) -> dict[str, object]:
    document: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    if name := logs.known().get("request"):
        document["request_id"] = name
    if isinstance(said, dict) and set(said) == {"detail"}:
        return {**document, "detail": str(said["detail"])}
    if isinstance(said, dict):
        errors = {storable(str(field)): _sentences(messages) for field, messages in said.items()}
        named = [_named(field, text) for field, texts in errors.items() for text in texts]
        return {**document, "detail": " ".join(named), "errors": errors}
    return {**document, "detail": " ".join(_sentences(said))}


def _named(field: str, text: str) -> str:
    """The complaint with the field that it is about, as a sentence."""
    sentence = text if text.endswith((".", "!", "?")) else f"{text}."
    return sentence if field == api_settings.NON_FIELD_ERRORS_KEY else f"{field}: {sentence}"


def _sentences(messages: Any) -> list[str]:
    if isinstance(messages, dict):
        return [storable(f"{field}: {text}") for field, inner in messages.items() for text in _sentences(inner)]
    if isinstance(messages, list):
        return [text for message in messages for text in _sentences(message)]
    return [storable(str(messages))]
