"""Opening the arena: which models answer, at what cost a day, and where its prompts and votes are stored."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import product

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import audit, projects
from accounts.errors import Forbidden, Invalid
from accounts.models import Project, User
from experiments.lab.budgets.budgeting import set_budget, unpriced
from experiments.models import Budget, Contestant, Dataset, Experiment, Participant, ProviderModel
from experiments.workflows.battles.campaign.logs.importing import make_dataset
from experiments.workflows.outputs import MOST_CONTESTANTS, SEATS
from experiments.workflows.outputs import WORKFLOW as OUTPUTS
from leaderboard.models import PublicArena

TITLE = "Public arena"
ANSWER_TOKENS = 2000
ANSWER_SECONDS = 300
DEMO_MODELS = ("sim/competitive", "sim/cooperative", "sim/drifting", "sim/neutral")


def configure(
    *,
    by: User,
    is_open: bool,
    models: Sequence[ProviderModel],
    daily_cost: Decimal | None,
    battles_per_hour: int,
    longest_prompt: int,
    is_moderated: bool,
    allows_unknown_prices: bool = False,
) -> PublicArena:
    """Set the arena up, and open or close it. daily_cost: US dollars that a day (UTC) of battles may cost. Other models
    make a new experiment in the same project, so that the budget of the day goes on. Raises Forbidden and Invalid.
    """
    if not by.is_admin:
        raise Forbidden(_("Only administrators can change the public arena."))
    if is_open and not 2 <= len(models) <= MOST_CONTESTANTS:
        raise Invalid(models=_("Choose 2 to %(n)s models.") % {"n": MOST_CONTESTANTS})
    if is_open and daily_cost is None:
        raise Invalid(daily_cost=_("Set a daily budget. Without one, visitors could spend without limit."))
    with transaction.atomic():
        arena = PublicArena.load()
        was_open = arena.is_open
        arena.is_open, arena.is_moderated = is_open, is_moderated
        arena.battles_per_hour, arena.longest_prompt = battles_per_hour, longest_prompt
        if models:
            _cast(arena, by, models)
        arena.save()
        if arena.project and daily_cost is not None:
            period, unknown = Budget.Period.DAY, allows_unknown_prices
            set_budget(arena.project, by=by, period=period, cost=daily_cost, allows_unknown_prices=unknown)
        if is_open and arena.experiment and not allows_unknown_prices and (names := unpriced(arena.experiment)):
            said = _("The price of %(models)s is unknown, so a daily budget cannot hold. Set it, or leave them out.")
            raise Invalid(models=said % {"models": ", ".join(names)})
        if was_open != is_open:
            action = audit.Action.PUBLISHED if is_open else audit.Action.WITHDRAWN
            audit.record(action, by=by, of=arena, models=[model.slug for model in models])
    return arena


def daily_budget(arena: PublicArena) -> Budget | None:
    """What a day of battles may cost; None where nothing is set."""
    rows = Budget.objects.active().filter(period=Budget.Period.DAY)
    return rows.filter(project=arena.project).first() if arena.project else None


def open_demonstration(by: User) -> None:
    """The arena of the demonstration, with simulated models, opened once: whoever closes it finds it closed."""
    if PublicArena.objects.exists():
        return
    askable = ProviderModel.objects.askable(by)
    models = list(askable.filter(provider__is_simulated=True, slug__in=DEMO_MODELS))
    if len(models) >= 2:
        configure(
            by=by,
            is_open=True,
            models=models,
            daily_cost=Decimal(5),
            battles_per_hour=60,
            longest_prompt=4000,
            is_moderated=True,
            allows_unknown_prices=True,
        )


def _cast(arena: PublicArena, by: User, models: Sequence[ProviderModel]) -> None:
    """The project, both datasets, a contestant of each for every model, and an experiment with exactly these models."""
    arena.project = arena.project or projects.create(by=by, name=_free_name())
    arena.dataset = arena.dataset or _dataset(by, TITLE, Dataset.Visibility.PUBLIC)
    arena.prompts = arena.prompts or _dataset(by, f"{TITLE}: prompts", Dataset.Visibility.PRIVATE)
    for dataset, model in product((arena.dataset, arena.prompts), models):
        fields = {"label": model.label, "model": model}
        Contestant.objects.get_or_create(dataset=dataset, name=model.slug, defaults=fields)
    now = arena.experiment
    seated = set(now.participants.values_list("model", flat=True)) if now and now.deleted is None else set()
    if now and now.owner_id == by.pk and seated == {model.pk for model in models}:
        return
    limits = {"seconds": ANSWER_SECONDS}
    config = OUTPUTS.config.model_validate({"dataset": arena.prompts.slug, "side_by_side": 2, "limits": limits})
    arena.experiment = Experiment.objects.create(
        owner=by, workflow=OUTPUTS.slug, title=TITLE, config=config.model_dump(mode="json"), project=arena.project
    )
    Participant.objects.bulk_create(
        Participant(experiment=arena.experiment, seat=seat, model=model, params={"max_tokens": ANSWER_TOKENS})
        for seat, model in zip(SEATS, models, strict=False)
    )


def _free_name() -> str:
    taken = set(Project.objects.filter(name__startswith=TITLE).values_list("name", flat=True))
    return next(name for name in (TITLE, *(f"{TITLE} {n}" for n in range(2, len(taken) + 3))) if name not in taken)


def _dataset(by: User, name: str, visibility: Dataset.Visibility) -> Dataset:
    dataset = make_dataset(owner=by, name=name)
    dataset.state, dataset.visibility, dataset.columns = Dataset.State.READY, visibility, {}
    dataset.save(update_fields=["state", "visibility", "columns"])
    return dataset
