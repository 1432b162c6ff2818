"""The workflows that can be asked for: those of the platform, and those that are installed beside them."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from experiments.workflows import REGISTRY, surface_of


class WorkflowSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(help_text="What an experiment names as its `workflow`.")
    name = serializers.CharField()
    description = serializers.CharField()
    seats = serializers.ListField(child=serializers.CharField(), help_text="All that a cast may name.")
    subjects = serializers.ListField(child=serializers.CharField(), help_text="The seats that a judge scores.")
    config = serializers.DictField(help_text="The JSON schema of an experiment's `config`.")


class WorkflowsView(APIView):
    @extend_schema(operation_id="workflows_list", responses=WorkflowSerializer(many=True))
    def get(self, request: Request) -> Response:
        """In the order of the navigation, in the reader's language."""
        rows = [
            {
                "slug": slug,
                "name": str(surface_of(slug).name),
                "description": str(surface_of(slug).description),
                "seats": workflow.seats,
                "subjects": workflow.subjects,
                "config": workflow.config.model_json_schema(),
            }
            for slug, workflow in REGISTRY.items()
        ]
        return Response(WorkflowSerializer(rows, many=True).data)
