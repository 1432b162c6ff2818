"""What is said about budgets: their names, what is left of them, and whom to ask for more."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

NAMES = {
    ("person", "total"): gettext_lazy("the budget of %(name)s"),
    ("person", "month"): gettext_lazy("the monthly budget of %(name)s"),
    ("person", "day"): gettext_lazy("the daily budget of %(name)s"),
    ("project", "total"): gettext_lazy("the budget of project %(name)s"),
    ("project", "month"): gettext_lazy("the monthly budget of project %(name)s"),
    ("project", "day"): gettext_lazy("the daily budget of project %(name)s"),
    ("experiment", "total"): gettext_lazy("the budget of experiment %(name)s"),
    ("experiment", "month"): gettext_lazy("the monthly budget of experiment %(name)s"),
    ("experiment", "day"): gettext_lazy("the daily budget of experiment %(name)s"),
}


def name_of(kind: str, period: str, name: str) -> str:
    """The budget as it stands inside a sentence."""
    return str(NAMES[kind, period]) % {"name": name}


def dollars(amount: Decimal | str) -> str:
    """Precise where they are few: $12.50, $0.0042. What is overspent is nothing left."""
    value = max(Decimal(amount), Decimal(0))
    return f"${value:,.2f}" if value >= 1 or not value else f"${value:.4f}"


def both(cost: Decimal | str | None, tokens: int | None) -> str:
    """An amount of money, of tokens, or of both."""
    if cost is None:
        return _("%(n)s tokens") % {"n": f"{max(tokens or 0, 0):,}"}
    if tokens is None:
        return dollars(cost)
    return _("%(cost)s and %(n)s tokens") % {"cost": dollars(cost), "n": f"{max(tokens, 0):,}"}


def whom_to_ask(names: Sequence[str], admins: Sequence[str] = ()) -> str:
    """names: who decides beside the administrators. admins: they themselves, where nobody else does."""
    if admins:
        return _("Ask an administrator (%(names)s) to raise it.") % {"names": ", ".join(admins)}
    if not names:
        return _("Ask an administrator to raise it.")
    return _("Ask %(names)s or an administrator to raise it.") % {"names": ", ".join(names)}


def reached(told: Mapping[str, Any]) -> str:
    """Why a run was stopped, from what its last event tells of the budget."""
    name = name_of(told["kind"], told["period"], told["name"])
    whom = ([], told["admins"]) if told.get("admins") else (told["ask"],)
    if told["is_unpriced"]:
        why = _("The price of the next model is unknown, and %(budget)s allows known prices only.")
        return f"{why % {'budget': name}} {whom_to_allow(*whom)}"
    left = both(told["cost_left"], told["tokens_left"])
    needed = both(
        told["cost"] if told["cost_left"] is not None else None,
        told["tokens"] if told["tokens_left"] is not None else None,
    )
    why = _("The next call could take up to %(needed)s; what is left of %(budget)s is %(left)s.")
    said = why % {"needed": needed, "left": left, "budget": name}
    return f"{said} {whom_to_ask(*whom)} {_('After that, Resume goes on from here.')}"


def whom_to_allow(names: Sequence[str], admins: Sequence[str] = ()) -> str:
    if admins:
        return _("Ask an administrator (%(names)s) to allow unknown prices there.") % {"names": ", ".join(admins)}
    if not names:
        return _("Ask an administrator to allow unknown prices there.")
    return _("Ask %(names)s or an administrator to allow unknown prices there.") % {"names": ", ".join(names)}
