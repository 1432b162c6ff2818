"""Bulk exports in every format: made as the worker makes them, and taken from the web server, in one table. Exits with
1 when a bar was missed.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import postgres
from benchmarks.exports.downloading import download
from benchmarks.load.table import Line, printed
from benchmarks.parts import PYTHON, ROOT, Parts, platform

FORMATS = ("jsonl", "messages", "csv", "parquet", "inspect")
MOST_MIB = 300
FIRST_SECONDS = 2


def main() -> int:
    given = _arguments()
    with _database(given.database), platform() as parts:
        parts.stop("worker")
        _run(parts, "benchmarks.exports.filling", str(given.megabytes))
        found = [line for name in given.only or FORMATS for line in _measured(parts, name)]
    print("\n".join(printed(found)))
    missed = sum(line.is_passed is False for line in found)
    print(f"{missed} of {sum(line.is_passed is not None for line in found)} bars missed")
    return int(missed > 0)


def _measured(parts: Parts, name: str) -> Iterator[Line]:
    export = parts.ask("POST", "exports/", {"format": name})
    told = json.loads(_run(parts, "benchmarks.exports.making"))
    row: dict[str, Any] = parts.ask("GET", f"exports/{export['id']}/")
    if row["state"] != "done":
        raise RuntimeError(f"{name}: {row['state']}, {row['error']}")
    rate = row["size"] / 2**20 / told["seconds"]
    yield Line(f"{name}: {row['runs']} runs", f"{row['size']:,} bytes in {told['seconds']:.1f} s, {rate:.1f} MiB/s")
    yield _below(f"{name}: memory of the worker, its own", told["own"], MOST_MIB, "MiB", f"{told['before']:.0f} → ")
    yield Line(f"{name}: the same with mapped pages of files", f"{told['peak']:.0f} MiB")
    if told["helper"]:
        yield _below(f"{name}: peak memory of its limited process", told["helper"], MOST_MIB, "MiB")
    for who, pauses in (("a fast reader", False), ("a reader that pauses", True)):
        taken = download(parts, row["id"], pauses=pauses)
        yield _below(f"{name}: first byte to {who}", taken.first, FIRST_SECONDS, "s")
        grown = f"{taken.before:.0f} → "
        yield _below(f"{name}: memory of web, for {who}", taken.peak, MOST_MIB, "MiB", grown)
        is_whole = (taken.size, taken.sha256) == (row["size"], row["sha256"])
        yield Line(f"{name}: what {who} has", "the file" if is_whole else "another file", "the file", is_whole)
    for file in parts.folder.rglob(row["id"]):
        file.unlink()


def _below(what: str, measured: float, bar: float, unit: str, before: str = "") -> Line:
    text = f"{measured:.2f}" if unit == "s" else f"{measured:.0f}"
    return Line(what, f"{before}{text} {unit}", f"< {bar} {unit}", measured < bar)


def _run(parts: Parts, module: str, *arguments: str) -> str:
    command = [PYTHON, "-m", module, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=parts.environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


@contextlib.contextmanager
def _database(kind: str) -> Iterator[None]:
    """For the platform that is started within."""
    with contextlib.ExitStack() as stack:
        if kind == "postgresql":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-exports-")))
            os.environ["BENCH_DATABASE_URL"] = stack.enter_context(postgres.server(folder / "postgres"))
            stack.callback(os.environ.pop, "BENCH_DATABASE_URL")
        yield


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exports", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=1000, help="of the export in JSON lines, about")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--only", choices=FORMATS, action="append", help="this format; can be said more than once")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
