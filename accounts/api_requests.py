"""What every view of the API does with a request: read it, and know who asks."""

from typing import Any

from django.http import HttpRequest
from rest_framework import serializers
from rest_framework.request import Request


def validated(serializer: type[serializers.Serializer[Any]], request: Request, **options: Any) -> dict[str, Any]:
    checked = serializer(data=request.data, **options)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


def person(request: Request | HttpRequest) -> Any:
    return request.user
