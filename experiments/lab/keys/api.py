"""The API of provider keys. A key goes in; what comes out is what is known about it."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from accounts.api_requests import OfTests
from accounts.permissions import GRAVE
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, spends, spent_slowly, validated
from experiments.lab.keys import keyring
from experiments.models import Provider, ProviderKey

REFUSALS = {**PROBLEMS, 403: ProblemSerializer, 409: ProblemSerializer}


class KeySerializer(serializers.ModelSerializer[ProviderKey]):
    """of: "lab" for the lab's keys, "me" for your own. accepted: the result of the last test; null when it has none."""

    provider = serializers.CharField(source="provider.name")
    of = serializers.SerializerMethodField()
    accepted = serializers.BooleanField(source="is_accepted", allow_null=True, read_only=True)
    test = serializers.ChoiceField(source="test_outcome", choices=["", *ProviderKey.Outcome.values], read_only=True)
    test_sentence = serializers.CharField(read_only=True)

    class Meta:
        model = ProviderKey
        fields = [
            *("id", "of", "provider", "name", "hint", "created", "last_used"),
            *("tested", "test", "accepted", "test_sentence", "test_words"),
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

    def validate_provider(self, name: str) -> Provider:
        if provider := Provider.objects.filter(name=name).first():
            return provider
        raise ValidationError("There is no provider of this name.")


class ReplaceKey(serializers.Serializer[Any]):
    key = Secret()


@extend_schema_view(list=extend_schema(responses={200: KeySerializer(many=True), **PROBLEMS}))
class KeyViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[ProviderKey]):
    """Your keys; for administrators the lab's, too."""

    scope = Scope.ADMIN
    permission_classes = GRAVE
    serializer_class = KeySerializer
    queryset = ProviderKey.objects.none()
    cursor_ordering = ["-created", "id"]
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[ProviderKey]:
        return ProviderKey.objects.visible_to(self.request.user).active().select_related("provider", "owner")

    @extend_schema(responses={200: KeySerializer, **PROBLEMS})
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A key's details, without the key itself."""
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(request=AddKey, responses={201: KeySerializer, **REFUSALS})
    @method_decorator(sensitive_variables("asked"))
    def create(self, request: Request) -> Response:
        """Store a provider key. It is never shown again."""
        asked = validated(AddKey, request)
        for_lab = asked.pop("of") == "lab"
        made = keyring.add(by=person(request), for_lab=for_lab, **asked)
        return Response(KeySerializer(made).data, status=201)

    @extend_schema(request=ReplaceKey, responses={200: KeySerializer, **REFUSALS})
    @method_decorator(sensitive_variables("asked"))
    def update(self, request: Request, pk: UUID) -> Response:
        """Replace a key."""
        old, asked = self.get_object(), validated(ReplaceKey, request)
        return Response(KeySerializer(keyring.replace(old, by=person(request), **asked)).data)

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a key. Calls that start afterwards do not use it."""
        keyring.remove(self.get_object(), by=person(request))
        return Response(status=204)

    @extend_schema(request=None, responses={200: KeySerializer, **REFUSALS})
    @spends
    @action(
        detail=True,
        methods=["post"],
        permission_classes=api_settings.DEFAULT_PERMISSION_CLASSES,
        throttle_classes=[*APIView.throttle_classes, OfTests],
    )
    def test(self, request: Request, pk: UUID) -> Response:
        """Test a key with a small request to the provider. Takes up to 20 seconds and may cost a fraction of a cent."""
        key = self.get_object()
        spent_slowly(request, lambda: str(keyring.test(key, by=person(request)).pk))
        return Response(KeySerializer(self.get_object()).data)
