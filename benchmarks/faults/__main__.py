"""`python -m benchmarks.faults`: see the package."""

import argparse
import logging
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.faults import checks, disk, report
from benchmarks.faults.kinds import named
from benchmarks.faults.pace import pace_of
from benchmarks.faults.performance import Options, Performance
from benchmarks.faults.postgres import NoPostgres
from benchmarks.faults.stage import NotThere
from benchmarks.preloading import NoCompiler

DISK_MEGABYTES = 400


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    logging.basicConfig(level=logging.INFO if options.verbose else logging.ERROR, format="%(message)s")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that nothing is left behind
    folder = Path(tempfile.mkdtemp(prefix="arena-faults-"))
    folder.chmod(0o755)
    is_mounted = disk.mount(folder / "disk", DISK_MEGABYTES)
    chosen = Options(
        options.seed,
        options.minutes,
        options.database,
        options.kinds,
        pace_of(options.minutes),
        options.patience,
        options.callers,
        options.every,
    )
    print(f"seed {options.seed}, {options.minutes:g} minutes on {options.database}; the small disk is ", end="")
    print(f"{'a tmpfs' if is_mounted else 'a limit on the length of files: nothing may be mounted here'}", flush=True)
    began = time.monotonic()
    try:
        performance = Performance(chosen, folder, disk.Disk(folder / "disk", is_mounted=is_mounted))
        facts = performance.go()
    except (NotThere, NoCompiler, NoPostgres) as error:
        print(error, file=sys.stderr)
        return 2
    found = checks.differences(facts)
    for line in report.lines(facts, performance.happened, found, performance.play.runs if performance.play else {}):
        print(line)
    print(f"answers that did not come at first   {performance.troubles()}; started again   {performance.restarts}")
    print(f"took {time.monotonic() - began:.0f} s; again: python -m benchmarks.faults {repeated(options)}")
    if found or options.keep:
        print(f"everything that was written down is in {kept(folder)}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if found else 0


def repeated(options: argparse.Namespace) -> str:
    only = f" --only {options.only}" if options.only else ""
    callers = " --callers" if options.callers else ""
    every = f" --every {options.every:g}" if options.every else ""
    return f"--seed {options.seed} --minutes {options.minutes:g} --database {options.database}{callers}{every}{only}"


def kept(folder: Path) -> Path:
    """The disk is gone with this process, its logs and books stay."""
    return folder / "logs"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=7, help="which faults, when, and which answers are spoiled")
    parser.add_argument("--minutes", type=float, default=10, help="for which things break; 5 or more is the long form")
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--callers", action="store_true", help="two callers make the calls of the workers")
    parser.add_argument("--every", type=float, help="seconds between two faults")
    parser.add_argument("--only", default="", help="kinds of faults by the beginning of their names: worker,redis,…")
    parser.add_argument("--patience", type=float, default=1.0, help="stretches every bound of time, on a slow machine")
    parser.add_argument("--verbose", action="store_true", help="say what happens while it does")
    parser.add_argument("--keep", action="store_true", help="keep logs and books also when nothing differs")
    options = parser.parse_args(arguments)
    try:
        options.kinds = named(options.only, database=options.database, has_callers=options.callers)
    except ValueError as error:
        parser.error(str(error))
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
