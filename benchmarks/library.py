"""How long the lists and the search take with 100,000 runs, a million messages and a million calls in PostgreSQL.

BENCH_POSTGRES=/tmp/somewhere keeps the server's directory, so that the next measurement finds it filled.
"""

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import django

from benchmarks.parts import PYTHON, ROOT
from benchmarks.postgres import server

TIMES = 3
WORDS = ("ba", "lobace", "popora", "ce ba", '"ba ce"', "议会", "ba -ce", "zu*")  # from everywhere to nowhere
NARROW = (
    "",
    "&workflow=council",
    "&state=failed",
    "&by=person-7",
    "&flag=refusal",
    "&model=lab/model-3&from=2020-01-01",
)
LISTED = (
    *("", "whose=shared", "state=failed", "workflow=debate", "flag=refusal", "model=lab/model-3", "by=person-7"),
    *("search=ba", "search=lobace mode", "search=zzzz", "search=ba&state=failed&flag=truncated", "since=2020-01-01"),
    *("until=2020-01-01", "search=议会"),
)
OTHERS = ("/council/", "/council/?search=ba", "/debate/", "/debate/?search=lobace", "/review/", "/coding/")
API = ("/api/runs/", "/api/runs/?page_size=100", "/api/experiments/", "/api/runs/?state=failed&search=ba")
USAGE = ("/usage/", "/usage/?since={since}", "/api/usage/", "/usage.csv")
ADMIN = ("run", "experiment", "message", "call", "step", "passage", "judgment", "usageday")


def main() -> None:
    """Each measurement in a process of its own, over the same database."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        kept = Path(os.environ.get("BENCH_POSTGRES", f"{folder}/postgres"))
        is_filled = (kept / "data").exists()
        with server(kept) as url:
            environment = {**os.environ, "ARENA_DATA": folder, "DATABASE_URL": url, "ARENA_LOG_LEVEL": "ERROR"}
            for module in ("benchmarks.shelved",) * (not is_filled) + ("benchmarks.library",):
                command = [PYTHON, "-m", module, *(["measure"] if module == "benchmarks.library" else [])]
                subprocess.run(command, cwd=ROOT, env=environment, check=True)


def measure() -> None:
    """As an administrator, as a researcher with much of their own, and as one who has nothing."""
    from django.test import Client  # noqa: PLC0415 - after the set-up

    from accounts.models import User  # noqa: PLC0415
    from experiments.lab.usage.days import roll_up  # noqa: PLC0415

    began = time.perf_counter()
    days = 0
    while done := roll_up():
        days += done
    if days:
        print(f"a million calls added up, {days} days   {time.perf_counter() - began:.1f} s")
    of: dict[str, list[tuple[float, float, int, str]]] = {}
    for name in ("person-0", "person-3", "person-39"):
        browser = Client(headers={"host": "localhost"})
        browser.force_login(User.objects.get(username=name))
        session = browser.session  # the password was typed just now, as the admin asks for
        session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
        session.save()
        for group, paths in _groups(is_admin=name == "person-0").items():
            of.setdefault(group, []).extend(_taken(browser, path, name) for path in paths)
    for group, found in of.items():
        _say(group, found)
    print(f"load of the machine meanwhile: {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores")
    _say("all of them", [one for found in of.values() for one in found])


def _groups(*, is_admin: bool) -> dict[str, list[str]]:
    searched = [f"q={words}{more}" for words, more in itertools.product(WORDS, NARROW)]
    since = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 179 * 86_400))
    usage = [path.format(since=since) for path in USAGE]
    usage += ["/usage/?scope=lab", f"/usage/?scope=lab&since={since}", "/api/usage/?scope=lab"] if is_admin else []
    groups = {
        "search page": [f"/search/?{asked}" for asked in searched],
        "search API": [f"/api/search/?{asked}" for asked in searched],
        "list of runs": [f"/runs/?{asked}&whose={whose}" for asked in LISTED for whose in ("mine", "all")],
        "lists of workflows": list(OTHERS),
        "API lists": list(API),
        "usage": usage,
    }
    return groups | ({"admin lists": [f"/admin/experiments/{name}/" for name in ADMIN]} if is_admin else {})


def _taken(browser: Any, path: str, name: str) -> tuple[float, float, int, str]:
    """Median and longest time in milliseconds, and the number of queries."""
    from django.db import connection  # noqa: PLC0415 - after the set-up
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    with CaptureQueriesContext(connection) as asked:
        status = browser.get(path).status_code  # the first time, nothing is at hand
    assert status == 200, (status, path)
    queries, spent = len(asked), []
    for _time in range(TIMES):
        began = time.perf_counter()
        browser.get(path)
        spent.append((time.perf_counter() - began) * 1000)
    return statistics.median(spent), max(spent), queries, f"{path} ({name})"


def _say(group: str, found: list[tuple[float, float, int, str]]) -> None:
    values = sorted(median for median, _longest, _queries, _path in found)
    queries = sorted(one[2] for one in found)
    p95 = values[min(len(values) - 1, int(len(values) * 0.95))]
    said = f"median {statistics.median(values):.0f} ms   p95 {p95:.0f} ms   longest {values[-1]:.0f} ms"
    print(f"{group}: {len(values)} addresses   {said}   {queries[0]} to {queries[-1]} queries")
    if "-v" in sys.argv:
        for median, longest, count, path in sorted(found)[-12:]:
            print(f"{median:8.0f} {longest:8.0f} ms  {count:3} queries   {path}")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    if "measure" in sys.argv:
        django.setup()
        measure()
    else:
        main()
