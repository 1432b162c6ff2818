"""Money that is counted up by the database: whole numbers of the smallest part, so that no sum is ever rounded."""

from decimal import ROUND_HALF_EVEN, ROUND_UP, Decimal
from typing import Any

from django.db import models

SMALLEST = Decimal("0.0000000001")  # of a US dollar: as exact as the cost of a call is kept
PARTS = 10**10  # of them in a dollar
MILLION = 1_000_000


def kept(amount: Decimal) -> Decimal:
    """An amount as exactly as it is stored, on every database the same."""
    return amount.quantize(SMALLEST, ROUND_HALF_EVEN)


def kept_upwards(amount: Decimal) -> Decimal:
    """Likewise, and never less than it was: for what is set aside."""
    return amount.quantize(SMALLEST, ROUND_UP)


class MoneyField(models.BigIntegerField):  # type: ignore[type-arg]  # generic in its stub alone
    """US dollars, as Decimal in Python. In expressions write `money(amount)`: a bare number would count smallest parts.

    From 0 to some 900 million dollars.
    """

    def from_db_value(self, value: Any, *_args: Any) -> Decimal | None:
        return None if value is None else Decimal(int(value)) * SMALLEST

    def to_python(self, value: Any) -> Any:
        return value if value is None or isinstance(value, Decimal) else Decimal(str(value))

    def get_prep_value(self, value: Any) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return value
        return int(kept(Decimal(str(value))) * PARTS)


def money(amount: Decimal) -> models.Value:
    """An amount inside a query."""
    return models.Value(amount, output_field=MoneyField())


def per_million(amount: Decimal) -> str:
    """Dollars per million tokens, of dollars per token, with as many places as it has."""
    return f"{(amount * MILLION).normalize():f}"
