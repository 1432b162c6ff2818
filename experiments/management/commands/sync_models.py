"""`manage.py sync_models`: what the providers offer and what it costs, taken over into the catalogue."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from experiments.lab.catalog import providers
from experiments.lab.catalog import syncing as catalog
from experiments.models import Provider


class Command(BaseCommand):
    help = "Ask every active provider for its models and prices. Nothing is deleted: what is gone becomes inactive."

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(Provider.objects.filter(is_active=True, is_simulated=False))
        if not found:
            self.stdout.write("There is no active provider to ask: add one with `manage.py add_provider`.")
        failed = [provider.name for provider in found if not self._sync(provider)]
        if failed:
            raise CommandError(f"Nothing was changed for {', '.join(failed)}.")

    def _sync(self, provider: Provider) -> bool:
        if provider.lacks_key:
            unset = f"{provider.api_key_env} is not set" if provider.api_key_env else "it has no key"
            self.stderr.write(f"{provider.name}: {unset}. A key of the lab can be entered under /lab/keys/.")
            return False
        contacted, counts = providers.sync(provider, by=None)
        if not contacted.is_well:
            self.stderr.write(f"{provider.name}: {contacted.words or 'the list is empty.'}")
            return False
        self.stdout.write(f"{provider.name}: {_words(counts)}.")
        return True


def _words(counts: catalog.Counts) -> str:
    words = f"{counts.listed} listed, {counts.added} added, {counts.changed} changed, {counts.priced} new prices"
    words += f", {counts.gone} gone and now inactive"
    return words + (f", {counts.inactive} listed but switched off here" if counts.inactive else "")
