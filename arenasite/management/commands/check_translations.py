"""`manage.py check_translations`: every sentence of the source and the templates exists in every language."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages import Catalog, Message
from babel.messages.pofile import read_po
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.core.management.commands import makemessages

LOCALES = ("zh_Hans",)
DOMAINS = ("django", "djangojs")
PLACEHOLDER = re.compile(r"%\((\w+)\)")
FOLDERS = ("accounts", "arenasite", "experiments", "leaderboard", "templates", "static")


class Extract(makemessages.Command):
    """Django's own extraction, into the `locale` directory where it runs and nowhere else."""

    settings_available = False


class Command(BaseCommand):
    help = "Report what is missing, unsure or broken in the translations. Needs xgettext."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if not shutil.which("xgettext"):
            sentence = "Translations were NOT checked: install gettext (Debian: apt install gettext)."
            if os.environ.get("CI") == "true":
                raise CommandError(sentence)
            self.stderr.write(sentence)
            return
        with _copy_of_the_source():
            complaints = [line for domain in DOMAINS for locale in LOCALES for line in _complaints(locale, domain)]
        for line in complaints:
            self.stderr.write(line)
        if complaints:
            raise CommandError(f"{len(complaints)} translations are to be done: `make messages` writes them down.")
        self.stdout.write("Every sentence is translated.")


@contextlib.contextmanager
def _copy_of_the_source() -> Iterator[None]:
    """A directory with a copy of the translations beside links to what is translated."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(settings.BASE_DIR / "locale", Path(name) / "locale", dirs_exist_ok=True)
        for folder in FOLDERS:
            if (settings.BASE_DIR / folder).is_dir():
                (Path(name) / folder).symlink_to(settings.BASE_DIR / folder)
        with contextlib.chdir(name):
            yield


def _complaints(locale: str, domain: str) -> Iterator[str]:
    call_command(Extract(), locale=[locale], domain=domain, symlinks=True, verbosity=0)
    path = Path("locale", locale, "LC_MESSAGES", f"{domain}.po")
    if not path.exists():
        return  # nothing is to be translated in this domain
    with path.open("rb") as file:
        catalogue = read_po(file, locale=locale, domain=domain)
    for message in catalogue:
        if message.id and (problem := _problem(message, catalogue)):
            where = ", ".join(f"{file}:{line}" for file, line in message.locations[:2])
            yield f"{locale}: {problem}: {message.id!r} ({where})"


def _problem(message: Message, catalogue: Catalog) -> str:
    sources, strings = _all(message.id), _all(message.string)
    if not strings or not all(strings):
        return "not translated"
    if message.fuzzy:
        return "unsure (fuzzy)"
    known, is_plural = set(PLACEHOLDER.findall(" ".join(sources))), len(sources) > 1
    for found in (set(PLACEHOLDER.findall(string)) for string in strings):
        if found - known or (found != known and not is_plural):
            return "other placeholders"
    return "; ".join(str(error) for error in message.check(catalogue))


def _all(texts: object) -> list[str]:
    """A message has one text, or one for each plural form."""
    return [str(text or "") for text in (texts if isinstance(texts, tuple | list) else [texts])]
