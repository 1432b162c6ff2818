"""The search over HTTP."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from experiments.api.requests import PROBLEMS, person
from experiments.library.search.datasets import DatasetGroup, DatasetHit
from experiments.library.search.finding import PLACES, Hit, find
from experiments.library.search.suggestions import suggestion
from experiments.library.search.views import asked_by, place
from experiments.models import Passage, Run
from experiments.workflows import REGISTRY

MOST = 100
WORDS = (
    'Words, "phrases", -not, beginnings* and filters (seat:A model:slug workflow:arena state:ended flag:refusal '
    "by:name project:name from:2026-01-01 to:2026-01-31 in:reasoning). Each filter may be a parameter of its own."
)
PARAMETERS = [
    OpenApiParameter("q", str, description=WORDS),
    OpenApiParameter("workflow", str, enum=list(REGISTRY)),
    OpenApiParameter("state", str, enum=[*Run.State.values, "live", "ended"]),
    OpenApiParameter("model", str, description="Slug or label of the model that said it, or is seated."),
    OpenApiParameter("seat", str),
    OpenApiParameter("by", str, description="Username of the experiment's owner."),
    OpenApiParameter("flag", str),
    OpenApiParameter("project", str, description="Name of a project of yours."),
    OpenApiParameter("from", str, description="A day (UTC), as 2026-01-31."),
    OpenApiParameter("to", str, description="A day (UTC), as 2026-01-31."),
    OpenApiParameter("in", str, enum=list(PLACES), description="By default everything but reasoning."),
    OpenApiParameter("page_size", int, description=f"1 to {MOST}; 20 where nothing is said."),
    OpenApiParameter("cursor", str, description="Where the page begins: `next` has it."),
]


class ExcerptPart(serializers.Serializer[Any]):
    text = serializers.CharField()
    found = serializers.BooleanField(source="is_found")


class HitSerializer(serializers.Serializer[Hit]):
    """run, message, turn and seat: null where it was found in the set-up of an experiment. excerpt: the text around
    what was found, in parts; plain text.
    """

    kind = serializers.ChoiceField(Passage.Kind.choices, source="passage.kind")
    experiment = serializers.UUIDField(source="passage.experiment_id")
    title = serializers.CharField(source="passage.experiment.title")
    workflow = serializers.CharField(source="passage.experiment.workflow")
    owner = serializers.CharField(source="passage.experiment.owner.username")
    run = serializers.UUIDField(source="passage.run_id", allow_null=True)
    message = serializers.UUIDField(source="passage.message_id", allow_null=True)
    turn = serializers.IntegerField(source="passage.message.turn", allow_null=True, default=None)
    seat = serializers.CharField(source="passage.message.seat", allow_null=True, default=None)
    at = serializers.DateTimeField(source="passage.created")
    address = serializers.CharField(help_text="Of the page that shows it.")
    excerpt = ExcerptPart(source="parts", many=True)


class DatasetHitSerializer(serializers.Serializer[DatasetHit]):
    kind = serializers.ChoiceField(["dataset", "sample", "output", "battle"])
    name = serializers.CharField(source="label")
    address = serializers.CharField(help_text="Of the page that shows it.")
    excerpt = ExcerptPart(source="parts", many=True)


class DatasetGroupSerializer(serializers.Serializer[DatasetGroup]):
    """count: of all results in the dataset, of which the first ones are here."""

    slug = serializers.CharField(source="dataset.slug")
    name = serializers.CharField(source="dataset.name")
    address = serializers.CharField(source="dataset.get_absolute_url")
    count = serializers.IntegerField()
    results = DatasetHitSerializer(many=True, source="hits")


class FoundSerializer(serializers.Serializer[Any]):
    """The latest first. next: the address of the page with older ones; null where there are none. previous: always
    null: what was found before is where it was. datasets: those in which it was found, on the first page. suggestion:
    other words, by which something is found, where nothing was; otherwise empty.
    """

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = HitSerializer(many=True)
    datasets = DatasetGroupSerializer(many=True)
    suggestion = serializers.CharField(allow_blank=True)


class SearchView(APIView):
    """Search the runs and datasets that you can see."""

    @extend_schema(parameters=PARAMETERS, responses={200: FoundSerializer, **PROBLEMS})
    def get(self, request: Request) -> Response:
        given = request.query_params
        asked, cursor = asked_by(given), _cursor(given)
        found = find(asked, person(request), before=cursor, most=_size(given))
        answer = {
            "next": _address(request, found.older),
            "previous": None,
            "results": found.hits,
            "datasets": found.datasets,
            "suggestion": "" if found or cursor else suggestion(asked, person(request)),
        }
        return Response(FoundSerializer(answer).data)


def _cursor(given: Any) -> int | None:
    word = given.get("cursor", "")
    if word and place(word) is None:
        raise ValidationError({"cursor": ["Take the address of the next page from the one before it."]})
    return place(word)


def _size(given: Any) -> int:
    word = given.get("page_size", "20")
    if not word.isascii() or not word.isdigit() or not 1 <= int(word[:5]) <= MOST:
        raise ValidationError({"page_size": [f"A whole number from 1 to {MOST} is needed."]})
    return int(word)


def _address(request: Request, older: int | None) -> str | None:
    if older is None:
        return None
    asked = request.query_params.copy()
    asked["cursor"] = str(older)
    return request.build_absolute_uri(f"{request.path}?{asked.urlencode()}")
