"""Budgets and usage over HTTP."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Project, User
from accounts.scopes import Scope
from experiments.api.pagination import PAGE_PARAMETERS, page_of_rows
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.shapes import shape
from experiments.lab.budgets import budgeting
from experiments.lab.budgets import standing as budget_standing
from experiments.lab.budgets.budgeting import MOST_DOLLARS, MOST_TOKENS, Subject
from experiments.lab.budgets.standing import Part, Standing
from experiments.lab.usage.days import COUNTED, MONEY
from experiments.lab.usage.spent import DIMENSIONS, Totals, days_of, scope_of, usage
from experiments.models import Budget, Experiment
from experiments.models.budget import SUBJECTS

REFUSED = {**PROBLEMS, 403: ProblemSerializer, 409: ProblemSerializer}
SCOPE = OpenApiParameter("scope", str, enum=("me", "project", "lab"))
PROJECT = OpenApiParameter("project", str, description="Id of a project that you lead, with scope=project.")
DAYS = [OpenApiParameter(name, str, description="A day (UTC), as 2026-02-28.") for name in ("since", "until")]


KINDS = (("person", "person"), ("project", "project"), ("experiment", "experiment"))


UsagePart = shape("UsagePart", limit=str, spent=str, reserved=str, left=str)
BudgetShape = shape(
    "Budget",
    doc="subject: a username, or the id of a project or experiment. cost (US dollars) and tokens: null without such a\n"
    "limit; left may be below zero. resets: when the next period starts; null for never.",
    id=UUID,
    kind=serializers.ChoiceField(KINDS),
    subject=str,
    period=serializers.ChoiceField(Budget.Period.choices),
    cost=UsagePart(allow_null=True),
    tokens=UsagePart(allow_null=True),
    allows_unknown_prices=bool,
    resets=datetime | None,
)
BudgetList = shape("BudgetList", next=str | None, previous=str | None, results=BudgetShape(many=True))


class SetBudget(serializers.Serializer[Any]):
    """Exactly one of person (a username), project and experiment (ids); at least one of cost and tokens."""

    person = serializers.CharField(required=False, max_length=150)
    project = serializers.UUIDField(required=False)
    experiment = serializers.UUIDField(required=False)
    period = serializers.ChoiceField(Budget.Period.choices, required=False, default="total")
    cost = serializers.DecimalField(
        required=False,
        allow_null=True,
        default=None,
        min_value=Decimal(0),
        max_value=MOST_DOLLARS,
        max_digits=30,
        decimal_places=10,
    )
    tokens = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0, max_value=MOST_TOKENS)
    allows_unknown_prices = serializers.BooleanField(required=False, default=False)


TotalsShape = shape(
    "Totals",
    doc="value: the person, project, model, role or day. Where unpriced is not 0, cost is a lower bound, "
    "and may be higher\nby possible_cost at most as far as prices are known.",
    value=str,
    **dict.fromkeys(COUNTED, int),
    **{name: serializers.DecimalField(max_digits=30, decimal_places=10) for name in MONEY},
)
UsageReport = shape(
    "UsageReport",
    since=date,
    until=date,
    total=TotalsShape(),
    **{name: TotalsShape(many=True) for name in DIMENSIONS},
)


class BudgetsView(APIView):
    scope = Scope.ADMIN

    @extend_schema(parameters=PAGE_PARAMETERS, responses={200: BudgetList, **PROBLEMS})
    def get(self, request: Request) -> Response:
        """Your budgets, and those of your projects and of experiments you can start; all of them for administrators."""
        shown = budget_standing.standings(Budget.objects.active().visible_to(request.user))
        page = page_of_rows(request, shown, lambda one: str(one.budget.pk))
        return Response({**page, "results": [_told(one) for one in page["results"]]})

    @extend_schema(request=SetBudget, responses={200: BudgetShape, **REFUSED})
    def put(self, request: Request) -> Response:
        """Set a budget. It replaces the one with the same subject and period."""
        asked = validated(SetBudget, request)
        subject = _subject(request, {name: asked.pop(name) for name in SUBJECTS if name in asked})
        budget = budgeting.set_budget(subject, by=person(request), **asked)
        return Response(_told(budget_standing.standings(Budget.objects.filter(pk=budget.pk))[0]))


class BudgetView(APIView):
    scope = Scope.ADMIN

    @extend_schema(responses={204: None, **REFUSED})
    def delete(self, request: Request, pk: UUID) -> Response:
        """Delete a budget."""
        found = get_object_or_404(Budget.objects.active().visible_to(request.user), pk=pk)
        budgeting.remove_budget(found, by=person(request))
        return Response(status=204)


class UsageView(APIView):
    @extend_schema(parameters=[SCOPE, PROJECT, *DAYS], responses={200: UsageReport, **PROBLEMS})
    def get(self, request: Request) -> Response:
        """Cost, tokens and calls by person, project, model, role and day; of the last thirty days by default."""
        asked = request.query_params.dict()
        found = usage(scope_of(person(request), asked), *days_of(asked))
        by = {name: [_counted(value, totals) for value, totals in found.by[name]] for name in DIMENSIONS}
        total = _counted("", found.total)
        return Response(UsageReport({"since": found.since, "until": found.until, "total": total, **by}).data)


def _subject(request: Request, named: dict[str, Any]) -> Subject:
    """Whom the budget is for. Who may not set it must not learn whether there is such a person or project."""
    if len(named) != 1:
        raise ValidationError({"person": [_("Name exactly one of person, project and experiment.")]})
    [(kind, value)] = named.items()
    if kind == "experiment":
        is_admin = person(request).role == User.Role.ADMIN
        rows = Experiment.objects.all() if is_admin else Experiment.objects.visible_to(request.user)
        return get_object_or_404(rows, pk=value)
    if person(request).role != User.Role.ADMIN:
        budgeting.require_right(User(), person(request))
    if kind == "person":
        return get_object_or_404(User, username=value)
    return get_object_or_404(Project, pk=value)


def _told(standing: Standing) -> dict[str, Any]:
    budget = standing.budget
    return {
        "id": str(budget.pk),
        "kind": budget.kind,
        "subject": budget.person.get_username() if budget.person else str(budget.project_id or budget.experiment_id),
        "period": budget.period,
        "cost": _part(standing.cost),
        "tokens": _part(standing.tokens),
        "allows_unknown_prices": budget.allows_unknown_prices,
        "resets": standing.ends,
    }


def _part(part: Part | None) -> dict[str, str] | None:
    names = ("limit", "spent", "reserved", "left")
    return {name: f"{getattr(part, name):f}" for name in names} if part else None


def _counted(value: str, totals: Totals) -> dict[str, Any]:
    return {"value": value, **{name: getattr(totals, name) for name in Totals.__slots__}}
