"""The whole platform under load, and what it did, in one table. Exits with 1 when a bar was missed."""

import argparse
import sys

from benchmarks.load import table
from benchmarks.load.play import Order, play
from benchmarks.load.scene import scene


def main() -> int:
    given = _arguments()
    order = Order(
        runs=given.runs,
        viewers=given.viewers,
        rate=given.rate,
        seconds=60 * given.minutes,
        sleepers=given.never_reading,
        asks=given.asks,
        sample_seconds=max(1.0, min(30.0, 60 * given.minutes / 60)),
    )
    if order.viewers < order.runs:
        sys.exit("Each run needs a viewer: who else would notice its end? Give at least as many --viewers as --runs.")
    arguments = ["--workers", str(given.workers), "--web", str(given.web)]
    with scene(is_postgres=given.database == "postgresql", arguments=arguments) as here:
        outcome = play(here, order)
    found = table.lines(outcome)
    print("\n".join(table.printed(found)))
    missed = sum(line.is_passed is False for line in found)
    print(f"{missed} of {sum(line.is_passed is not None for line in found)} bars missed")
    return int(missed > 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--runs", type=int, default=50, help="that are live all the time")
    parser.add_argument("--viewers", type=int, default=500, help="spread over the runs")
    parser.add_argument("--rate", type=float, default=50, help="tokens a second of each run")
    parser.add_argument("--never-reading", type=int, default=1, help="further viewers that read nothing for a minute")
    parser.add_argument("--asks", type=float, default=0, help="API requests a second beside it")
    parser.add_argument("--workers", type=int, default=1, help="processes that drive runs")
    parser.add_argument("--web", type=int, default=1, help="web processes")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
