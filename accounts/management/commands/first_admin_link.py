"""`manage.py first_admin_link`: the link that creates the first administrator, printed again."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import first_admin


class Command(BaseCommand):
    help = (
        "Print a one-time link that creates the first administrator. Only while no account can sign in as "
        "administrator; a new link replaces the one before."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        first_admin.add_address(parser)

    def handle(self, *args: Any, address: str, **options: Any) -> None:
        token = first_admin.new_token()
        if token is None:
            raise CommandError(
                "An administrator can sign in already, and invites others on the page People. After a lost password "
                "or second factor: `manage.py recover_admin NAME`."
            )
        self.stderr.write(f"Create the first administrator here; the link works once, for {first_admin.HOURS} hours:")
        self.stdout.write(first_admin.link(token, address.rstrip("/")))
