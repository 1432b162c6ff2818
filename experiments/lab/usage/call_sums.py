"""What calls count: the same rule for budgets and for the usage page, as expressions of the database."""

from typing import Any

from django.db.models import BigIntegerField, Case, DecimalField, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Cast, Coalesce, Round

from experiments.engine.recording import NOT_BILLED, NOT_SENT
from experiments.engine.reservations import Amount
from experiments.models import Call
from experiments.models.money import PARTS, SMALLEST

_DOLLARS = DecimalField(max_digits=30, decimal_places=10)


def parts(amount: Any) -> Cast:
    """An amount in whole smallest parts, whose sum is exact on every database."""
    scaled = Coalesce(amount, Value(0), output_field=_DOLLARS) * Value(PARTS)
    return Cast(Round(scaled, output_field=_DOLLARS), BigIntegerField())


def cost_counted(prefix: str = "") -> Cast:
    """What a call counts, in smallest parts: its cost; while or where nobody knows it, what was set aside."""
    return parts(Coalesce(f"{prefix}cost", f"{prefix}reserved", output_field=_DOLLARS))


def tokens_counted(prefix: str = "") -> Case:
    """Tokens likewise. What was never sent, or was turned away, has taken none."""
    read, written = F(f"{prefix}input_tokens"), Coalesce(F(f"{prefix}output_tokens"), 0)
    return Case(
        When(Q(**{f"{prefix}input_tokens__isnull": False}), then=read + written),
        When(Q(**{f"{prefix}cost_source__in": (NOT_SENT, NOT_BILLED)}), then=Value(0)),
        default=Coalesce(F(f"{prefix}reserved_tokens"), 0),
        output_field=BigIntegerField(),
    )


def amount_of(calls: QuerySet[Call]) -> Amount:
    """What some calls count together."""
    found = calls.order_by().aggregate(cost=Sum(cost_counted(), default=0), tokens=Sum(tokens_counted(), default=0))
    return Amount(int(found["cost"]) * SMALLEST, int(found["tokens"]))
