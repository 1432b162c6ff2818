"""CPU that the web server and PostgreSQL spend on one API request, by kind, with nobody else there.

`python -m benchmarks.load.requests [--database sqlite|postgresql] [--each 40]`: the whole platform, ten runs that have
ended, and the requests of `benchmarks.load.asking`, one after the other on one connection.
"""

import argparse
import http.client
import json
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.load.asking import DRAFT, OPENING
from benchmarks.load.samples import held
from benchmarks.load.scene import Scene, scene

RUNS, TURNS, TOKENS_A_SECOND = 10, 12, 1000
WARM, ROUNDS = 20, 6


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one request: milliseconds of CPU, of time; bytes."""

    web: float
    database: float
    wall: float
    size: int


def main() -> None:
    given = _arguments()
    with scene(is_postgres=given.database == "postgresql", arguments=["--workers", "1", "--web", "1"]) as here:
        paths = _asked(here)
        print("| request | CPU of web servers, ms | of PostgreSQL, ms | answered in, ms (median) | bytes |")
        print("|---|---|---|---|---|")
        found = [_measured(here, path, given.each) for path in paths.values()]
        for name, one in zip(paths, found, strict=True):
            print(f"| {name} | {one.web:.1f} | {one.database:.1f} | {one.wall:.1f} | {one.size:,} |")
        web, database = (sum(map(of, found)) / len(found) for of in (lambda one: one.web, lambda one: one.database))
        print(f"| mean | {web:.1f} | {database:.1f} | | |")


def _asked(here: Scene) -> dict[str, str]:
    here.stamping(TOKENS_A_SECOND, 400)
    here.prepare(TURNS)
    runs = here.begin(RUNS)
    here.wait_for(runs, 300)
    run = runs[0]
    return {
        "runs": OPENING,
        "running": "runs/?state=running&page_size=20",
        "run": f"runs/{run}/",
        "events": f"runs/{run}/events/?after=0",
        "calls": f"runs/{run}/calls/?page_size=5",
        "models": "models/",
        "experiments": "experiments/?page_size=20",
        "a draft": "",
    }


def _measured(here: Scene, path: str, each: int) -> Cost:
    """Of the cheapest round, since the machine may be busy in another one."""
    line = http.client.HTTPConnection("127.0.0.1", here.port, timeout=30)
    size = 0
    for _ in range(WARM):
        size = _ask(line, here.token, path)
    took: list[float] = []
    spent: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        before = _spent(here)
        for _ in range(each):
            begun = time.perf_counter()
            _ask(line, here.token, path)
            took.append(time.perf_counter() - begun)
        spent.append(tuple(1000 * (now - then) / each for now, then in zip(_spent(here), before, strict=True)))
    web, database = (min(values) for values in zip(*spent, strict=True))
    return Cost(web, database, 1000 * median(took), size)


def _spent(here: Scene) -> tuple[float, float]:
    servers = [int(file.parent.name) for file in Path("/proc").glob("[0-9]*/cmdline") if _serves_a_connection(file)]
    return held(here.pids()["web"]).cpu, held(servers).cpu


def _serves_a_connection(file: Path) -> bool:
    """Whether it is a process of PostgreSQL that does, as its title says."""
    try:
        title = file.read_bytes()
    except OSError:
        return False
    return title.startswith(b"postgres: ") and b"[local]" in title


def _ask(line: http.client.HTTPConnection, token: str, path: str) -> int:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    if path:
        line.request("GET", f"/api/{path}", headers=headers)
    else:
        line.request("POST", "/api/experiments/", json.dumps(DRAFT), headers)
    answer = line.getresponse()
    body = answer.read()
    if answer.status >= 400:
        raise RuntimeError(f"{path or 'a draft'}: {answer.status} {body[:300]!r}")
    return len(body)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load.requests", description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    parser.add_argument("--each", type=int, default=40, help="requests of each kind in a round")
    return parser.parse_args()


if __name__ == "__main__":
    main()
