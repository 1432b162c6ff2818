"""What every view of the API does with a request beside reading it: the rows and headers that many of them need."""

from functools import cache
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from accounts.api_requests import person, validated
from experiments.api.problems import ProblemSerializer
from experiments.models import Run

__all__ = ["IDEMPOTENCY_KEY", "PROBLEMS", "idempotency_key", "person", "runs_with_totals", "validated"]

PROBLEMS = dict.fromkeys((400, 401, 403, 404), ProblemSerializer)


def runs_with_totals() -> Any:
    """A copy of rows that were described once: to describe them takes longer than to fetch them."""
    return _described_runs().all()


@cache
def _described_runs() -> Any:
    return Run.objects.with_totals().with_pauses().select_related("experiment")


IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="A repetition with the same key does nothing new."
)


def idempotency_key(request: Request) -> str:
    """Empty when there is none. Raises ValidationError for what could not be stored."""
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > 200 or not key.isprintable():
        raise ValidationError({"Idempotency-Key": ["A key has at most 200 characters, all of them printable."]})
    return str(key)
