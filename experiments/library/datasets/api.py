"""The API of datasets: made of a file that is sent, looked at, given further outputs."""

import json
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from accounts.attachments import streamed, to_be_saved
from accounts.errors import TooLarge
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.library.datasets import hub, making, uploads
from experiments.library.datasets.pages import LONGEST_LIST, Filter
from experiments.library.datasets.reasons import in_words
from experiments.models import Contestant, Dataset, Output, Sample, Upload

OF_SAMPLES = [
    OpenApiParameter("subset", str, description="Only samples of this subset."),
    OpenApiParameter("category", str, description="Only samples of this category."),
    OpenApiParameter("search", str, description="Only samples with this in the instruction."),
]
REFUSED = {**PROBLEMS, 403: ProblemSerializer, 413: ProblemSerializer}


class StreamedParser(MultiPartParser):
    """Files go to the disk; a request that is too long is refused before it is read."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        request = (parser_context or {}).get("request")
        if request is not None and uploads.is_too_long(request.META.get("CONTENT_LENGTH")):
            raise TooLarge(uploads.too_long())
        return super().parse(stream, media_type, parser_context)


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """state: waiting or reading until it is ready, or refused with refused_reason. progress: 0 to 1."""

    owner = serializers.CharField(source="owner.username", read_only=True)

    class Meta:
        model = Dataset
        fields = [
            *("id", "slug", "name", "description", "owner", "modality", "visibility", "takes_votes"),
            *("state", "refused_reason", "progress", "source", "created"),
        ]


class ContestantSerializer(serializers.ModelSerializer[Contestant]):
    """outputs: of how many samples it has made something. void_reason: why it is left out of ratings."""

    label = serializers.CharField(read_only=True)  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    model = serializers.CharField(source="model.slug", default=None, read_only=True, allow_null=True)
    outputs = serializers.IntegerField(source="made", read_only=True)

    class Meta:
        model = Contestant
        fields = ["id", "name", "label", "link", "model", "version", "void_reason", "outputs"]


class DatasetDetail(DatasetSerializer):
    samples = serializers.SerializerMethodField()
    subsets = serializers.SerializerMethodField()
    contestants = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField()
    columns = serializers.JSONField()

    class Meta(DatasetSerializer.Meta):
        fields = [*DatasetSerializer.Meta.fields, "samples", "subsets", "contestants", "warnings", "columns"]

    def get_samples(self, dataset: Dataset) -> int:
        return dataset.samples.count() if dataset.is_ready else 0

    def get_subsets(self, dataset: Dataset) -> list[str]:
        names = dataset.samples.exclude(subset="").order_by("subset").values_list("subset", flat=True).distinct()
        return list(names[:LONGEST_LIST])

    @extend_schema_field(ContestantSerializer(many=True))
    def get_contestants(self, dataset: Dataset) -> Any:
        rows = dataset.contestants.select_related("model").annotate(made=Count("outputs")).order_by("name")
        return ContestantSerializer(rows, many=True).data

    def get_warnings(self, dataset: Dataset) -> list[str]:
        return in_words(dataset.warnings)


class OutputSerializer(serializers.ModelSerializer[Output]):
    """What a contestant made of it: a text, or the hash of a picture under `/datasets/SLUG/images/`."""

    contestant = serializers.CharField(source="contestant.name")
    image = serializers.CharField(source="image_id", allow_null=True)

    class Meta:
        model = Output
        fields = ["contestant", "text", "image"]


class SampleSerializer(serializers.ModelSerializer[Sample]):
    """images: hashes of the pictures that belong to it. metadata: further fields of the file."""

    outputs = OutputSerializer(many=True)

    class Meta:
        model = Sample
        fields = [
            *("id", "subset", "index", "category", "source", "language", "instruction", "images", "metadata"),
            "outputs",
        ]


class JsonText(serializers.JSONField):
    """A part of a form that is JSON."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            return data
        try:
            return json.loads(data) if data.strip() else None
        except (ValueError, RecursionError) as error:
            raise ValidationError(_("This is not valid JSON.")) from error


class SendDataset(serializers.Serializer[Any]):
    """columns: which column is read as what, {"instruction": "prompt", "outputs": {"a contestant": "its column"}}; a
    column that is left out is recognized by its name.
    """

    file = serializers.FileField()
    name = serializers.CharField(max_length=200)
    slug = serializers.CharField(required=False, default="", allow_blank=True, max_length=80)
    description = serializers.CharField(required=False, default="", allow_blank=True)
    modality = serializers.ChoiceField(Dataset.Modality.choices, required=False, default=Dataset.Modality.TEXT)
    visibility = serializers.ChoiceField(Dataset.Visibility.choices, required=False, default=Dataset.Visibility.PRIVATE)
    subset = serializers.CharField(required=False, default="", allow_blank=True, max_length=100)
    takes_votes = serializers.BooleanField(required=False, default=True)
    columns = JsonText(required=False, default=None, allow_null=True)


