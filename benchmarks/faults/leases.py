"""Watches, as a process of its own, how long a run that is to be driven is without a live lease.

python -m benchmarks.faults.leases FOLDER: until FOLDER/finish.json is there; then FOLDER/leases.json has the longest
spell of each run in seconds. Time in which the database does not answer counts for nobody.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
django.setup()

from django.db import DatabaseError, InterfaceError, connection  # noqa: E402

from experiments.models import Run  # noqa: E402

LOOK_SECONDS = 0.5
AWAY_SECONDS = 3.0  # a look that took longer says nothing about the time before it


def main(folder: Path) -> None:
    spells: dict[Any, float] = {}
    longest: dict[str, float] = {}
    last = time.monotonic()
    while not (folder / "finish.json").exists():
        time.sleep(LOOK_SECONDS)
        try:
            waiting = set(Run.objects.claimable().values_list("pk", flat=True))
        except (DatabaseError, InterfaceError):
            connection.close()
            continue
        now = time.monotonic()
        passed, last = now - last, now
        spells = {run: spells.get(run, 0.0) + (passed if passed < AWAY_SECONDS else 0.0) for run in waiting}
        for run, seconds in spells.items():
            longest[str(run)] = max(longest.get(str(run), 0.0), seconds)
    (folder / "leases.json").write_text(json.dumps(longest))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
