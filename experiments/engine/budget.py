"""Hard limits: whether the next call still fits, into its run's and into the budgets that runs share. No database."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

LEAST_ANSWER = 64  # tokens; a call that has no room for as many beside its prompt is not made
PERIODS = {"total": "", "month": "monthly ", "day": "daily "}
REACHED = "budget_"  # how the stop reason begins of what a budget has ended


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used so far; money includes what is reserved for calls whose cost is not known. under_way: tokens
    set aside for calls that have not ended.
    """

    tokens: int
    cost: Decimal
    under_way: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the next call is not made: the stop reason, and the sentence that people read. budget: which one it was and
    what is left of it, as the event tells it; empty for a limit of the run itself.
    """

    reason: str
    message: str
    budget: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Short:
    """A budget into which a call does not fit. Left: with what is set aside taken off; None without such a limit.
    asked: who decides on it beside the administrators; admins: they themselves, where nobody else does.
    """

    id: str
    kind: str
    name: str
    period: str
    cost_left: Decimal | None
    tokens_left: int | None
    asked: Sequence[str] = ()
    admins: Sequence[str] = ()


def refuse(
    spent: Spent, reservation: Decimal | None, least: int, *, tokens: int | None, cost: Decimal | None
) -> Refusal | None:
    """The reason not to make a call for which `reservation` US dollars would be set aside, and that takes `least`
    tokens at least, its prompt included; None when it fits.
    """
    if tokens is not None and (left := tokens - spent.tokens - spent.under_way) < least:
        return Refusal(
            "limit_tokens",
            f"The next call needs at least {least} tokens; {max(left, 0)} are left of the limit of {tokens} tokens.",
        )
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


def over_budget(short: Short, cost: Decimal | None, tokens: int) -> Refusal:
    """Why a call is not made that could cost `cost` US dollars (None: nobody knows) and take `tokens` tokens."""
    name = f"the {PERIODS[short.period]}budget of {short.kind} {short.name}"
    admins = f" ({', '.join(short.admins)})" if short.admins else ""
    whom = ", ".join([*short.asked, f"an administrator{admins}"])
    if cost is None and short.cost_left is not None:
        needs = f"The price of the next model is unknown, and {name} allows known prices only."
        advice = f"Ask {whom} to allow unknown prices there, then resume."
    else:
        needs = f"The next call could take up to {' and '.join(_needs(short, cost, tokens))}; "
        needs += f"{' and '.join(_left(short))} left of {name}."
        advice = f"Ask {whom} to raise it, then resume."
    return Refusal(f"{REACHED}{short.kind}", f"{needs} {advice}", _told(short, cost, tokens))


def _needs(short: Short, cost: Decimal | None, tokens: int) -> list[str]:
    money = [] if short.cost_left is None or cost is None else [f"${cost:.4f}"]
    return [*money, *([] if short.tokens_left is None else [f"{tokens} tokens"])]


def _left(short: Short) -> list[str]:
    money = [] if short.cost_left is None else [f"${max(short.cost_left, Decimal(0)):.4f} is"]
    return [*money, *([] if short.tokens_left is None else [f"{max(short.tokens_left, 0)} tokens are"])]


def _told(short: Short, cost: Decimal | None, tokens: int) -> dict[str, Any]:
    return {
        "id": short.id,
        "kind": short.kind,
        "name": short.name,
        "period": short.period,
        "cost_left": None if short.cost_left is None else str(short.cost_left),
        "tokens_left": short.tokens_left,
        "cost": None if cost is None else str(cost),
        "tokens": tokens,
        "is_unpriced": cost is None and short.cost_left is not None,
        "ask": list(short.asked),
        "admins": list(short.admins),
    }
