"""Who sees an experiment: its visibility, and its links."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, views
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.serializers import ExperimentSerializer
from experiments.models import Experiment, ShareLink
from experiments.runs.sharing import sharing


class ShareExperiment(serializers.Serializer[Any]):
    visibility = serializers.ChoiceField(Experiment.Visibility.choices)
    project = serializers.CharField(
        required=False, allow_blank=True, help_text="Its id, blank for none; left out: as it is."
    )


class MakeLink(serializers.Serializer[Any]):
    days = serializers.IntegerField(
        required=False, default=sharing.DEFAULT_DAYS, min_value=1, max_value=sharing.MOST_DAYS
    )


class LinkSerializer(serializers.ModelSerializer[ShareLink]):
    created_by = serializers.CharField(source="created_by.username")

    class Meta:
        model = ShareLink
        fields = ["id", "hint", "created_by", "created", "expires", "revoked"]


class NewLink(LinkSerializer):
    address = serializers.CharField(help_text="The only copy there is.")

    class Meta(LinkSerializer.Meta):
        fields = [*LinkSerializer.Meta.fields, "address"]


class ShareView(views.APIView):
    scope = Scope.WRITE

    @extend_schema(
        request=ShareExperiment,
        responses={200: ExperimentSerializer, **PROBLEMS},
        operation_id="experiment_share",
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Change who can see an experiment and its runs."""
        shown, asked = _visible(request, pk), validated(ShareExperiment, request)
        kept = asked.get("project") in (None, str(shown.project_id or ""))
        project = shown.project if kept else sharing.checked_project(asked["project"], owner=person(request))
        sharing.share(shown, by=person(request), visibility=asked["visibility"], project=project)
        return Response(ExperimentSerializer(shown).data)


class LinksView(generics.ListAPIView[ShareLink]):
    """The read-only links of an experiment that you can change. Their secrets are not shown again."""

    scope = Scope.WRITE
    queryset = ShareLink.objects.none()
    serializer_class = LinkSerializer

    def get_queryset(self) -> QuerySet[ShareLink]:
        shown = _visible(self.request, self.kwargs["pk"])
        return ShareLink.objects.visible_to(self.request.user).filter(experiment=shown).select_related("created_by")

    @extend_schema(responses={200: LinkSerializer(many=True), **PROBLEMS}, operation_id="experiment_links")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        request=MakeLink,
        responses={201: NewLink, **PROBLEMS},
        operation_id="experiment_link_create",
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Create a link with which anyone can read the experiment, until it expires or is revoked."""
        shown, asked = _visible(request, pk), validated(MakeLink, request)
        link, secret = sharing.create_link(shown, by=person(request), **asked)
        address = request.build_absolute_uri(f"/s/{secret}/")
        return Response({**LinkSerializer(link).data, "address": address}, status=201)


class LinkView(views.APIView):
    scope = Scope.WRITE

    @extend_schema(responses={204: None, **PROBLEMS}, operation_id="link_revoke")
    def delete(self, request: Request, pk: UUID) -> Response:
        """Revoke a read-only link."""
        rows = ShareLink.objects.visible_to(request.user).select_related("experiment")
        sharing.revoke_link(get_object_or_404(rows, pk=pk), by=person(request))
        return Response(status=204)


def _visible(request: Request, pk: UUID) -> Experiment:
    rows = Experiment.objects.visible_to(request.user).select_related("owner", "project")
    return get_object_or_404(rows.prefetch_related("participants__model", "people__person"), pk=pk)