class SendOutputs(serializers.Serializer[Any]):
    """contestant: whose outputs they are, where the file does not say it. version: "name_yyyymmdd"."""

    file = serializers.FileField()
    contestant = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    version = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)
    columns = JsonText(required=False, default=None, allow_null=True)


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """new: outputs that were added, by contestant, once it is done."""

    new = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField()

    class Meta:
        model = Upload
        fields = ["id", "name", "size", "state", "refused_reason", "progress", "new", "warnings", "created", "ended"]

    def get_new(self, upload: Upload) -> dict[str, int]:
        return dict(upload.found.get("new", {}))

    def get_warnings(self, upload: Upload) -> list[str]:
        return in_words(upload.found.get("warnings", []))


@extend_schema_view(
    list=extend_schema(responses={200: DatasetSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: DatasetDetail, **PROBLEMS}),
)
class DatasetViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Dataset]):
    """Datasets of yours, of the lab and public ones."""

    scope = Scope.WRITE
    queryset = Dataset.objects.none()
    lookup_field = "slug"
    lookup_value_converter = "slug"
    filterset_fields = ["modality", "visibility", "state"]

    def get_queryset(self) -> QuerySet[Dataset]:
        return Dataset.objects.visible_to(self.request.user).select_related("owner")

    def get_serializer_class(self) -> type[BaseSerializer[Dataset]]:
        return DatasetSerializer if self.action == "list" else DatasetDetail

    def get_parsers(self) -> list[Any]:
        return [StreamedParser()]

    @extend_schema(
        request={"multipart/form-data": SendDataset}, responses={201: DatasetDetail, 403: ProblemSerializer, **REFUSED}
    )
    def create(self, request: Request) -> Response:
        """Upload a dataset. A worker reads it: poll the dataset until its state is `ready`."""
        asked = validated(SendDataset, request)
        made = making.create(owner=person(request), upload=asked.pop("file"), **asked)
        return Response(DatasetDetail(made).data, status=201)

    @extend_schema(responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, slug: str) -> Response:
        """Delete a dataset of yours that nothing uses."""
        making.remove(self.get_object(), by=person(request))
        return Response(status=204)

    @extend_schema(
        request={"multipart/form-data": SendOutputs},
        responses={202: UploadSerializer, **REFUSED},
        operation_id="datasets_outputs_create",
    )
    @action(detail=True, methods=["post"])
    def outputs(self, request: Request, slug: str) -> Response:
        """Upload outputs of contestants. A worker reads them; existing outputs are kept."""
        dataset, asked = self.get_object(), validated(SendOutputs, request)
        upload = making.send_outputs(dataset, by=person(request), upload=asked.pop("file"), **asked)
        return Response(UploadSerializer(upload).data, status=202)

    @extend_schema(
        responses={(200, "application/zip"): OpenApiTypes.BINARY} | PROBLEMS, operation_id="datasets_export_retrieve"
    )
    @action(detail=True)
    def export(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Samples and outputs as Parquet with README.md and croissant.json, in a zip."""
        dataset = self.get_object()
        if not dataset.is_ready:
            raise Http404
        answer = streamed(request._request, hub.dataset_zip(dataset))
        return to_be_saved(answer, "application/zip", f"{dataset.slug}-hub.zip")

    @extend_schema(responses={200: UploadSerializer, **PROBLEMS}, operation_id="datasets_upload_retrieve")
    @action(detail=True, url_path="uploads/<uuid:upload>")
    def uploads(self, request: Request, slug: str, upload: UUID) -> Response:
        """The state and result of an upload of outputs."""
        sent = get_object_or_404(Upload.objects.visible_to(request.user), pk=upload, dataset=self.get_object())
        return Response(UploadSerializer(sent).data)


class SampleList(generics.ListAPIView[Sample]):
    """The samples of a dataset with their outputs, in order."""

    serializer_class = SampleSerializer
    queryset = Sample.objects.none()
    cursor_ordering = ["subset", "index"]

    def get_queryset(self) -> QuerySet[Sample]:
        visible = Dataset.objects.visible_to(self.request.user).ready()
        dataset = get_object_or_404(visible, slug=self.kwargs["slug"])
        samples = Filter.of(self.request._request.GET).samples(dataset)
        return samples.prefetch_related("outputs__contestant")

    @extend_schema(
        parameters=OF_SAMPLES,
        responses={200: SampleSerializer(many=True), **PROBLEMS},
        operation_id="datasets_samples_list",
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)
