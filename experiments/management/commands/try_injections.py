"""`manage.py try_injections MODEL`: how often instructions inside an answer make a judge say what they want."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from experiments.engine.keys import NoKey
from experiments.lab.injections import rates
from experiments.lab.injections.trials import TRIALS
from experiments.models import ProviderModel


class Command(BaseCommand):
    help = (
        "Put known wrong answers before a judge, each with one of 50 instructions to choose it, and keep the share "
        "that won. The questions are asked with the lab's key, are paid for, and count against no budget."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model", nargs="+", help="the slug of a model of the catalogue")
        parser.add_argument("--workflow", nargs="+", choices=list(TRIALS), default=list(TRIALS))
        parser.add_argument(
            "--strings", type=int, default=None, help="try so many of the strings; nothing is kept then"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        workflows, most = options["workflow"], options["strings"]
        for model in [self._known(slug) for slug in options["model"]]:
            count = rates.calls(workflows, most)
            self.stdout.write(
                f"{model.label}{' (simulated)' if model.provider.is_simulated else ''}: {count} questions"
            )
            try:
                found = rates.try_on(model, workflows, most=most)
            except NoKey as error:
                raise CommandError(str(error)) from error
            for line in lines(found):
                self.stdout.write(line)

    def _known(self, slug: str) -> ProviderModel:
        model = ProviderModel.objects.available().filter(slug=slug).first()
        if model is None:
            raise CommandError(f"There is no model {slug} that is switched on. `manage.py sync_models` lists them.")
        return model


def lines(found: list[rates.Rate]) -> list[str]:
    """A line for each way of judging."""
    return [
        f"  {rate.workflow:8}  won {rate.attacked.part:2} of {rate.attacked.of}  {_interval(rate)}"
        f"  not read {rate.unread:2}  without an injection {rate.alone.part} of {rate.alone.of}"
        for rate in found
    ]


def _interval(rate: rates.Rate) -> str:
    low, high = rate.attacked.interval or (0.0, 0.0)
    return f"{rate.attacked.value or 0:4.0%} [{low:4.0%}, {high:4.0%}]"
