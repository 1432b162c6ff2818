"""The API of the test cases of instruments: those there are, what the newest version said of them, and asking again."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.errors import Invalid
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.serializers import ExperimentSerializer
from experiments.library.instruments import cases
from experiments.models import Instrument, InstrumentCase, Run
from experiments.workflows.scan.pages import trying
from experiments.workflows.scan.services import units_of


class CaseSerializer(serializers.ModelSerializer[InstrumentCase]):
    """place: as of annotations. expected: by the names of dimensions, as people would answer. holds: whether the newest
    version says so, by any judge; null as long as it was not asked.
    """

    expected = serializers.DictField()
    holds = serializers.BooleanField(read_only=True, allow_null=True)

    class Meta:
        model = InstrumentCase
        fields = ["id", "run", "unit", "place", "subject", "expected", "holds", "created"]
        read_only_fields = ["unit"]


class KeepCase(serializers.Serializer[Any]):
    """place, subject: a unit of the newest version in the run; subject "" for the unit as a whole."""

    run = serializers.UUIDField()
    place = serializers.IntegerField(min_value=0, required=False, default=0)
    subject = serializers.CharField(required=False, allow_blank=True, default="")
    expected = serializers.DictField()


class RunCases(serializers.Serializer[Any]):
    model = serializers.CharField(required=False, allow_blank=True, default="", help_text="The judge.")


class CaseViewSet(GenericViewSet[InstrumentCase]):
    scope = Scope.WRITE
    queryset = InstrumentCase.objects.none()
    serializer_class = CaseSerializer
    pagination_class = None  # they are few, and checked together

    def _instrument(self, pk: UUID) -> Instrument:
        return get_object_or_404(Instrument.objects.visible_to(self.request.user).prefetch_related("versions"), pk=pk)

    def _rows(self, instrument: Instrument) -> list[dict[str, Any]]:
        rows = InstrumentCase.objects.visible_to(self.request.user).filter(instrument=instrument)
        checked = cases.checked(rows, instrument.newest, person(self.request))
        for one in checked:
            one.case.holds = one.holds  # type: ignore[attr-defined]  # for the serializer
        return [CaseSerializer(one.case).data for one in checked]

    @extend_schema(responses={200: CaseSerializer(many=True), **PROBLEMS})
    def list(self, request: Request, pk: UUID) -> Response:
        """The test cases of an instrument on runs that you can see, at most 200."""
        return Response(self._rows(self._instrument(pk)))

    @extend_schema(request=KeepCase, responses={201: CaseSerializer(many=True), **PROBLEMS})
    def create(self, request: Request, pk: UUID) -> Response:
        """Keep what is expected of a unit, in the place of what was."""
        instrument, asked = self._instrument(pk), validated(KeepCase, request)
        definition = instrument.newest.parsed
        run = get_object_or_404(Run.objects.visible_to(request.user), pk=asked["run"])
        unit = next((one for one in units_of(definition, [run.pk]) if one.place == asked["place"]), None)
        if unit is None or asked["subject"] not in (unit.subjects or ("",)):
            raise Invalid(place=_("The run has no such unit."))
        said = {f"expected-{name}": value for name, value in asked["expected"].items()}
        form = cases.ExpectedForm(said, definition=definition)
        if not form.is_valid() or form.expected.keys() != asked["expected"].keys():
            raise Invalid(expected=_("Say what is expected by the names of dimensions, as people would answer."))
        about = {"unit": definition.unit, "place": unit.place, "subject": asked["subject"]}
        cases.keep(instrument, run, by=person(request), **about, expected=form.expected)
        return Response(self._rows(instrument), status=201)

    @extend_schema(responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: UUID, case: UUID) -> Response:
        """Delete a test case."""
        rows = InstrumentCase.objects.visible_to(request.user)
        cases.delete(get_object_or_404(rows, instrument=pk, pk=case), by=person(request))
        return Response(status=204)

    @extend_schema(request=RunCases, responses={201: ExperimentSerializer, **PROBLEMS})
    def run(self, request: Request, pk: UUID) -> Response:
        """Have the newest version judge those that it has not judged with this judge yet: a scan."""
        asked = validated(RunCases, request)
        scan = trying.ask_cases(self._instrument(pk).newest, asked["model"], by=person(request))
        return Response(ExperimentSerializer(scan).data, status=201)


urlpatterns = [
    path("instruments/<uuid:pk>/cases/", CaseViewSet.as_view({"get": "list", "post": "create"}), name="api-cases"),
    path("instruments/<uuid:pk>/cases/run/", CaseViewSet.as_view({"post": "run"}), name="api-cases-run"),
    path("instruments/<uuid:pk>/cases/<uuid:case>/", CaseViewSet.as_view({"delete": "destroy"}), name="api-case"),
]
