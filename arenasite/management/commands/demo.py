"""`manage.py demo`: the people of the demonstration, to be used with ARENA_DEMO=1."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arenasite import demo, preparation


class Command(BaseCommand):
    help = (
        "Create the people of the demonstration, or give them their published password back. `up` switches them off "
        "again unless ARENA_DEMO=1."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        preparation.migrate()
        try:
            demo.prepare_people(force=True)
        except demo.NameTaken as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Sign in as {demo.SIGN_INS}.")
        self.stdout.write("Next: ARENA_DEMO=1 manage.py up (or make demo), which also brings the simulated models.")
