"""`manage.py recover_admin`: for the only administrator, who cannot sign in any more."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts import first_admin, roles
from accounts.errors import Conflict
from accounts.models import User


class Command(BaseCommand):
    help = (
        "Let an administrator in again who has lost the password or the second factor: removes the factors, ends the "
        "sign-ins, activates the account, and prints a one-time link that sets a new password. The audit log has it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="whose account")
        first_admin.add_address(parser)

    def handle(self, *args: Any, username: str, address: str, **options: Any) -> None:
        try:
            path = roles.recover_admin(User.objects.get(username=username))
        except (User.DoesNotExist, Conflict) as error:
            names = ", ".join(User.objects.filter(role=User.Role.ADMIN).values_list("username", flat=True))
            raise CommandError(f"There is no administrator {username!r}. Administrators: {names or 'none'}.") from error
        minutes = settings.PASSWORD_RESET_TIMEOUT // 60
        self.stderr.write(f"Set a new password here; the link works once, for {minutes} minutes:")
        self.stdout.write(first_admin.public_address(address.rstrip("/")) + path)
