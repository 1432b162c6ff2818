"""How much of what breaks the fast tests notice: `python -m benchmarks.mutants [--seed N] [--lines N] [--only PATH…]`.

Lines are drawn from functions that decide something (SCOPE), and each is changed in one small way: a comparison, a
condition, a constant, a call left out. The fast tests that run the line are tried on the changed function, the fastest
of each module first, until one fails. What survives is shown as a diff: a missing test, or a change without effect.

Which tests run which line is measured first, with all fast tests, and kept in `.pytest_cache/mutants`.
"""

import argparse
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy starts threads, which a fork would lose

from benchmarks.mutants import trials
from benchmarks.mutants.changes import Change, Source
from benchmarks.mutants.lines import ROOT, Lines
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
LEFT_OUT = ("simulated/*", "urls.py", "*views.py", "*forms.py", "*api.py", "words.py", "serializers.py")
MOST_TESTS = 250  # for one changed line; an exit status has to name each of them
MOST_SECONDS = 120.0  # of processor time
QUICK = 0.5  # seconds
KINDS = ("killed", "survived", "not covered", "timed out", "never live")
TIMED_OUT = {-signal.SIGXCPU, -signal.SIGKILL}


@dataclass
class Mutant:
    source: Source
    change: Change
    covering: int = 0
    tests: list[str] = field(default_factory=list)  # of those that cover it, the ones that are tried
    kind: str = "not covered"
    killer: str = ""

    @property
    def file(self) -> str:
        return self.source.path.relative_to(ROOT).as_posix()

    @property
    def name(self) -> str:
        return self.source.diff(self.change, self.file)


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
    mutants = _drawn(sources, asked.lines, asked.seed)
    if lines.missing:
        modules = asked.tests
    else:
        _choose_tests(mutants, lines)
        modules = sorted({test.split("::")[0] for mutant in mutants for test in mutant.tests})
    if modules and (problem := trials.collected(modules, partial(_measure_and_try, mutants, lines))):
        return problem
    _report(mutants, sum(len(source.changes) for source in sources), asked.seed, lines)
    return 0


def _found(paths: Iterable[str], pattern: str) -> list[Path]:
    places = [ROOT / path for path in paths]
    return sorted({file for place in places for file in ([place] if place.is_file() else place.rglob(pattern))})


def _files(paths: Iterable[str]) -> list[Path]:
    """The Python files below the paths without what only words or parses requests."""
    files = _found(paths, "*.py")
    return [file for file in files if not any(file.match(pattern) for pattern in LEFT_OUT)]


def _drawn(sources: Sequence[Source], count: int, seed: int) -> list[Mutant]:
    possible = [(source, line) for source in sources for line in sorted(source.changes)]
    Random(seed).shuffle(possible)
    mutants: list[Mutant] = []
    for source, line in possible:
        if len(mutants) == count:
            break
        if change := source.change_of(line, seed):
            mutants.append(Mutant(source, change))
    return sorted(mutants, key=lambda mutant: (mutant.file, mutant.change.line))


def _choose_tests(mutants: Sequence[Mutant], lines: Lines) -> None:
    for mutant in mutants:
        _choose_tests_of(mutant, lines)


def _choose_tests_of(mutant: Mutant, lines: Lines) -> None:
    """The one that noticed this change the last time, the quick ones of its own package, then the fastest of each
    module, the second of each, and so on: modules look at a line from different sides.
    """
    change, seconds = mutant.change, 0.0
    covering = lines.covering(mutant.file, change.line) or lines.covering(mutant.file, change.statement)
    mutant.covering, rank = len(covering), Counter[str]()
    own = f"tests/{mutant.file.rpartition('/')[0]}/"
    order: list[tuple[bool, bool, int, float, str]] = []
    for test in sorted(covering, key=lambda test: covering[test]):
        module = test.split("::")[0]
        is_first = module.startswith(own) and covering[test] < QUICK
        killed_before = test == lines.killers.get(mutant.name)
        order.append((not killed_before, not is_first, rank[module], covering[test], test))
        rank[module] += 1
    for *_, cost, test in sorted(order)[:MOST_TESTS]:
        seconds += cost
        if seconds <= MOST_SECONDS or not mutant.tests:
            mutant.tests.append(test)


