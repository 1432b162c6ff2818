"""`manage.py create_token USER`: an API token for a script."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from accounts.scopes import ALL, checked
from accounts.tokens import DEFAULT_DAYS, LONGEST_NAME, MOST_DAYS, create_token


class Command(BaseCommand):
    help = "Create an API token. It is printed alone on the last line, this one time: only its hash is stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", metavar="USER", help="whose rights the token gives")
        parser.add_argument("--name", default="", help="what it is for, up to 100 characters")
        parser.add_argument("--days", type=int, default=DEFAULT_DAYS, help=f"1 to {MOST_DAYS}, default {DEFAULT_DAYS}")
        scopes = f"what it may be used for, separated by commas: {','.join(ALL)} (default: all of them)"
        parser.add_argument("--scopes", default=",".join(ALL), help=scopes)

    def handle(self, *args: Any, user: str, name: str, days: int, scopes: str, **options: Any) -> None:
        if not 1 <= days <= MOST_DAYS:
            raise CommandError(f"A token is valid for 1 to {MOST_DAYS} days, not for {days}.")
        if len(name) > LONGEST_NAME:
            raise CommandError(f"The name is longer than {LONGEST_NAME} characters.")
        try:
            chosen = checked(word.strip() for word in scopes.split(",") if word.strip())
        except ValueError as error:
            raise CommandError(str(error)) from error
        owner = User.objects.filter(username=user).first()
        if owner is None:
            raise CommandError(f"Nobody is called {user}.")
        if not owner.is_active:
            raise CommandError(f"{user} is not active: a token would open nothing. Activate the person first.")
        token = create_token(owner, name=name, days=days, scopes=chosen)
        self.stderr.write(f"A token of {user}, valid for {days} days. Send it as `Authorization: Bearer TOKEN`:")
        self.stdout.write(token)
