"""The API of provider keys. A key goes in; what comes out is what is known about it."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_requests import OfTests
from accounts.permissions import GRAVE
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.spending import spends, spent_slowly
from experiments.lab.keys import keyring
from experiments.models import Provider, ProviderKey

REFUSALS = {**PROBLEMS, 403: ProblemSerializer, 409: ProblemSerializer}


class KeySerializer(serializers.ModelSerializer[ProviderKey]):
    """of: "lab" for the lab's keys, "me" for one's own. accepted: what the last test says; null where it says
    nothing.
    """

    provider = serializers.CharField(source="provider.name")
    of = serializers.SerializerMethodField()
    accepted = serializers.BooleanField(source="is_accepted", allow_null=True, read_only=True)
    test = serializers.ChoiceField(source="test_outcome", choices=["", *ProviderKey.Outcome.values], read_only=True)
    test_sentence = serializers.CharField(read_only=True)

    class Meta:
        model = ProviderKey
        fields = [
            "id",
            "of",
            "provider",
            "name",
            "hint",
            "created",
            "last_used",
            "tested",
            "test",
            "accepted",
            "test_sentence",
            "test_words",
        ]

    def get_of(self, key: ProviderKey) -> str:
        return "lab" if key.is_of_lab else "me"


class Secret(serializers.CharField):
    """Goes in and never comes out."""

    def __init__(self, **options: Any) -> None:
        style = {"input_type": "password"}
        super().__init__(**{"write_only": True, "max_length": keyring.LONGEST + 100, "style": style, **options})


class AddKey(serializers.Serializer[Any]):
    """of: whose key it is to be; "lab" is for administrators."""

    provider = serializers.SlugField()
    key = Secret()
    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=keyring.LONGEST_NAME)
    of = serializers.ChoiceField(["me", "lab"], required=False, default="me")


class ReplaceKey(serializers.Serializer[Any]):
    key = Secret()


class KeysView(generics.GenericAPIView[ProviderKey]):
    """Keys in use: one's own, and for administrators the lab's."""

    scope = Scope.ADMIN
    permission_classes = GRAVE
    serializer_class = KeySerializer
    queryset = ProviderKey.objects.none()
    cursor_ordering = ["-created", "id"]

    def get_queryset(self) -> QuerySet[ProviderKey]:
        return ProviderKey.objects.visible_to(self.request.user).active().select_related("provider")

    @extend_schema(responses={200: KeySerializer(many=True), **PROBLEMS})
    def get(self, request: Request) -> Response:
        """Keys in use: one's own, and for administrators the lab's."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(KeySerializer(page, many=True).data)

    @extend_schema(request=AddKey, responses={201: KeySerializer, **REFUSALS})
    @method_decorator(sensitive_variables("asked"))
    def post(self, request: Request) -> Response:
        """Store a key. It is never shown again, to anybody."""
        asked = validated(AddKey, request)
        provider = Provider.objects.filter(name=asked.pop("provider")).first()
        if provider is None:
            raise ValidationError({"provider": ["There is no provider of this name."]})
        for_lab = asked.pop("of") == "lab"
        made = keyring.add(by=person(request), provider=provider, for_lab=for_lab, **asked)
        return Response(KeySerializer(made).data, status=201)


class KeyView(APIView):
    """One key: what is known about it; another in its place; its removal."""

    scope = Scope.ADMIN
    permission_classes = GRAVE

    @extend_schema(responses={200: KeySerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        """What is known about a key."""
        return Response(KeySerializer(_key(request, pk)).data)

    @extend_schema(request=ReplaceKey, responses={200: KeySerializer, **REFUSALS})
    @method_decorator(sensitive_variables("asked"))
    def put(self, request: Request, pk: UUID) -> Response:
        """Put another key in the place of this one."""
        old, asked = _key(request, pk), validated(ReplaceKey, request)
        made = keyring.replace(old, by=person(request), **asked)
        return Response(KeySerializer(made).data)

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def delete(self, request: Request, pk: UUID) -> Response:
        """Forget a key: no call that begins from now on uses it."""
        keyring.remove(_key(request, pk), by=person(request))
        return Response(status=204)


class KeyTestView(APIView):
    """Ask the provider something small with the key. It may take 20 seconds and cost a fraction of a cent."""

    throttle_classes = [*APIView.throttle_classes, OfTests]

    @extend_schema(request=None, responses={200: KeySerializer, **REFUSALS})
    @spends
    def post(self, request: Request, pk: UUID) -> Response:
        key = _key(request, pk)
        spent_slowly(request, lambda: str(keyring.test(key, by=person(request)).pk))
        return Response(KeySerializer(_key(request, pk)).data)


def _key(request: Request, pk: UUID) -> ProviderKey:
    rows = ProviderKey.objects.visible_to(request.user).active().select_related("provider", "owner")
    return get_object_or_404(rows, pk=pk)
