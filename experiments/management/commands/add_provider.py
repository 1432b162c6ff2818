"""`manage.py add_provider`: a server that speaks the OpenAI protocol, and models of it."""

import socket
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from experiments.gateway.addresses import is_allowed
from experiments.lab.catalog import syncing as catalog
from experiments.lab.catalog.servers import SERVERS
from experiments.models import Provider


class Command(BaseCommand):
    help = "Add a provider, or change the one of that name: OpenRouter, OpenAI, vLLM, Ollama, llama.cpp, LM Studio …"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True, help="letters, digits, - and _")
        parser.add_argument("--base-url", required=True, metavar="URL", help="up to and including /v1")
        parser.add_argument("--api-key-env", default="", metavar="VAR", help="the environment variable with its key")
        parser.add_argument("--model", action="append", nargs="+", default=[], metavar="SLUG", help="may be repeated")
        parser.add_argument("--models", type=Path, metavar="FILE", help="with a model on each line; # begins a remark")
        parser.add_argument("--allow-private", action="store_true", help="for a server in the lab's own network")

    def handle(self, *args: Any, **options: Any) -> None:
        named = [slug for group in options["model"] for slug in group]
        upstreams = list(dict.fromkeys([*named, *(_listed(options["models"]) if options["models"] else [])]))
        with transaction.atomic():
            provider = _provider(**{key: options[key] for key in ("name", "base_url", "api_key_env", "allow_private")})
            models = [catalog.add_model(provider, upstream) for upstream in upstreams]
        self.stdout.write(f"Provider {provider.name} at {provider.base_url} is active.")
        for model in models:
            called = "" if model.slug == model.upstream else f", called {model.slug} here: that name was taken"
            self.stdout.write(f"Model {model.upstream}{called}.")
        for line in _next_steps(provider, has_models=bool(models)):
            self.stdout.write(line)


def _listed(path: Path) -> list[str]:
    """The models that a file names. Raises CommandError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    if not (found := [name for line in lines if (name := line.partition("#")[0].strip())]):
        raise CommandError(f"{path} names no model.")
    return found


def _provider(*, name: str, base_url: str, api_key_env: str, allow_private: bool) -> Provider:
    if name == catalog.SIMULATED:
        raise CommandError(f"{name} is the provider that `up` starts itself. Choose another name.")
    address = base_url.strip().rstrip("/")
    batch_api = next((server.batch_api for server in SERVERS if server.base_url == address), "")
    provider = Provider.objects.filter(name=name).first() or Provider(name=name, batch_api=batch_api)
    provider.base_url, provider.api_key_env, provider.is_active = address, api_key_env, True
    provider.allow_private = allow_private
    try:
        provider.full_clean()
    except ValidationError as error:
        raise CommandError(
            " ".join(f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
        ) from error
    if not allow_private:
        _refuse_private(provider.base_url)
    provider.save()
    return provider


def _refuse_private(base_url: str) -> None:
    """What cannot be resolved now is checked when it is asked, as everything is."""
    parts = urlsplit(base_url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return
    addresses = sorted({str(entry[4][0]) for entry in found})
    if not any(is_allowed(address, allow_private=False) for address in addresses):
        raise CommandError(
            f"{parts.hostname} leads to {', '.join(addresses)}, which is a private address. Add --allow-private if "
            "this is a server of the lab."
        )


def _next_steps(provider: Provider, *, has_models: bool) -> list[str]:
    steps = []
    if provider.lacks_key:
        other = f", or set {provider.api_key_env} in the environment of the platform, and start it again"
        steps.append(f"Next: enter its key under /lab/keys/{other if provider.api_key_env else ''}.")
    if not has_models:
        steps.append("Next: `manage.py sync_models` lists its models, or name some with --model.")
    if not steps:
        steps.append("Next: choose the model when creating an experiment.")
    if Provider.objects.filter(is_simulated=True, is_active=True).exists():
        steps.append("At its next start `manage.py up` leaves the simulated provider out, unless ARENA_DEMO=1.")
    return steps
