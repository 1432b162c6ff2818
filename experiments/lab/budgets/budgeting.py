"""Setting and removing budgets, who may do that, and whether anything may begin under those that apply."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Conflict, Forbidden, Invalid
from accounts.models import Project, User
from experiments.lab.budgets import standing as budget_standing
from experiments.lab.budgets.standing import whom_to_allow
from experiments.lab.usage.days import amount_of
from experiments.models import Budget, BudgetPeriod, Call, Experiment, ProviderModel
from experiments.models.budget import SUBJECTS
from experiments.models.run import RECORDS
from experiments.tasks import clock

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

MOST_DOLLARS = Decimal(100_000_000)
MOST_TOKENS = 10**15
Subject = User | Project | Experiment
OWNERS = {"person": "run__experiment__owner", "project": "run__experiment__project", "experiment": "run__experiment"}


def set_budget(
    subject: Subject,
    *,
    by: User,
    period: str = Budget.Period.TOTAL,
    cost: Decimal | None = None,
    tokens: int | None = None,
    allows_unknown_prices: bool = False,
) -> Budget:
    """What a person, a project or an experiment may spend in a period from now on, in place of what was set before.
    Spending of the same period counts, also from before there was a budget. Raises Forbidden, Invalid, or Conflict
    when another person has just set it.
    """
    kind = kind_of(subject)
    _check(period, cost, tokens)
    try:
        with transaction.atomic():
            found = Budget.objects.select_for_update().filter(**{kind: subject}, period=period).first()
            require_right(subject, by, found)
            before = _told(found) if found and found.active else None
            budget = found or Budget(**{kind: subject}, period=period)
            limits = {"cost_limit": cost, "token_limit": tokens, "allows_unknown_prices": allows_unknown_prices}
            for name, value in {**limits, "created_by": by}.items():
                setattr(budget, name, value)
            if before is None:
                budget.active, budget.since = True, clock.now()
            budget.save()
            if before is None:
                _count_earlier(budget)
            after = _told(budget)
            audit.record(audit.Action.BUDGET_CHANGED, by=by, of=budget, name=str(budget), before=before, after=after)
    except IntegrityError as error:
        raise Conflict(_("Another person changed this budget at the same time. Check it, then try again.")) from error
    return budget


def remove_budget(budget: Budget, *, by: User) -> bool:
    """Calls are counted against it no longer. Its accounts are kept. False when it was removed already."""
    with transaction.atomic():
        found = Budget.objects.select_for_update().get(pk=budget.pk)
        require_right(found.subject, by, found)
        if not found.active:
            return False
        found.active = False
        found.save(update_fields=["active"])
        before = _told(found)
        audit.record(audit.Action.BUDGET_CHANGED, by=by, of=found, name=str(found), before=before, after=None)
    return True


def may_set(subject: Subject, person: "User | AnonymousUser", found: Budget | None = None) -> bool:
    """Admins set every budget; the leads of a project those of its experiments; owners those of their own experiments,
    unless an administrator or lead has set one.
    """
    if not isinstance(person, User) or not person.is_active:
        return False
    if person.role == User.Role.ADMIN:
        return True
    if not isinstance(subject, Experiment):
        return False
    if subject.project_id and Project.objects.led_by(person).filter(pk=subject.project_id).exists():
        return True
    is_others = found is not None and found.active and found.created_by_id != person.pk
    return subject.owner_id == person.pk and not is_others


def require_right(subject: Subject, person: User, found: Budget | None = None) -> None:
    if may_set(subject, person, found):
        return
    if isinstance(subject, Experiment):
        message = _("It is set by an administrator, a lead of the project, or by the owner if no one above has set it.")
        raise Forbidden(message)
    raise Forbidden(_("Only administrators can set the budgets of people and projects. Ask one."))


def require_budget(experiment: Experiment) -> None:
    """Nothing begins when nothing is left, or when a model has no known price where one is needed."""
    found = budget_standing.of_experiment(experiment)
    if used_up := next((one for one in found if one.is_used_up), None):
        message = _("Nothing is left of %(budget)s, so nothing was started.") % {"budget": used_up.name}
        raise Forbidden(f"{message} {used_up.whom}")
    needing = [one for one in found if one.cost and not one.budget.allows_unknown_prices]
    if needing and (names := unpriced(experiment)):
        message = _("The price of %(models)s is unknown, and %(budget)s allows known prices only.")
        said = message % {"models": ", ".join(names), "budget": needing[0].name}
        raise Forbidden(f"{said} {whom_to_allow(needing[0].asked, needing[0].admins)}")


def unpriced(experiment: Experiment) -> list[str]:
    """The seated models without a known price today."""
    seated = ProviderModel.objects.filter(pk__in=experiment.participants.values("model"))
    return list(seated.exclude(prices__since__lte=timezone.now()).order_by("label").values_list("label", flat=True))


def kind_of(subject: Subject) -> str:
    return next(kind for kind, of in zip(SUBJECTS, (User, Project, Experiment), strict=True) if isinstance(subject, of))


def _check(period: str, cost: Decimal | None, tokens: int | None) -> None:
    if period not in Budget.Period.values:
        raise Invalid(period=_("A budget applies in all, per month, or per day."))
    if cost is None and tokens is None:
        raise Invalid(cost=_("Set a limit of cost, of tokens, or both. To have none, remove the budget."))
    if cost is not None and not (cost.is_finite() and 0 <= cost <= MOST_DOLLARS):
        raise Invalid(cost=_("Cost limits range from 0 to 100,000,000 US dollars."))
    if tokens is not None and not 0 <= tokens <= MOST_TOKENS:
        raise Invalid(tokens=_("Token limits range from 0 to 1,000,000,000,000,000."))


def _count_earlier(budget: Budget) -> None:
    """What was spent in the period under way by calls that are not counted one by one."""
    account, _is_new = BudgetPeriod.objects.get_or_create(budget=budget, begins=budget.begins(budget.since))
    calls = Call.objects.filter(**{OWNERS[budget.kind]: budget.subject.pk}, sent__gte=account.begins)
    played_here = calls.exclude(run__origin__in=RECORDS)
    earlier = amount_of(played_here.exclude(reservations__period=account))
    account.cost_earlier, account.tokens_earlier = earlier.known_cost, earlier.tokens
    account.save(update_fields=["cost_earlier", "tokens_earlier"])


def _told(budget: Budget) -> dict[str, Any]:
    """A budget as the audit log keeps it."""
    return {
        "kind": budget.kind,
        "period": budget.period,
        "cost": None if budget.cost_limit is None else str(budget.cost_limit.normalize() + 0),
        "tokens": budget.token_limit,
        "allows_unknown_prices": budget.allows_unknown_prices,
    }
