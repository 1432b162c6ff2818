import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from arenasite.supply import sbom
from arenasite.supply.licences import is_acceptable, licence_of
from arenasite.supply.locks import read


class Command(BaseCommand):
    help = "Prints what the platform is made of (CycloneDX 1.6, JSON); fails where a licence is not acceptable."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--output", type=Path, help="the file to write; printed if left out")
        parser.add_argument("--lock", type=Path, default=settings.BASE_DIR / "requirements.lock")

    def handle(self, *args: Any, output: Path | None, lock: Path, **options: Any) -> None:
        packages = read(lock)
        version = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
        text = sbom.text(sbom.document(packages, version=version))
        if output:
            output.write_text(text, encoding="utf-8")
        else:
            self.stdout.write(text, ending="")
        if wrong := sorted(one.name for one in packages if not is_acceptable(licence_of(one.name))):
            raise CommandError(f"Of no acceptable licence: {', '.join(wrong)}. See arenasite/supply/licences.py.")
