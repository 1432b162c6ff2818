"""The API of the register: read with the dataset, changed by curators."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.errors import Invalid
from accounts.permissions import HasScope
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.shapes import shape
from experiments.library.datasets import contestants
from experiments.models import Contestant, Dataset
from leaderboard.variants.register import Fact, parents_of, register

FactSerializer = shape("VariantFact", Fact, origin=serializers.CharField())


class VariantSerializer(serializers.Serializer[Any]):
    """A contestant in the register. origin of a value: `entered` by curators, looked up in the `catalog`, its `calls`,
    its settings (`pinned`) or the `version` with which it joined, as its `parent`, or empty where it is not known.
    exposed: how many of the `dated` samples were public before it was released, null where that is not known.
    """

    id = serializers.IntegerField(source="contestant.pk")
    name = serializers.CharField()
    label = serializers.CharField(source="contestant.label")  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    void_reason = serializers.CharField(source="contestant.void_reason")
    variant_of = serializers.CharField(help_text="Its name, or empty.")
    variants = serializers.ListField(child=serializers.CharField())
    base_model = FactSerializer()
    released = FactSerializer()
    quantization = FactSerializer()
    upstream = FactSerializer()
    prompt = FactSerializer()
    exposed = serializers.IntegerField(allow_null=True)
    dated = serializers.IntegerField()


class EnterVariant(serializers.ModelSerializer[Contestant]):
    """What is left out stays. variant_of: the name of a contestant of the dataset, or null."""

    variant_of = serializers.CharField(required=False, allow_null=True, max_length=200)

    class Meta:
        model = Contestant
        fields = contestants.REGISTERED


class DatasetVariants(APIView):
    """The register of a dataset's contestants, each before its variants, by base model."""

    permission_classes = [HasScope]
    pagination_class = None

    @extend_schema(responses={200: VariantSerializer(many=True), **PROBLEMS})
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_object_or_404(Dataset.objects.visible_to(request.user).ready(), slug=slug)
        return Response(VariantSerializer(_lines(dataset), many=True).data)


class VariantView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=EnterVariant, responses={200: VariantSerializer, **PROBLEMS})
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Enter what is known of a contestant. For the dataset's owner, curators and administrators."""
        rows = Contestant.objects.filter(
            dataset__in=Dataset.objects.visible_to(request.user).ready(), dataset__slug=slug
        )
        found, asked = get_object_or_404(rows.select_related("dataset"), pk=pk), validated(EnterVariant, request)
        if name := asked.get("variant_of"):
            parents = {one.name: one for one in parents_of(found, found.dataset.contestants.all())}
            if name not in parents:
                raise Invalid(variant_of="Name another contestant of this dataset that is not a variant of this one.")
            asked["variant_of"] = parents[name]
        contestants.enter(found, by=person(request), **asked)
        return Response(VariantSerializer(next(one for one in _lines(found.dataset) if one.contestant == found)).data)


def _lines(dataset: Dataset) -> list[Any]:
    return [one for family in register(dataset) for one in family.variants]
