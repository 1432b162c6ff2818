"""`python -m benchmarks.power`: see the package."""

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from benchmarks.faults import disk as mounting
from benchmarks.power.books import missing
from benchmarks.power.disk import records
from benchmarks.power.playing import played

MEGABYTES = 3_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.power", description=__doc__)
    parser.add_argument("--seed", type=int, default=7, help="when the power is cut, and what is left then")
    parser.add_argument("--seconds", type=float, default=40, help="for which all workflows are played")
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="sqlite")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="arena-power-"))
    folder.chmod(0o755)
    if not mounting.mount(folder / "disk", MEGABYTES):
        print("A disk of its own is needed, and nothing may be mounted here.", file=sys.stderr)
        return 2
    try:
        return cut_and_look(folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def cut_and_look(folder: Path, options: argparse.Namespace) -> int:
    log, left = folder / "written", folder / "left"
    log.touch()
    log.chmod(0o666)  # PostgreSQL runs as somebody else
    disk, acknowledged, ready = played(folder, log, options.database, options.seconds, options.seed)
    rng, end = Random(options.seed), log.stat().st_size
    print(f"{options.database}, seed {options.seed}: {end >> 20} MiB written, {len(acknowledged)} times acknowledged")
    cuts = sorted(rng.randrange(ready, end) for _ in range(options.cuts))
    lost: Counter[str] = Counter()
    for at, kind, inode, offset, data in records(log):
        while cuts and cuts[0] < at:
            shutil.rmtree(left, ignore_errors=True)
            disk.leave(left, rng)
            found = missing(left, [one for one in acknowledged if one.at <= cuts[0]], options.database)
            lost.update(name for name, _what in found)
            for name, what in found[:3]:
                print(f"  cut at {cuts[0]:,}: {name}: {what}", flush=True)
            cuts.pop(0)
        disk.note(kind, inode, offset, data)
    told = Counter(one.kind for one in acknowledged)
    print("acknowledged: " + ", ".join(f"{count} of {kind}" for kind, count in sorted(told.items())))
    print(f"power cut {options.cuts} times; missing afterwards: {lost.total()} {dict(lost) if lost else ''}".rstrip())
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
