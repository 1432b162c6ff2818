"""The catalogue and the state of the lab at the addresses without a slash, with what clients look for there."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from experiments.api.compatibility.views import ClientView, described, now
from experiments.api.serializers import ProviderModelSerializer
from experiments.api.shapes import shape
from experiments.lab.catalog.menu import SPECIALISED
from experiments.lab.health import HealthSerializer, health
from experiments.models import Provider, ProviderModel

SERVICE = "arena-lab"
PRIORITIES = (("deepseek",), ("qwen", "kimi", "minimax", "glm", "gemini"), ("llama",))


ModelShape = shape(
    "ModelShape",
    doc="""priority: the sort key of clients, 0 of the lab's defaults; models made for one task come last. maxTokens:
    null where unknown.""",
    id=str,
    name=str,
    provider=str,
    openrouterName=str,
    maxTokens=int | None,
    supportsNativeThinking=bool,
    supportsLogprobs=bool,
    thinkingExtractionMethod=serializers.ChoiceField(["native", "generic"]),
    priority=int,
)
Availability = shape("Availability", id=str, available=bool)
ModelsAnswer = shape(
    "ModelsAnswer",
    doc="results: the same models as `/api/models/` lists them.",
    status=serializers.CharField(help_text="success"),
    timestamp=datetime,
    models=ModelShape(many=True),
    availability=Availability(many=True, required=False),
    results=ProviderModelSerializer(many=True),
)
ClientHealth = shape("ClientHealth", HealthSerializer, ok=bool, service=str, message=str, timestamp=datetime)


class ModelsView(ClientView):
    """Models that can take part in a run. `?available=true` says for each whether you can use it now."""

    @described("compat_models", None, ModelsAnswer)
    def get(self, request: Request) -> Response:
        rows = list(ProviderModel.objects.available().speaking().order_by("slug"))
        shapes = sorted(map(_shape, rows), key=lambda model: (model["priority"], model["id"]))
        keyless = set(Provider.objects.lacking_key(request.user))
        results = ProviderModelSerializer(rows, many=True, context={"keyless": keyless}).data
        answer = {"status": "success", "timestamp": now(), "models": shapes, "results": results}
        if request.query_params.get("available") == "true":
            answer["availability"] = [{"id": row["slug"], "available": row["available"]} for row in results]
        return Response(answer)


class HealthView(ClientView):
    """`/api/health/` with the further fields that clients of the originals read."""

    permission_classes = [AllowAny]
    authentication_classes = []
    throttle_classes = []

    @described("compat_health", None, {200: ClientHealth, 503: ClientHealth})
    def get(self, request: Request) -> Response:
        report = health()
        is_ok = report["status"] == "ok"
        message = _("Everything works.") if is_ok else _("A part is not responding: see services.")
        said = {"ok": is_ok, "service": SERVICE, "message": message, "timestamp": now()}
        response = Response({**report, **said}, status=200 if is_ok else 503)
        response._has_been_logged = True  # type: ignore[attr-defined]  # who asks for the state is told; the log is not
        return response


def _shape(model: ProviderModel) -> dict[str, Any]:
    accepts = model.accepts
    thinks = accepts.reasoning_effort
    fitting = (place for place, names in enumerate(PRIORITIES, 1) if any(name in model.slug for name in names))
    priority = 2 * len(PRIORITIES) if SPECIALISED.search(model.slug) else next(fitting, len(PRIORITIES) + 1)
    return {
        "id": model.slug,
        "name": model.label,
        "provider": model.provider.name,
        "openrouterName": model.upstream,
        "maxTokens": accepts.max_output_tokens,
        "supportsNativeThinking": thinks,
        "supportsLogprobs": accepts.logprobs,
        "thinkingExtractionMethod": "native" if thinks else "generic",
        "priority": 0 if model.default_for else priority,
    }
