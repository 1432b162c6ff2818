"""`manage.py accept_machine`: what this machine has is what all machines are to have."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import machines


class Command(BaseCommand):
    help = (
        "After a secret, the directory of files or the Redis server was changed on purpose, or the platform was moved: "
        "take this machine's for the right ones. The others are told when they start."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            machines.accept()
        except OSError as error:
            raise CommandError(f"The mark of the files cannot be written: {error.strerror or error}.") from error
        self.stdout.write("What this machine has is right: its secrets, its directory of files and its Redis server.")
