"""The API of instruments and annotations. Scans are experiments of the workflow `scan`."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, RIVALLED, person, validated
from experiments.library.instruments import builtin, services
from experiments.models import Annotation, Instrument, InstrumentVersion
from experiments.models.instruments import LONGEST_DESCRIPTION, LONGEST_TITLE


class InstrumentVersionSerializer(serializers.ModelSerializer[InstrumentVersion]):
    """id: what scans and annotations name. digest: equal definitions have the same."""

    definition = serializers.DictField()

    class Meta:
        model = InstrumentVersion
        fields = ["id", "number", "digest", "created", "definition"]


class InstrumentSerializer(serializers.ModelSerializer[Instrument]):
    """owner null: it comes with the platform or an installed package. newest: its newest version."""

    owner = serializers.CharField(source="owner.username", default=None, allow_null=True, read_only=True)
    archived = serializers.BooleanField(read_only=True)
    newest = InstrumentVersionSerializer(read_only=True)

    class Meta:
        model = Instrument
        fields = ["id", "slug", "title", "description", "owner", "project", "shared", "archived", "created", "newest"]
        read_only_fields = ["slug"]

    def to_representation(self, instance: Instrument) -> dict[str, object]:
        title, description = builtin.words_of(instance)
        is_archived = instance.archived is not None
        return {**super().to_representation(instance), "title": title, "description": description} | {
            "archived": is_archived
        }


class SaveInstrument(serializers.Serializer[Any]):
    """definition: dimensions, unit, what the judge sees, prompt, limits; see the documentation of instruments."""

    title = serializers.CharField(max_length=LONGEST_TITLE)
    description = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_DESCRIPTION)
    definition = serializers.DictField()
    project = serializers.UUIDField(required=False, allow_null=True, default=None)
    shared = serializers.BooleanField(required=False, default=False)


class ReviseInstrument(serializers.Serializer[Any]):
    """version: the number of the version that was changed; another one that was saved meanwhile is not overwritten."""

    version = serializers.IntegerField(min_value=1)
    definition = serializers.DictField()
    title = serializers.CharField(required=False, max_length=LONGEST_TITLE)
    description = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_DESCRIPTION)
    shared = serializers.BooleanField(required=False)


class ArchiveInstrument(serializers.Serializer[Any]):
    archived = serializers.BooleanField(required=False, default=True)


class InstrumentFileSerializer(serializers.Serializer[Any]):
    """What `POST /api/instruments/` takes, as well as a file."""

    format = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    definition = serializers.DictField()


class InstrumentViewSet(GenericViewSet[Instrument]):
    scope = Scope.WRITE
    serializer_class = InstrumentSerializer
    cursor_ordering = ["-created", "-id"]

    def get_queryset(self) -> QuerySet[Instrument]:
        rows = Instrument.objects.visible_to(self.request.user)
        return rows.select_related("owner").prefetch_related("versions")

    @extend_schema(responses={200: InstrumentSerializer(many=True), **PROBLEMS})
    def list(self, request: Request) -> Response:
        """Instruments that you can use: built-in ones, yours, your projects', and those shared with the lab."""
        page = self.paginate_queryset(self.get_queryset().filter(archived__isnull=True))
        return self.get_paginated_response(InstrumentSerializer(page or [], many=True).data)

    @extend_schema(request=SaveInstrument, responses={201: InstrumentSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        """Save an instrument of your own."""
        asked = validated(SaveInstrument, request)
        project = str(asked.pop("project") or "")
        made = services.save(owner=person(request), project=project, **asked)
        return Response(InstrumentSerializer(made.instrument).data, status=201)

    @extend_schema(responses={200: InstrumentSerializer, **PROBLEMS})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """An instrument with its newest version."""
        return Response(InstrumentSerializer(self.get_object()).data)

    @extend_schema(responses={200: InstrumentVersionSerializer(many=True), **PROBLEMS})
    def versions(self, request: Request, pk: UUID) -> Response:
        """All versions of an instrument, newest first."""
        self.cursor_ordering = ["-number"]
        rows: Any = self.get_object().versions.all()
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(InstrumentVersionSerializer(page or [], many=True).data)

    @extend_schema(request=ReviseInstrument, responses={200: InstrumentSerializer, **RIVALLED})
    def revise(self, request: Request, pk: UUID) -> Response:
        """Save a change as a new version. Scans and annotations keep naming theirs."""
        found, asked = self.get_object(), validated(ReviseInstrument, request)
        version = get_object_or_404(found.versions, number=asked.pop("version"))
        services.revise(version, by=person(request), **asked)
        return Response(InstrumentSerializer(self.get_object()).data)

    @extend_schema(request=ArchiveInstrument, responses={200: InstrumentSerializer, **PROBLEMS})
    def archive(self, request: Request, pk: UUID) -> Response:
        """Offer an instrument no longer, or again."""
        found = self.get_object()
        services.archive(found, by=person(request), is_archived=validated(ArchiveInstrument, request)["archived"])
        return Response(InstrumentSerializer(self.get_object()).data)

    @extend_schema(responses={200: InstrumentFileSerializer, **PROBLEMS})
    def export(self, request: Request, pk: UUID, number: int) -> Response:
        """One version as a file."""
        version = get_object_or_404(self.get_object().versions.select_related("instrument"), number=number)
        return Response(builtin.as_file(version).model_dump(mode="json"))


class AnnotationSerializer(serializers.ModelSerializer[Annotation]):
    """value null: none could be used, and unscored_reason says why. is_verified: whether all quotations stand in the
    transcript word for word; null where none was needed. version: id of the version of the instrument. place: the seq
    of the message, the turn, or 0 for a whole run.
    """

    value = serializers.JSONField(allow_null=True)
    citations = serializers.ListField(child=serializers.DictField())
    instrument = serializers.UUIDField(source="version.instrument_id")
    person = serializers.CharField(source="person.username", default=None, allow_null=True)

    class Meta:
        model = Annotation
        fields = [
            *("id", "run", "message", "unit", "place", "turn", "subject", "instrument", "version", "dimension"),
            *("value", "found", "unscored_reason", "answered", "citations", "is_verified", "rationale", "confidence"),
            *("judge", "person", "made_in", "call", "created"),
        ]
        read_only_fields = fields


class AnnotationFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    """experiment: the scan that made it. found: whether something was found. verified: whether its quotations are."""

    run = filters.UUIDFilter(field_name="run_id")
    instrument = filters.UUIDFilter(field_name="version__instrument_id")
    version = filters.UUIDFilter(field_name="version_id")
    experiment = filters.UUIDFilter(field_name="made_in__experiment_id")
    dimension = filters.CharFilter()
    judge = filters.CharFilter()
    found = filters.BooleanFilter()
    verified = filters.BooleanFilter(field_name="is_verified")

    class Meta:
        model = Annotation
        fields: list[str] = []


@extend_schema(responses={200: AnnotationSerializer(many=True), **PROBLEMS})
class AnnotationList(generics.ListAPIView[Annotation]):
    """What judges found in runs that you can see, newest first."""

    queryset = Annotation.objects.none()
    serializer_class = AnnotationSerializer
    filterset_class = AnnotationFilter

    def get_queryset(self) -> QuerySet[Annotation]:
        return Annotation.objects.visible_to(self.request.user).select_related("version", "person")
