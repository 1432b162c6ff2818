"""How large a machine has to be: `python -m benchmarks.sizing` prints the table of docs/deploying.md.

Its constants are those that docs/measurements.md has from `make bench`. Rows within what was measured are called so;
every other one is computed by the formulas that are printed beneath, and nobody has seen it run.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

MEASUREMENTS = Path(__file__).resolve().parent.parent / "docs/measurements.md"
LIVE_RUNS = (20, 50, 100, 250, 500, 1000, 2500, 5000)
TOKENS_A_SECOND = 50  # of each live run, all the time: the worst case, which is what was measured
VIEWERS = 1  # people who watch each run
MEGABYTE = 1024  # KiB
HEADER = (
    "live runs",
    "engine workers",
    "web servers",
    "cores for them",
    "memory of the workers",
    "tokens a second",
    "",
)
FORMULAS = """\
Computed, for N live runs that stream {tokens} tokens/s without a pause, each watched by {viewers} person:
engine workers = ⌈N / {runs}⌉ (live runs that one worker carries before the p95 of a token's age passes 300 ms)
web servers = ⌈N x {viewers} / {seen}⌉ (viewers of one web server in the measurement of a token's age)
cores = engine workers + web servers (each is one process that can fill one core)
memory of the workers = engine workers x {idle} MiB + N x {each} KiB"""


@dataclass(frozen=True, slots=True)
class Measured:
    """runs, viewers: that one worker and one web server carried. idle: MiB of a worker; each: KiB of a live run."""

    runs: int
    viewers: int
    idle: int
    each: int


def measured() -> Measured:
    """What the page of measurements says. Raises LookupError where it says it otherwise."""
    text = MEASUREMENTS.read_text(encoding="utf-8")
    return Measured(
        runs=_found(r"live runs that one worker carries before the p95 passes 300 ms[^|]*\| *(\d+)", text),
        viewers=_found(r"age of a token when a viewer gets it, \d+ live runs, (\d+) viewers", text),
        idle=_found(r"memory of a worker, idle *\| *(\d+) MiB", text),
        each=_found(r"memory per live run *\| *(\d+) KiB", text),
    )


def _found(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if found is None:
        raise LookupError(f"docs/measurements.md has no line like {pattern}")
    return int(found[1])


def row(runs: int, known: Measured) -> tuple[str, ...]:
    workers = math.ceil(runs / known.runs)
    servers = math.ceil(VIEWERS * runs / known.viewers)
    memory = workers * known.idle + runs * known.each / MEGABYTE
    basis = "measured" if runs <= known.runs and servers == 1 else "computed"
    figures = (f"{runs:,}", f"{workers}", f"{servers}", f"{workers + servers}", _said(memory))
    return (*figures, f"{runs * TOKENS_A_SECOND:,}", basis)


def _said(mebibytes: float) -> str:
    return f"{mebibytes:.0f} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:.1f} GiB"


def table() -> str:
    known = measured()
    rows = [HEADER, ("---",) * len(HEADER), *(row(runs, known) for runs in LIVE_RUNS)]
    return "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in rows)


def formulas() -> str:
    known = measured()
    return FORMULAS.format(
        tokens=TOKENS_A_SECOND, viewers=VIEWERS, runs=known.runs, seen=known.viewers, idle=known.idle, each=known.each
    )


if __name__ == "__main__":
    print(table(), formulas(), sep="\n\n")
