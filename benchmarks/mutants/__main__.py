"""How much of what breaks the fast tests notice: `python -m benchmarks.mutants [--seed N] [--lines N] [--only PATH…]`.

Lines are drawn from functions that decide something (SCOPE), and each is changed in one small way: a comparison, a
condition, a constant, a call left out. The fast tests that run the line are tried on the changed function, the fastest
of each module first, until one fails. What survives is shown as a diff: a missing test, or a change without effect.

Which tests run which line is measured first, with all fast tests, and kept in `.pytest_cache/mutants`, as is what
became of each change: a run goes on where the one before it stopped.
"""

import argparse
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy starts threads, which a fork would lose

from benchmarks.mutants import trials
from benchmarks.mutants.changes import Source
from benchmarks.mutants.lines import ROOT, Lines
from benchmarks.mutants.outcomes import Mutant, Outcomes, report
from benchmarks.mutants.trials import Live, Session

SCOPE = (
    "experiments/runs/actions.py",
    *(f"experiments/{package}" for package in ("models", "engine", "gateway", "lab/budgets", "library", "review")),
    *(f"experiments/runs/{package}" for package in ("statistics", "steering", "sharing")),
    "leaderboard/models.py",
    "leaderboard/ratings",
    "accounts/models.py",
    "accounts/permissions.py",
)
LEFT_OUT = (
    "simulated/*",
    "demo_*.py",
    "reader/*.py",  # of datasets: it runs in a process of its own, which no fast test starts
    "process.py",  # which starts it
    "urls.py",
    "*views.py",
    "*pages.py",
    "*forms.py",
    "*api.py",
    "words.py",
    "serializers.py",
)
MOST_TESTS = 250  # for one changed line; an exit status has to name each of them
MOST_SECONDS = 60.0  # of processor time, of all tests that are tried on one changed line
TIMED_OUT = {-signal.SIGXCPU, -signal.SIGKILL}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0].split(":")[0])
    parser.add_argument("--seed", type=int, default=7, help="another one draws other lines")
    parser.add_argument("--lines", type=int, default=300, help="how many are changed")
    parser.add_argument("--only", nargs="+", default=SCOPE, metavar="PATH", help="draw lines below these paths")
    parser.add_argument("--tests", nargs="+", default=["tests"], metavar="PATH", help="use the tests below these paths")
    asked = parser.parse_args()
    sources = [Source(path) for path in _files(asked.only)]
    if not sources:
        parser.error("none of these paths holds code that is changed here")
    lines = Lines([str(path.relative_to(ROOT)) for path in _found(asked.tests, "test_*.py")])
    mutants, outcomes = _drawn(sources, asked.lines, asked.seed), Outcomes(asked.seed)
    if lines.missing:
        modules = asked.tests
    else:
        _choose_tests(mutants, lines, outcomes)
        modules = sorted({test.split("::")[0] for mutant in mutants for test in mutant.tests})
    if modules and (problem := trials.collected(modules, partial(_measure_and_try, mutants, lines, outcomes))):
        return problem
    report(mutants, sum(len(source.changes) for source in sources), asked.seed, len(lines.failing))
    return 0


def _found(paths: Iterable[str], pattern: str) -> list[Path]:
    places = [ROOT / path for path in paths]
    return sorted({file for place in places for file in ([place] if place.is_file() else place.rglob(pattern))})


def _files(paths: Iterable[str]) -> list[Path]:
    """The Python files below the paths without what only words or parses requests."""
    files = _found(paths, "*.py")
    return [file for file in files if not any(file.match(pattern) for pattern in LEFT_OUT)]


def _drawn(sources: Sequence[Source], count: int, seed: int) -> list[Mutant]:
    named = [(source, source.path.relative_to(ROOT).as_posix()) for source in sources]
    possible = [(drawn, line, source) for source, name in named for drawn, line in source.drawn(seed, name)]
    mutants: list[Mutant] = []
    for drawn, line, source in sorted(possible, key=lambda one: one[0]):
        if len(mutants) == count:
            break
        if change := source.change_of(line, drawn):
            mutants.append(Mutant(source, change))
    return sorted(mutants, key=lambda mutant: (mutant.file, mutant.change.line))


