"""What every view of the API does with a request: read it, know who asks, and tell refusals."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from accounts.refusals import NotPossible


class Impossible(APIException):
    """Nobody may do that as things are. (What is not for whoever asks is a PermissionDenied already.)"""

    status_code = 409
    default_code = "impossible"


def validated(serializer: type[serializers.Serializer[Any]], request: Request, **options: Any) -> dict[str, Any]:
    checked = serializer(data=request.data, **options)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


def person(request: Request | HttpRequest) -> Any:
    return request.user


@contextmanager
def possible() -> Iterator[None]:
    """What a verb about people finds impossible, as the problem that tells of it."""
    try:
        yield
    except NotPossible as error:
        raise Impossible(str(error)) from error
