from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from accounts import audit, sessions
from accounts.models import User


class Command(BaseCommand):
    help = "Ends all sign-ins of a person, or of everybody: after a theft, or when a secret became known."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", help="whose")
        parser.add_argument("--all", action="store_true", dest="everybody", help="everybody's")

    def handle(self, *args: Any, username: str | None, everybody: bool, **options: Any) -> None:
        if bool(username) == everybody:
            raise CommandError("Name one person, or say --all.")
        person = None if everybody else User.objects.filter(username=username).first()
        if not everybody and person is None:
            raise CommandError(f"There is nobody called {username!r}.")
        with transaction.atomic():
            ended = sessions.end_sessions(person) if person else sessions.end_all_sessions()
            audit.record(audit.Action.SIGNED_OUT, by=None, of=person, name="" if person else "*", by_command=ended)
        self.stdout.write(f"{ended} sign-ins have ended.")
