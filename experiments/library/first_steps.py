"""The first steps on a new platform: a provider, default models, a run; which of them are done, and the last one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from experiments.lab.catalog import defaults, providers
from experiments.library.scenarios import ScenarioChoice, find_scenario
from experiments.models import Provider, ProviderModel, Run
from experiments.runs import actions
from experiments.setup.presets import first_cast
from experiments.workflows import REGISTRY

if TYPE_CHECKING:
    from accounts.models import User

SCENARIO = "resource-negotiation"
TURNS = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One of them. name: of its route, after `start-`."""

    name: str
    label: Any
    is_done: bool

    @property
    def address(self) -> str:
        return reverse(f"start-{self.name}")


def first_steps() -> list[Step]:
    """All of them, in order."""
    real = ProviderModel.objects.askable().filter(provider__is_simulated=False)
    askable = providers.managed().filter(is_active=True).exclude(pk__in=Provider.objects.lacking_key())
    played = Run.objects.filter(origin=Run.Origin.LIVE, experiment__participants__model__provider__is_simulated=False)
    has_defaults = all(real.filter(**{field: True}).exists() for field in defaults.FIELDS.values())
    return [
        Step("provider", _("Add a provider"), askable.exists()),
        Step("models", _("Choose default models"), has_defaults),
        Step("run", _("Start the first run"), played.exists()),
    ]


def steps_left(user: "User") -> list[Step]:
    """All steps while one is left, for the home page of an administrator; nothing for others, and in the demo."""
    if not user.is_admin or settings.DEMO_MODE:
        return []
    steps = first_steps()
    return [] if all(step.is_done for step in steps) else steps


def first_scenario(user: "User") -> ScenarioChoice:
    return find_scenario(user, SCENARIO)


def start_first_run(*, by: "User") -> Run:
    """A short run of a scenario between the lab's default models. Raises Invalid where there are none."""
    scenario, workflow = first_scenario(by), next(iter(REGISTRY))
    with transaction.atomic():
        experiment = actions.create(
            owner=by,
            workflow=workflow,
            title=scenario.title,
            config={**scenario.config, "max_turns": TURNS},
            cast={seat: dict(one) for seat, one in first_cast(workflow).items()},
        )
        return actions.start(experiment, by=by)[0]
