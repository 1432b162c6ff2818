"""Hard limits of a run: whether the next call still fits. No database."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used so far; money includes what is reserved for calls whose cost is not known."""

    tokens: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the next call is not made: the stop reason, and the sentence that people read."""

    reason: str
    message: str


def refuse(spent: Spent, reservation: Decimal | None, *, tokens: int | None, cost: Decimal | None) -> Refusal | None:
    """The reason not to make a call for which `reservation` US dollars would be set aside; None when it fits."""
    if tokens is not None and spent.tokens >= tokens:
        return Refusal("limit_tokens", f"The limit of {tokens} tokens is reached ({spent.tokens} used).")
    if cost is None:
        return None
    if reservation is None:
        return Refusal("limit_cost", "The run has a limit of cost, but the price of the next model is unknown.")
    if spent.cost + reservation > cost:
        return Refusal(
            "limit_cost",
            f"The next call could cost up to ${reservation:.4f}; with ${spent.cost:.4f} spent or set aside, "
            f"that is over the limit of ${cost:.4f}.",
        )
    return None
