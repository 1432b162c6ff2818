"""The API of providers, for administrators."""

from typing import Any

from django.db.models import QuerySet
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import ForAdmins
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.lab.catalog import providers
from experiments.lab.keys.api import Secret
from experiments.models import Provider

REFUSALS = {**PROBLEMS, 403: ProblemSerializer, 409: ProblemSerializer}
CONTACTS = Provider.Contact.values


class ProviderSerializer(serializers.ModelSerializer[Provider]):
    """enabled: its models are offered. sync: the result of the last sync; empty when there was none."""

    enabled = serializers.BooleanField(source="is_active", required=False)
    sync = serializers.ChoiceField(source="sync_outcome", choices=["", *CONTACTS], read_only=True)
    sync_sentence = serializers.CharField(read_only=True)

    class Meta:
        model = Provider
        fields = ["id", *providers.SETTINGS, "enabled", "synced", "sync", "sync_sentence", "sync_words"]
        read_only_fields = ["id", "synced", "sync_words"]

    def validate_name(self, name: str) -> str:
        if name in providers.RESERVED:
            raise serializers.ValidationError("The platform uses this name itself.")
        return name

    def validate_base_url(self, url: str) -> str:
        return url.strip().rstrip("/")


class AddProvider(ProviderSerializer):
    """key: the lab's key for it. It is never shown again."""

    key = Secret(required=False, allow_blank=True, default="")

    class Meta(ProviderSerializer.Meta):
        fields = [*providers.SETTINGS, "enabled", "key"]


class ContactSerializer(serializers.Serializer[Any]):
    """listed: how many models it lists. words: what the provider said, where it failed."""

    outcome = serializers.ChoiceField(choices=CONTACTS)
    sentence = serializers.CharField()
    listed = serializers.IntegerField()
    words = serializers.CharField()


@extend_schema_view(list=extend_schema(responses={200: ProviderSerializer(many=True), **PROBLEMS}))
class ProviderViewSet(ForAdmins, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Provider]):
    """The servers whose models the lab uses. For administrators."""

    serializer_class = ProviderSerializer
    queryset = Provider.objects.none()
    cursor_ordering = ["name"]
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[Provider]:
        return providers.managed()

    @extend_schema(responses={200: ProviderSerializer, **PROBLEMS})
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A provider: its settings, and the result of the last sync."""
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(request=AddProvider, responses={201: ProviderSerializer, **REFUSALS})
    @method_decorator(sensitive_variables("asked"))
    def create(self, request: Request) -> Response:
        """Add a provider. Sync it to list its models."""
        asked = validated(AddProvider, request)
        key = asked.pop("key")
        made = providers.add(Provider(**asked), by=person(request), key=key)
        return Response(ProviderSerializer(made).data, status=201)

    @extend_schema(request=ProviderSerializer, responses={200: ProviderSerializer, **REFUSALS})
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change a provider, or enable or disable it."""
        found = self.get_object()
        said = validated(ProviderSerializer, request, instance=found, partial=True)
        for name, value in said.items():
            setattr(found, name, value)
        providers.change(found, by=person(request), changed=list(said))
        return Response(ProviderSerializer(found).data)

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def destroy(self, request: Request, pk: int) -> Response:
        """Delete a provider with its models and keys, while nothing refers to them."""
        providers.remove(self.get_object(), by=person(request))
        return Response(status=204)

    @extend_schema(request=None, responses={200: ContactSerializer, **REFUSALS})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: int) -> Response:
        """Ask the provider for its models, and change nothing. Takes up to 20 seconds."""
        return Response(ContactSerializer(providers.contact(self.get_object())).data)

    @extend_schema(request=None, responses={200: ContactSerializer, **REFUSALS})
    @action(detail=True, methods=["post"])
    def sync(self, request: Request, pk: int) -> Response:
        """List the provider's models and take over their names, capabilities and prices. Takes up to 20 seconds."""
        contacted, _counts = providers.sync(self.get_object(), by=person(request))
        return Response(ContactSerializer(contacted).data)