def _choose_tests(mutants: Sequence[Mutant], lines: Lines, outcomes: Outcomes) -> None:
    for mutant in mutants:
        _choose_tests_of(mutant, lines, outcomes.killer(mutant))


def _choose_tests_of(mutant: Mutant, lines: Lines, last_killer: str) -> None:
    """The one that noticed this change the last time, those in a folder or module that is named after the file,
    those in a folder that is named after its own, then all others. Of these the fastest of each module, the second of
    each, and so on: modules look at a line from different sides.
    """
    change, seconds = mutant.change, 0.0
    covering = lines.covering(mutant.file, change.line) or lines.covering(mutant.file, change.statement)
    mutant.covering, rank = len(covering), Counter[str]()
    order: list[tuple[bool, bool, bool, int, float, str]] = []
    place = Path(mutant.file)
    for test in sorted(covering, key=lambda test: covering[test]):
        module = test.split("::")[0]
        is_named = place.stem in module
        is_near = any(part.startswith(place.parent.name) for part in Path(module).parts)
        order.append((test != last_killer, not is_named, not is_near, rank[module], covering[test], test))
        rank[module] += 1
    for *_, cost, test in sorted(order)[:MOST_TESTS]:
        if seconds + cost <= MOST_SECONDS or not mutant.tests:
            mutant.tests[test] = cost
            seconds += cost


def _measure_and_try(mutants: Sequence[Mutant], lines: Lines, outcomes: Outcomes, session: Session) -> None:
    trials.load({mutant.file.removesuffix(".py").replace("/", ".") for mutant in mutants})
    if lines.missing:
        print(f"measuring which tests run which line: {len(lines.missing)} test modules", flush=True)
        lines.measure(session, [str(path) for path in _files(SCOPE)])
        _choose_tests(mutants, lines, outcomes)
    for cache in trials.caches_of({str(path) for path in _files(SCOPE)}):
        cache.cache_clear()
    waiting = [mutant for mutant in mutants if mutant.tests and not outcomes.restore(mutant)]
    live = trials.live_functions({str(mutant.source.path) for mutant in waiting})
    for done, mutant in enumerate(waiting, 1):
        begun = time.monotonic(), sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        _try(mutant, session, live, outcomes.trusted)
        outcomes.keep(mutant)
        ended = time.monotonic(), sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        took = f"{ended[0] - begun[0]:.1f} s, {ended[1] - begun[1]:.1f} CPU-s"
        place = f"{mutant.file}:{mutant.change.line}"
        print(f"  {done}/{len(waiting)} {mutant.kind}, {took}: {place}  {mutant.killer}", flush=True)


def _try(mutant: Mutant, session: Session, live: Live, trusted: set[str]) -> None:
    """A test that fails without any change as well kills nothing: it is left out. trusted: those known to pass."""
    while True:
        status = trials.in_fork(partial(_trial, mutant, session, live))
        mutant.kind, mutant.killer = _kind(status), ""
        if status < trials.FIRST_KILLER:
            return
        mutant.killer = list(mutant.tests)[status - trials.FIRST_KILLER]
        alone = {mutant.killer: mutant.tests[mutant.killer]}
        if mutant.killer in trusted or trials.in_fork(partial(_passes, alone, session)) == trials.SURVIVED:
            trusted.add(mutant.killer)
            return
        del mutant.tests[mutant.killer]


def _kind(status: int) -> str:
    if status == trials.BROKEN:
        raise RuntimeError("a trial ended with the error above")
    if status in TIMED_OUT:
        return "timed out"
    return {trials.SURVIVED: "survived", trials.NEVER_LIVE: "never live"}.get(status, "killed")


def _trial(mutant: Mutant, session: Session, live: Live) -> int:
    altered = mutant.source.altered(mutant.change)
    if not trials.exchange(live.get(str(mutant.source.path), []), altered):
        return trials.NEVER_LIVE
    with trials.own_files():
        failing = session.first_failing(mutant.tests)
    return trials.SURVIVED if failing is None else trials.FIRST_KILLER + failing


def _passes(tests: dict[str, float], session: Session) -> int:
    with trials.own_files():
        return trials.SURVIVED if session.first_failing(tests) is None else trials.FIRST_KILLER


if __name__ == "__main__":
    sys.exit(main())
