from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from arenasite.supply.advisories import OSV, NoAnswer, known_against
from arenasite.supply.locks import Package, read

LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-bench.lock", "requirements-fuzz.lock")
FOUND, NO_ANSWER = 1, 3  # exit codes; 2 is Django's for a wrong command line


class Command(BaseCommand):
    help = "Asks osv.dev whether anything is known against the locked packages. 0: nothing, 1: something, 3: no answer."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--service", default=OSV, help=f"who is asked, default {OSV}")

    def handle(self, *args: Any, service: str, **options: Any) -> None:
        packages = _locked()
        try:
            found = known_against(packages, service=service)
        except NoAnswer as error:
            raise CommandError(
                f"{service} gave no answer ({error}). Nothing was learnt, good or bad: run it again where it can be "
                "reached.",
                returncode=NO_ANSWER,
            ) from error
        for one in found:
            self.stdout.write(f"{one.package} {one.version}: {one.advisory}  https://osv.dev/{one.advisory}")
        if found:
            raise CommandError(f"{len(found)} advisories. SECURITY.md says by when.", returncode=FOUND)
        self.stdout.write(f"Nothing is known against any of {len(packages)} locked packages.")


def _locked() -> list[Package]:
    """Of all locks, each package and version once."""
    every = [package for name in LOCKS for package in read(settings.BASE_DIR / name)]
    return list({(package.name, package.version): package for package in every}.values())
