"""What every view of the API does with a request: read it, know who asks, and tell refusals as problems."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request

from accounts.api_requests import person, validated
from experiments.api.idempotency import KeyReused
from experiments.api.problems import Conflict, ProblemSerializer
from experiments.models import Run
from experiments.models.refusals import NotAllowed, NotOffered, Rivalled
from experiments.setup.casting import InvalidExperiment

__all__ = ["IDEMPOTENCY_KEY", "PROBLEMS", "idempotency_key", "person", "refusals", "runs_with_totals", "validated"]

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


@contextmanager
def refusals(field: str = "action") -> Iterator[None]:
    """What a verb refuses, as the problem that tells of it. field: what is at fault when it is not offered."""
    try:
        yield
    except NotOffered as error:
        raise ValidationError({field: [str(error)]}) from error
    except InvalidExperiment as error:
        raise ValidationError(error.errors) from error
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except (Rivalled, KeyReused) as error:
        raise Conflict(str(error)) from error
