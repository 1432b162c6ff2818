"""`manage.py ping_models`: asks every model for a word, says which answer, and exits."""

import asyncio
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from experiments.engine.keys import NoKey, key_for
from experiments.gateway import GatewayError
from experiments.lab.keys.testing import ask
from experiments.models import ProviderModel

PROMPT = "Answer with the word OK."
MOST_TOKENS = 16
AT_ONCE = 8


class Command(BaseCommand):
    help = "Ask models for one word each, outside of runs and budgets, and exit with 1 unless all of them answer."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("models", nargs="*", metavar="SLUG", help="which ones; all that are switched on if none")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = list(dict.fromkeys(options["models"]))
        found = list(ProviderModel.objects.available().order_by("slug"))
        if unknown := [slug for slug in wanted if slug not in {model.slug for model in found}]:
            raise CommandError(f"There is no model {', '.join(unknown)} that is switched on.")
        chosen = [model for model in found if not wanted or model.slug in wanted]
        if not chosen:
            raise CommandError("There is no model: add a provider with `manage.py add_provider`.")
        asked: list[tuple[ProviderModel, str]] = []
        silent = 0
        for model in chosen:
            try:
                asked.append((model, key_for(model.provider, None).text))
            except NoKey as error:
                silent += 1
                self.stdout.write(f"{model.slug}: {error}")
        silent += sum(not has_answered for has_answered in asyncio.run(self._all(asked)))
        if silent:
            raise CommandError(f"{silent} of {len(chosen)} models did not answer.")
        self.stdout.write(f"All {len(chosen)} models answered.")

    async def _all(self, asked: list[tuple[ProviderModel, str]]) -> list[bool]:
        turn = asyncio.Semaphore(AT_ONCE)

        async def ping(model: ProviderModel, key: str) -> bool:
            async with turn:
                began = time.monotonic()
                try:
                    await ask(model, key, PROMPT, max_tokens=MOST_TOKENS)
                except GatewayError as error:
                    self.stdout.write(f"{model.slug}: {error}")
                    return False
                self.stdout.write(f"{model.slug}: answered in {time.monotonic() - began:.1f} s")
                return True

        return await asyncio.gather(*(ping(model, key) for model, key in asked))
