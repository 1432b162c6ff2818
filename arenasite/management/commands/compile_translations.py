"""`manage.py compile_translations`: .po becomes .mo, without a gettext on the machine. `up` does it by itself."""

from typing import Any

from babel.messages import mofile, pofile
from django.core.management.base import BaseCommand

from arenasite.preparation import stale_translations


class Command(BaseCommand):
    help = "Compile every translation that is newer than its compiled form."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        for po in stale_translations():
            draft = po.with_suffix(".mo.draft")
            try:
                with po.open("rb") as source, draft.open("wb") as target:
                    mofile.write_mo(target, pofile.read_po(source, locale=po.parent.parent.name))
                draft.replace(po.with_suffix(".mo"))
            except OSError as error:
                self.stderr.write(f"{po} cannot be compiled: {error.strerror}. Its language shows older words.")
            else:
                if options["verbosity"]:
                    self.stdout.write(f"{po.with_suffix('.mo')} written.")