def _measure_and_try(mutants: Sequence[Mutant], lines: Lines, session: Session) -> None:
    trials.load({mutant.file.removesuffix(".py").replace("/", ".") for mutant in mutants})
    if lines.missing:
        print(f"measuring which tests run which line: {len(lines.missing)} test modules", flush=True)
        lines.measure(session, [str(path) for path in _files(SCOPE)])
        _choose_tests(mutants, lines)
    _try([mutant for mutant in mutants if mutant.tests], session)
    lines.keep_killers({mutant.name: mutant.killer for mutant in mutants if mutant.killer})


def _try(mutants: Sequence[Mutant], session: Session) -> None:
    """A test that fails without any change as well kills nothing: what it has killed is tried again without it."""
    live = trials.live_functions({str(mutant.source.path) for mutant in mutants})
    waiting, trusted = list(mutants), set[str]()
    while waiting:
        _try_once(waiting, session, live)
        killers = sorted({mutant.killer for mutant in waiting if mutant.killer} - trusted)
        broken = _failing_unchanged(killers, session)
        trusted |= set(killers) - broken
        waiting = [mutant for mutant in waiting if mutant.killer in broken]
        for mutant in waiting:
            mutant.tests = [test for test in mutant.tests if test not in broken]


def _try_once(mutants: Sequence[Mutant], session: Session, live: Live) -> None:
    tasks = [partial(_trial, mutant, session, live) for mutant in mutants]
    for done, (number, status) in enumerate(trials.forked(tasks), 1):
        mutant = mutants[number]
        mutant.killer = mutant.tests[status - trials.FIRST_KILLER] if status >= trials.FIRST_KILLER else ""
        mutant.kind = _kind(status)
        print(f"  {done}/{len(mutants)} {mutant.kind}: {mutant.file}:{mutant.change.line}  {mutant.killer}", flush=True)


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
    trials.limit(3 * MOST_SECONDS)
    with trials.own_files():
        failing = session.first_failing(mutant.tests)
    return trials.SURVIVED if failing is None else trials.FIRST_KILLER + failing


def _failing_unchanged(tests: Sequence[str], session: Session) -> set[str]:
    tasks = [partial(_passes, test, session) for test in tests]
    return {tests[number] for number, status in trials.forked(tasks) if status != trials.SURVIVED}


def _passes(test: str, session: Session) -> int:
    trials.limit(3 * MOST_SECONDS)
    with trials.own_files():
        return trials.SURVIVED if session.first_failing([test]) is None else trials.FIRST_KILLER


def _report(mutants: Sequence[Mutant], possible: int, seed: int, lines: Lines) -> None:
    count = {kind: sum(mutant.kind == kind for mutant in mutants) for kind in KINDS}
    for mutant in mutants:
        if mutant.kind == "survived":
            print(f"\n{len(mutant.tests)} of {mutant.covering} tests that run the line were tried")
            print(mutant.name)
    for kind in ("not covered", "timed out", "never live"):
        print(f"\n{kind}:", *(f"  {m.file}:{m.change.line}" for m in mutants if m.kind == kind), sep="\n")
    print(f"\n{len(mutants)} of {possible} lines changed, seed {seed}")
    for kind in KINDS:
        print(f"{kind:12} {count[kind]:5}")
    tried = count["killed"] + count["survived"]
    _print_share(count["killed"], tried, "of those that tests run")
    _print_share(count["killed"], tried + count["not covered"], "with those that no test runs")
    if lines.failing:
        print(f"{len(lines.failing)} tests that fail or are skipped without any change were left out")


def _print_share(killed: int, of: int, which: str) -> None:
    if of:
        print(f"{killed / of:.0%} killed {which}")


if __name__ == "__main__":
    sys.exit(main())
