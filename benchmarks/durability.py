"""What a commit costs that survives a loss of power on SQLite, by itself and in the engine."""

import io
import os
import statistics
import subprocess
import sys
import threading
import time
from typing import Any

import django
from django.core.management import call_command
from django.db import connection, transaction
from django.db.backends.signals import connection_created

from benchmarks.parts import PYTHON, ROOT, platform

MODES = ("NORMAL", "FULL")  # of PRAGMA synchronous
COMMITS, RUNS, ROUNDS, TURNS = 200, 10, 3, 5


def main() -> None:
    with platform(is_served=False) as parts:
        command = [PYTHON, "-m", "benchmarks.durability", "measure"]
        environment = parts.environment | {"DATABASE_URL": f"sqlite:///{parts.folder}/durability.sqlite3"}
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


def measure() -> None:
    """Both modes by turns in one process, so that what else the machine does counts for both."""
    from tests.parts.simulated import running  # noqa: PLC0415 - after the set-up

    mode = {"now": MODES[0]}
    connection_created.connect(lambda connection, **_: _set(connection, mode["now"]), weak=False)
    call_command("migrate", verbosity=0)
    commits: dict[str, list[float]] = {name: [] for name in MODES}
    calls: dict[str, list[float]] = {name: [] for name in MODES}
    with running(tps=0) as provider:
        prepare(provider.base_url)
        for name in MODES * ROUNDS:
            mode["now"] = name
            connection.close()
            commits[name] += [commit_seconds(number) for number in range(COMMITS)]
            calls[name].append(seconds_per_call())
    report("one commit", commits, f"{COMMITS * ROUNDS} of each")
    report("one call of a run, the provider takes no time", calls, f"{RUNS} runs side by side, {ROUNDS} times")


def _set(connection: Any, mode: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA synchronous={mode}")


def prepare(address: str) -> None:
    from accounts.models import User  # noqa: PLC0415
    from experiments.models import Provider  # noqa: PLC0415

    User.objects.create_user("durability", password=None)
    models = ("--model", "sim/cooperative:first=0", "sim/competitive:first=0")
    options = ("--name", "sim", "--base-url", address, "--allow-private", *models)
    call_command("add_provider", *options, stdout=io.StringIO())
    Provider.objects.update(concurrency=1000, is_simulated=True)


def commit_seconds(number: int) -> float:
    from accounts.models import User  # noqa: PLC0415

    begun = time.perf_counter()
    with transaction.atomic():
        User.objects.filter(username="durability").update(first_name=str(number))  # the same again writes nothing
    return time.perf_counter() - begun


def seconds_per_call() -> float:
    """Wall time of runs side by side, divided by their calls: each is written ahead, asked and settled."""
    from accounts.models import User  # noqa: PLC0415
    from experiments.engine.driver import Driver  # noqa: PLC0415
    from experiments.models import Call, Run  # noqa: PLC0415
    from experiments.runs import actions  # noqa: PLC0415

    config = {"prompt": "Measure.", "gap_seconds": 0, "filter": False, "judge": False, "max_turns": TURNS}
    cast = {"A": {"model": "sim/cooperative:first=0"}, "B": {"model": "sim/competitive:first=0"}}
    owner = User.objects.get(username="durability")
    experiment = actions.create(owner=owner, workflow="arena", config=config, cast=cast)
    runs = actions.start(experiment, by=owner, repeats=RUNS)
    begun = time.perf_counter()
    Driver(threading.Event()).drive(0.01)
    ended = time.perf_counter()
    assert not Run.objects.filter(pk__in=[run.pk for run in runs]).exclude(state="completed").exists()
    return (ended - begun) / Call.objects.filter(run__in=runs).count()


def report(what: str, seconds: dict[str, list[float]], times: str) -> None:
    medians = {name: statistics.median(values) * 1000 for name, values in seconds.items()}
    both = ", ".join(f"{name} {value:.2f} ms" for name, value in medians.items())
    ratio = medians["FULL"] / medians["NORMAL"]
    print(f"{what}: durable / not   {ratio:.2f}   ({both}; medians, {times})")


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
        django.setup()
        measure()
    else:
        main()
