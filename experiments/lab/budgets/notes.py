"""What stands beside Start about budgets: what is left of each that applies, and whether this could come to more."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.people import person
from experiments.lab.budgets import standing as budget_standing
from experiments.lab.budgets.standing import Standing
from experiments.lab.budgets.words import both, whom_to_allow
from experiments.runs.sharing.sharing import chosen_project

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class Most:
    """What is about to be started could come to at most; None where that is not known. unpriced: models whose price
    nobody knows.
    """

    cost: Decimal | None = None
    tokens: int | None = None
    unpriced: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """level: ok, warning (it may be stopped on its way), or refusal (it would not be started)."""

    level: str
    words: str


def for_person(who: "User", most: Most, project_id: Any = None) -> list[Note]:
    """Of an experiment that is only being set up."""
    return [_note(one, most) for one in budget_standing.before_start(who.pk, project_id)]


def beside(request: HttpRequest, estimate: Any) -> list[Note]:
    """Beside the estimate of a set-up form, for the project that is chosen there; there is no estimate while the form
    is not complete.
    """
    most = getattr(estimate, "most", None)
    unpriced = tuple(getattr(estimate, "unpriced", ()))
    whole = Most(most.cost, most.tokens, unpriced) if most else Most(unpriced=unpriced)
    return for_person(person(request), whole, chosen_project(request) or None)


def _note(standing: Standing, most: Most) -> Note:
    if standing.is_used_up:
        words = _("Nothing is left of %(budget)s: this would not be started.") % {"budget": standing.name}
        return Note("refusal", f"{words} {standing.whom}")
    if standing.cost and most.unpriced and not standing.budget.allows_unknown_prices:
        words = _("The price of %(models)s is unknown, and %(budget)s allows known prices only.")
        said = words % {"models": ", ".join(most.unpriced), "budget": standing.name}
        return Note("refusal", f"{said} {whom_to_allow(standing.asked, standing.admins)}")
    left = _("What is left of %(budget)s: %(left)s.") % {"left": standing.left, "budget": standing.name}
    if needed := _beyond(standing, most):
        words = _("This could take up to %(needed)s.") % {"needed": needed}
        return Note("warning", f"{words} {left} {standing.whom}")
    return Note("ok", left)


def _beyond(standing: Standing, most: Most) -> str:
    """What may be needed of that of which there is less; "" when all fits."""
    cost = most.cost if standing.cost and most.cost is not None and most.cost > standing.cost.left else None
    tokens = most.tokens if standing.tokens and most.tokens is not None and most.tokens > standing.tokens.left else None
    return both(cost, tokens) if cost is not None or tokens is not None else ""
